"""The decisions that make a mapping, in the order in which the agents take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from layers import DIMS

OUTER: Final = 0
INNER: Final = 1

OUTER_PARALLEL: Final = 0
INNER_PARALLEL: Final = 1
CLUSTER_SIZE: Final = 2
INNER_TILE: Final = 3
"""Turn of the inner tile of dimension 0; the other dimensions follow."""
OUTER_TILE: Final = INNER_TILE + len(DIMS)
OUTER_ORDER: Final = OUTER_TILE + len(DIMS)
INNER_ORDER: Final = OUTER_ORDER + 1
TURNS: Final = INNER_ORDER + 1

KINDS: Final = (
    "outer_parallel",
    "inner_parallel",
    "cluster_size",
    "inner_tile",
    "outer_tile",
    "outer_order",
    "inner_order",
)
"""Kinds of parameter; one network each, shared by all dimensions."""


@dataclass(frozen=True)
class Turn:
    """One decision.

    Args:
        index: Its place, 0 to `TURNS` - 1.
        kind: One of `KINDS`.
        dim: The dimension of a tile, else -1.
        name: What the map space calls the parameter; of an order, the start of its parameters'
            names.
    """

    index: int
    kind: str
    dim: int
    name: str

    @property
    def is_order(self) -> bool:
        """Whether the decision ranks loops instead of picking one choice."""
        return self.kind.endswith("order")


def all_turns() -> tuple[Turn, ...]:
    """Every decision, in order: where to spread, cluster size, inner tiles, outer tiles, orders.

    Inner tiles come before outer ones, so that an outer tile is never smaller than the inner one.
    """
    turns = [
        Turn(OUTER_PARALLEL, "outer_parallel", -1, "outer_parallel"),
        Turn(INNER_PARALLEL, "inner_parallel", -1, "inner_parallel"),
        Turn(CLUSTER_SIZE, "cluster_size", -1, "cluster_size"),
    ]
    for first, kind in ((INNER_TILE, "inner_tile"), (OUTER_TILE, "outer_tile")):
        turns += [Turn(first + d, kind, d, f"{kind}_{DIMS[d]}") for d in range(len(DIMS))]
    turns.append(Turn(OUTER_ORDER, "outer_order", -1, "outer_"))
    turns.append(Turn(INNER_ORDER, "inner_order", -1, "inner_"))
    return tuple(turns)
