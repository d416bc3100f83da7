"""The loop nest of a mapping as text, with the memory level beside each loop."""

from __future__ import annotations

import math

from cost_models.buffers import BUFFERS
from cost_models.chain.chip import MOST_MACS
from cost_models.chain.clusters import spreads_of
from cost_models.chain.drawing import indented
from cost_models.mapping import Mapping
from layers import DIMS, TENSORS, Layer

_MEMORY = (("DRAM -> L2", "L2 -> clusters"), ("L2 -> L1", "L2 -> PEs"))


def loop_nest(mapping: Mapping, layer: Layer, num_pes: int | None = None) -> str:
    """Draw the loops that run more than once, outermost first.

    Args:
        mapping: The mapping; tiles above the extents are clipped.
        layer: The layer.
        num_pes: PEs of the accelerator, for the number of clusters; the mapping's own where it has
            one. Without either, the clusters are not counted.

    Returns:
        One line a loop: the memory level whose tile it moves through, the loop, and its tile.
    """
    pes = mapping.num_pes or num_pes
    counts = (pes // mapping.cluster_size if pes else MOST_MACS, mapping.cluster_size)
    limit = dict(zip(DIMS, layer.extents, strict=True))
    rows: list[tuple[str, str]] = []
    for level in (0, 1):
        tile = {d: min(mapping.tiles[level].get(d, n), n) for d, n in limit.items()}
        spread = {one.dim: one.units or 0 for one in spreads_of(mapping, level, counts[level])}
        for dim in mapping.orders[level]:
            rows += _loops(level, dim, limit[dim], tile[dim], spread)
        limit = tile
    inside = " ".join(f"{dim}={limit[dim]}" for dim in DIMS)
    rows.append(("L1", f"MACs of one PE's tile: {inside}"))
    for buffer, tensors in zip(BUFFERS, mapping.bypass, strict=True):
        if tensors:
            names = ", ".join(tensor for tensor in TENSORS if tensor in tensors)
            rows.append((buffer, f"not kept: {names}"))
    return indented(rows)


def _loops(
    level: int, dim: str, extent: int, tile: int, spread: dict[str, int]
) -> list[tuple[str, str]]:
    pieces, name = math.ceil(extent / tile), f"{dim}{1 - level}"
    temporal, spatial = _MEMORY[level]
    used = min(pieces, spread.get(dim, 1))
    steps = math.ceil(pieces / max(used, 1))
    along = f" x {used}" if dim in spread else ""
    rows = [(temporal, f"for {name} in 0..{steps}:  # tile {tile}{along}")] * (steps > 1)
    if dim in spread:
        units = ("clusters", "PEs")[level]
        rows.append((spatial, f"parallel {name} on {used} {units}:  # tile {tile}"))
    return rows
