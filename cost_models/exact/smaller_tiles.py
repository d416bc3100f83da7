"""Smaller tiles that would satisfy a capacity."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from cost_models.mapping import Mapping
from layers import DIMS

Tiles = tuple[int, ...]


def clipped(mapping: Mapping, extents: Tiles) -> tuple[Tiles, Tiles]:
    """Tiles of a cluster, clipped to the extents, and of a PE, clipped to the former."""
    outer = tuple(min(mapping.tiles[0].get(d, n), n) for d, n in zip(DIMS, extents, strict=True))
    inner = tuple(
        min(mapping.tiles[1].get(d, n), t) for d, n, t in zip(DIMS, extents, outer, strict=True)
    )
    return outer, inner


def with_tile(tiles: Tiles, d: int, tile: int) -> Tiles:
    """Tiles with another one along a dimension."""
    return (*tiles[:d], tile, *tiles[d + 1 :])


def tile_levers(tiles: Tiles, need: Callable[[Tiles], int], limit: int, name: str) -> list[str]:
    """Changes of tiles that bring `need` down to `limit`.

    Args:
        tiles: The tiles, in the order of `DIMS`.
        need: What given tiles need.
        limit: What there is.
        name: What the tiles are called.

    Returns:
        One change a dimension that is enough by itself; where none is, one change of several.
    """
    levers = []
    for d, tile in enumerate(tiles):
        # mypy infers no type for a lambda with a default.
        smaller = _largest(lambda t, d=d: need(with_tile(tiles, d, t)) <= limit, tile)  # type: ignore[misc]
        if smaller > 0:
            levers.append(f"Reduce {name} tile {DIMS[d]} {tile} -> {smaller}")
    if levers:
        return levers
    changed = tiles
    while need(changed) > limit:
        d = max(range(len(DIMS)), key=lambda d: changed[d])
        if changed[d] == 1:
            return []
        # B023: the lambda is called here, before d and changed are set anew.
        enough = _largest(lambda t: need(with_tile(changed, d, t)) <= limit, changed[d])  # noqa: B023
        changed = with_tile(changed, d, max(enough, changed[d] // 2) if enough else changed[d] // 2)
    pairs = enumerate(zip(tiles, changed, strict=True))
    parts = [f"{DIMS[d]} {a} -> {b}" for d, (a, b) in pairs if a != b]
    return [f"Reduce {name} tiles {', '.join(parts)}"]


def _largest(fits: Callable[[int], bool], below: int) -> int:
    """The largest tile under `below` that fits (a smaller tile always fits as well), or 0."""
    return bisect_left(range(1, below), True, key=lambda tile: not fits(tile))
