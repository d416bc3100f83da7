"""Which designs of a front bounds tell apart, and the places of a front."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mapper.explore.design_figures import OF_MAPPINGS, FrontPoint

SETTLED = 1e-9
"""A gap of a mapping that is proven to be optimal, to rounding."""


def overlaps(
    front: Sequence[FrontPoint], names: Sequence[str], counts: Sequence[int]
) -> NDArray[np.bool_]:
    """Which points of different designs could change places if better mappings were found.

    The box of a point goes from the bounds of its design to its figures, in the objectives that
    mappings decide; area is known, and power has no bound.

    Args:
        front: The points.
        names: The objectives.
        counts: How often each shape occurs.

    Returns:
        ``(N, N)``: whether the boxes of two points share more than a side.
    """
    aims = [name for name in names if name in OF_MAPPINGS]
    bounds = [point.design.bounds(counts) for point in front]
    low = np.array([[bound[name] for name in aims] for bound in bounds])
    high = np.array([[point.figures[name] for name in aims] for point in front])
    designs = np.array([id(point.design) for point in front])
    crossing = (low[:, None] < high[None] * (1 - SETTLED)).all(axis=2)
    found: NDArray[np.bool_] = crossing & crossing.T & (designs[:, None] != designs[None])
    return found


def unsettled(
    front: Sequence[FrontPoint], names: Sequence[str], counts: Sequence[int]
) -> list[bool]:
    """Whether a point's box overlaps another one's, and has a gap that a proof may close."""
    crossing = overlaps(front, names, counts)
    return [bool(row.any()) and p.gap > SETTLED for p, row in zip(front, crossing, strict=True)]


def ranks(
    front: Sequence[FrontPoint], names: Sequence[str], counts: Sequence[int]
) -> list[tuple[int, bool]]:
    """The place of each point by the first objective, and whether others share it.

    Points whose boxes overlap, one after another, share a place.
    """
    crossing = overlaps(front, names, counts)
    place = list(range(len(front)))  # the first point of each group
    for row in range(len(front)):
        for other in np.flatnonzero(crossing[row, :row]):
            first, last = sorted((place[row], place[other]))
            place = [first if at == last else at for at in place]
    order = {group: number for number, group in enumerate(dict.fromkeys(place), 1)}
    return [(order[group], place.count(group) > 1) for group in place]


def rank_text(rank: int, is_shared: bool) -> str:
    """Such as ``3``, or ``~2`` where others share it."""
    return f"~{rank}" if is_shared else str(rank)
