"""Changes of a mapping's tiles that the model then accepts, each tried out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cost_models.lowering import LEVELS
from cost_models.mapping import MappingBatch
from layers import DIMS, Layer

_BELOW, _ABOVE, _SHOWN = 3, 1, 3
_FREE = 4
"""The first dimensions, K C Y X, are changed; MAESTRO takes filter tiles whole only."""


def find_levers(
    accepted: Callable[[MappingBatch], NDArray[np.bool_]], layer: Layer, mapping: MappingBatch
) -> tuple[str, ...]:
    """Find changes that make an infeasible mapping feasible.

    Tried are the divisors next to each tile, and all tiles cut down to divisors at once.

    Args:
        accepted: Tells which mappings of a batch the model accepts.
        layer: The layer.
        mapping: The mapping, as a batch of one.

    Returns:
        Up to three changes, the smallest first; each alone is enough. Empty if none was found.
    """
    tiles = _clipped(mapping.tiles[0], layer)
    tried = _single_changes(tiles, layer)
    together = _divided(tiles, layer)
    if not np.array_equal(together, tiles):
        tried.append((_text(tiles, together), together))
    if not tried:
        return ()
    size = len(tried)
    batch = MappingBatch(
        np.repeat(mapping.orders, size, axis=0),
        np.repeat(mapping.parallel, size, axis=0),
        np.stack([changed for _, changed in tried]),
        np.repeat(mapping.cluster_size, size),
        None if mapping.num_pes is None else np.repeat(mapping.num_pes, size),
    )
    good = np.flatnonzero(accepted(batch))[:_SHOWN]
    return tuple(tried[i][0] for i in good)


def _clipped(tiles: NDArray[np.int32], layer: Layer) -> NDArray[np.int32]:
    outer = np.minimum(tiles[0], np.array(layer.extents))
    return np.stack([outer, np.minimum(tiles[1], outer)]).astype(np.int32)


def _single_changes(tiles: NDArray[np.int32], layer: Layer) -> list[tuple[str, NDArray[np.int32]]]:
    changes = []
    for level in (1, 0):
        for dim in range(_FREE):
            whole = layer.extents[dim] if level == 0 else int(tiles[0, dim])
            tile = int(tiles[level, dim])
            divisors = _divisors(whole)
            near = [n for n in reversed(divisors) if n < tile][:_BELOW]
            near += [n for n in divisors if n > tile][:_ABOVE]
            for new in near:
                changed = tiles.copy()
                changed[level, dim] = new
                changed[1, dim] = min(changed[1, dim], changed[0, dim])
                changes.append((abs(math.log(new / tile)), _text(tiles, changed), changed))
    changes.sort(key=lambda change: change[0])
    return [(text, changed) for _, text, changed in changes]


def _divided(tiles: NDArray[np.int32], layer: Layer) -> NDArray[np.int32]:
    """Every tile cut down to a divisor of what it tiles."""
    changed = tiles.copy()
    for dim in range(_FREE):
        whole = layer.extents[dim]
        for level in (0, 1):
            tile = min(int(tiles[level, dim]), whole)
            whole = max(n for n in _divisors(whole) if n <= tile)
            changed[level, dim] = whole
    return changed


def _text(before: NDArray[np.int32], after: NDArray[np.int32]) -> str:
    parts = [
        f"{LEVELS[level]} {DIMS[dim]} {before[level, dim]} -> {after[level, dim]}"
        for level, dim in zip(*np.nonzero(before != after), strict=True)
    ]
    return (
        f"Change tile {', '.join(parts)}" if len(parts) == 1 else f"Change tiles {', '.join(parts)}"
    )


def _divisors(n: int) -> list[int]:
    low = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return low + [n // d for d in reversed(low) if d * d != n]
