"""The loop nest of a mapping as rows, outermost first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cost_models.chain.entries import Entry, Spread
from layers import DIMS

MAC = "MAC"
"""Level of the loops over the MACs of the innermost tile."""


class Loop(NamedTuple):
    """A loop, or the units of a fan-out that work side by side.

    Args:
        level: The level whose tile it moves through the tile around it.
        dim: The dimension; Y and X are output rows and columns.
        iterations: How often it runs in a full tile around it (of units: how many have work).
        last: The same in the last tile of the dimension, which may be smaller.
        step: By how much the dimension advances.
        spatial: Whether iterations are units that work side by side.
        units: Units, where it is spatial; else 1.
        axis: Axis of the fan-out; None where it is a loop in time.
    """

    level: str
    dim: str
    iterations: int
    last: int
    step: int
    spatial: bool = False
    units: int = 1
    axis: int | None = None


def loops_of(extents: tuple[int, ...], entries: tuple[Entry, ...]) -> list[Loop]:
    """The loops and units of a mapping that run, or are, more than one.

    Args:
        extents: Extents of the layer.
        entries: Entries with all units filled in; the fan-out of the last one is of MACs.

    Returns:
        The rows, outermost first. A range ``[low, high)`` of a row's dimension is cut, by iteration
        ``i``, to ``[low + i * step, low + (i + 1) * step)`` and `high`; all units iterate as often
        as the first one.
    """
    rows: list[Loop] = []
    full = {d: (n, n) for d, n in zip(DIMS, extents, strict=True)}
    spreads: tuple[Spread, ...] = ()
    for entry in (*entries, Entry(MAC, dict.fromkeys(DIMS, 1), DIMS)):
        units = dict.fromkeys(DIMS, 1)
        for spread in spreads:
            units[spread.dim] *= spread.units or 1
        tiles = {
            d: min(entry.tiles.get(d, -(-size // units[d])), size) for d, (size, _) in full.items()
        }
        rows += _temporal(entry, full, tiles, units)
        rows += _spatial(entry.level, full, tiles, spreads)
        full = {d: (tiles[d], _rest(last, tiles[d])) for d, (_, last) in full.items()}
        spreads = entry.parallel
    return rows


def _rest(size: int, tile: int) -> int:
    """The last tile of a range."""
    return size - (-(-size // tile) - 1) * tile


def _temporal(
    entry: Entry, full: dict[str, tuple[int, int]], tiles: dict[str, int], units: dict[str, int]
) -> Iterator[Loop]:
    for d in entry.order:
        step = tiles[d] * units[d]
        iterations, last = (-(-size // step) for size in full[d])
        if iterations > 1:
            yield Loop(entry.level, d, iterations, last, step)


def _spatial(
    level: str, full: dict[str, tuple[int, int]], tiles: dict[str, int], spreads: tuple[Spread, ...]
) -> Iterator[Loop]:
    for place, spread in enumerate(spreads):
        d, units = spread.dim, spread.units or 1
        step = tiles[d]
        for other in spreads[place + 1 :]:
            step *= (other.units or 1) if other.dim == d else 1
        iterations, last = (min(units, -(-size // step)) for size in full[d])
        if units > 1:
            yield Loop(level, d, iterations, last, step, True, units, spread.axis)
