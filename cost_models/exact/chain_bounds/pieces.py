"""What a dimension is cut into, level by level: lengths, and how many pieces have each."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

Pieces = tuple[tuple[int, int], ...]
"""Lengths, each with how many pieces have it."""
Stages = tuple[int, ...]
"""Units along a dimension of the fan-outs between two memories, the outermost first."""


def _sorted(found: Counter[int]) -> Pieces:
    return tuple(sorted(found.items()))


def cut(pieces: Pieces, tile: int) -> Pieces:
    """All pieces cut into tiles; the last of each may be smaller."""
    found: Counter[int] = Counter()
    for length, count in pieces:
        whole, rest = divmod(length, tile)
        if whole:
            found[tile] += whole * count
        if rest:
            found[rest] += count
    return _sorted(found)


def share_out(pieces: Pieces, around: int, stages: Stages) -> tuple[Pieces, int]:
    """Pieces and the tile around them, shared out to units of all fan-outs but the last."""
    for units in stages[:-1]:
        around = -(-around // units)
        pieces = cut(pieces, around)
    return pieces, around


def of_all(pieces: Pieces, around: int, stages: Stages, tile: int) -> Pieces:
    """Tiles of all units in all steps.

    Args:
        pieces: What the units around them work on.
        around: The tile around them.
        stages: Units between.
        tile: Their own tile.
    """
    return cut(share_out(pieces, around, stages)[0], tile)


@lru_cache(maxsize=1 << 15)
def of_first(pieces: Pieces, around: int, stages: Stages, tile: int) -> Pieces:
    """Tiles of all units in the first step of each piece."""
    pieces, _ = share_out(pieces, around, stages)
    reach = stages[-1] * tile
    return cut(tuple((min(length, reach), count) for length, count in pieces), tile)


def of_lead(pieces: Pieces, around: int, stages: Stages, tile: int) -> Pieces:
    """Tiles of the first unit in all steps."""
    found: Counter[int] = Counter()
    _, around = share_out((), around, stages)
    step = stages[-1] * tile
    for length, count in pieces:
        length = min(length, around)
        steps = -(-length // step)
        found[tile] += (steps - 1) * count
        found[min(tile, length - (steps - 1) * step)] += count
    return _sorted(+found)


def number(pieces: Pieces) -> int:
    """How many pieces there are."""
    return sum(count for _, count in pieces)


def steps(pieces: Pieces, units: int) -> int:
    """Steps of all pieces, if `units` share each."""
    return sum(count * -(-length // units) for length, count in pieces)
