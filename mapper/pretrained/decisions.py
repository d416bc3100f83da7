"""The decisions that make a mapping, in the order in which the agents take them."""

from __future__ import annotations

from typing import Final, NamedTuple

from layers import DIMS

OUTER: Final = 0
INNER: Final = 1

OUTER_PARALLEL: Final = 0
INNER_PARALLEL: Final = 1
CLUSTER_SIZE: Final = 2
INNER_TILE: Final = 3
"""Decision on the inner tile of dimension 0; the other dimensions follow."""
OUTER_TILE: Final = INNER_TILE + len(DIMS)
OUTER_ORDER: Final = OUTER_TILE + len(DIMS)
INNER_ORDER: Final = OUTER_ORDER + 1

KINDS: Final = (
    *("outer_parallel", "inner_parallel", "cluster_size"),
    *("inner_tile", "outer_tile", "outer_order", "inner_order"),
)
"""Kinds of decision; one network each, shared by all dimensions."""


class Decision(NamedTuple):
    """One decision.

    Args:
        place: Its place in `DECISIONS`.
        kind: One of `KINDS`.
        dim: The dimension of a tile, else -1.
    """

    place: int
    kind: str
    dim: int = -1

    @property
    def name(self) -> str:
        """What the map space calls the parameter; of an order, the kind."""
        return self.kind if self.dim < 0 else f"{self.kind}_{DIMS[self.dim]}"

    @property
    def is_order(self) -> bool:
        """Whether the decision ranks loops instead of picking one choice."""
        return self.kind.endswith("order")


def _all() -> tuple[Decision, ...]:
    """Inner tiles before outer ones, so that an outer tile is never smaller than the inner one."""
    found = [Decision(n, kind) for n, kind in enumerate(KINDS[:INNER_TILE])]
    for first, kind in ((INNER_TILE, "inner_tile"), (OUTER_TILE, "outer_tile")):
        found += [Decision(first + d, kind, d) for d in range(len(DIMS))]
    return (*found, Decision(OUTER_ORDER, "outer_order"), Decision(INNER_ORDER, "inner_order"))


DECISIONS: Final = _all()
