"""The decisions that make a mapping, in the order in which the agents take them."""

from __future__ import annotations

from typing import Any, NamedTuple

from layers import DIMS

LEVELS = 5
"""Memories of a chip at most; they are numbered from the innermost one."""
SPREADS = 8
"""Axes of fan-outs at most, over which a mapping spreads a dimension each."""
KINDS = ("parallel", "units", "tile", "order")
"""Kinds of decision; one network each, shared by all dimensions and levels."""
PARALLEL, UNITS, TILE, ORDER = range(len(KINDS))
FIRST_TILE = 2 * SPREADS
"""Place of the first decision on a tile."""
TURNED = (3, 2, 1, 0, 5, 4, 7, 6)
"""A memory's tiles in another order: X Y C K S R G N. What comes first takes what it likes of the
memory, so that draws in both orders differ more. A dimension's place is the same function.
"""
CLUSTER_SIZE = FIRST_TILE - 2
"""Place of the decision on the units of the second spread; on a chip of L2 and L1, of a cluster."""


class Decision(NamedTuple):
    """One decision.

    Args:
        place: Its place in `DECISIONS`.
        kind: One of `KINDS`.
        number: The spread, from the outermost one, or the memory, from the innermost one.
        dim: The dimension of a tile, else -1.
    """

    place: int
    kind: str
    number: int
    dim: int = -1


_ALL: tuple[tuple[Any, ...], ...] = (
    *(("parallel", s) for s in range(SPREADS)),
    *(("units", s) for s in reversed(range(SPREADS))),
    # inner tiles before outer ones, so that an outer one is never smaller than the inner one
    *(("tile", level, d) for level in range(LEVELS) for d in range(len(DIMS))),
    *(("order", level) for level in reversed(range(LEVELS))),
)
DECISIONS = tuple(Decision(place, *one) for place, one in enumerate(_ALL))
