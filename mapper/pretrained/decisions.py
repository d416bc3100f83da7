"""The decisions that make a mapping, in the order in which the agents take them."""

from __future__ import annotations

from typing import Final, NamedTuple

from layers import DIMS

LEVELS: Final = 5
"""Memories of a chip at most; they are numbered from the innermost one."""
SPREADS: Final = 8
"""Axes of fan-outs at most, over which a mapping spreads a dimension each."""
PARALLEL: Final = 0
"""Decision on the dimension of the outermost spread; the spreads inside it follow."""
UNITS: Final = PARALLEL + SPREADS
"""Decision on the units of the innermost spread; the spreads outside it follow."""
TILE: Final = UNITS + SPREADS
"""Decision on the innermost memory's tile of dimension 0; its other dimensions follow, then the
memories outside it."""
ORDER: Final = TILE + LEVELS * len(DIMS)
"""Decision on the outermost memory's loop order; the memories inside it follow."""

KINDS: Final = ("parallel", "units", "tile", "order")
"""Kinds of decision; one network each, shared by all dimensions and levels."""


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

    @property
    def is_order(self) -> bool:
        """Whether the decision ranks loops instead of picking one choice."""
        return self.kind == "order"


def _all() -> tuple[Decision, ...]:
    """Inner tiles before outer ones, so that an outer tile is never smaller than the inner one."""
    spreads, levels = range(SPREADS), range(LEVELS)
    found = [Decision(PARALLEL + s, "parallel", s) for s in spreads]
    found += [Decision(UNITS + s, "units", SPREADS - 1 - s) for s in spreads]
    for level in levels:
        first = TILE + level * len(DIMS)
        found += [Decision(first + d, "tile", level, d) for d in range(len(DIMS))]
    return (*found, *(Decision(ORDER + i, "order", LEVELS - 1 - i) for i in levels))


DECISIONS: Final = _all()
