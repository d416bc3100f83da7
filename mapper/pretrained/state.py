"""The choices made so far, and how a decision is carried out (compiled)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import compiled
from cost_models import MappingBatch
from mapper.pretrained.decisions import (
    CLUSTER_SIZE,
    INNER,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.problem_arrays import D, ProblemArrays


class State(NamedTuple):
    """The choices made so far by `B` rows; what is not chosen yet stands at its least.

    Args:
        parallel: ``(B, 2)`` parallel dimensions of the outer and the inner level, -1 before.
        cluster: ``(B,)`` PEs of a cluster, 0 before.
        tiles: ``(B, 2, D)`` tiles of the outer and the inner level.
        orders: ``(B, 2, D)`` loop orders, outermost first.
    """

    parallel: NDArray[np.int64]
    cluster: NDArray[np.int64]
    tiles: NDArray[np.int64]
    orders: NDArray[np.int64]

    @classmethod
    def of(cls, mappings: MappingBatch) -> State:
        """The choices that lead to mappings."""
        arrays = mappings.parallel, mappings.cluster_size, mappings.tiles, mappings.orders
        return cls(*(array.astype(np.int64) for array in arrays))

    def take(self, rows: Any) -> State:
        """Some rows."""
        return State(*(part[rows] for part in self))

    def mappings(self) -> MappingBatch:
        """`B` mappings, where all is chosen."""
        return MappingBatch(
            self.orders.astype(np.int8),
            self.parallel.astype(np.int8),
            self.tiles.astype(np.int32),
            self.cluster.astype(np.int32),
            None,
        )


@compiled
def state_at(state: State, row: int) -> Any:
    """One row, all arrays without their first axis."""
    return State(state.parallel[row], state.cluster[row], state.tiles[row], state.orders[row])


@compiled
def begin(arrays: ProblemArrays, which: Any) -> State:
    """No choice made yet: every tile at its least, every order as it comes."""
    size = len(which)
    parallel = np.full((size, 2), -1, np.int64)
    cluster = np.zeros(size, np.int64)
    tiles = np.ones((size, 2, D), np.int64)
    orders = np.empty((size, 2, D), np.int64)
    for row in range(size):
        for d in range(D):
            orders[row, :, d] = d
            least = arrays.values[which[row], INNER_TILE + d, 0]
            tiles[row, INNER, d] = least
            tiles[row, OUTER, d] = max(least, arrays.values[which[row], OUTER_TILE + d, 0])
    return State(parallel, cluster, tiles, orders)


@compiled
def choose(decision: int, arrays: ProblemArrays, which: Any, picks: Any, state: State) -> None:
    """Carry out a decision that is no order.

    Args:
        decision: Its index.
        arrays: The problems.
        which: ``(B,)`` problem of each row.
        picks: ``(B,)`` the choice of each row.
        state: Changed in place.
    """
    for row in range(len(which)):
        value = arrays.values[which[row], decision, picks[row]]
        if decision < CLUSTER_SIZE:
            state.parallel[row, decision] = value
        elif decision == CLUSTER_SIZE:
            state.cluster[row] = value
        elif decision < OUTER_TILE:
            d = decision - INNER_TILE
            state.tiles[row, INNER, d] = value
            state.tiles[row, OUTER, d] = max(state.tiles[row, OUTER, d], value)
        else:
            state.tiles[row, OUTER, decision - OUTER_TILE] = value


@compiled
def rank(
    decision: int, arrays: ProblemArrays, which: Any, ranks: Any, legal: Any, state: State
) -> None:
    """Carry out an order: loops that iterate by rank, the others innermost as they come.

    Args:
        decision: `OUTER_ORDER` or `INNER_ORDER`.
        arrays: The problems.
        which: ``(B,)`` problem of each row.
        ranks: ``(B, C)`` choices in their order, the outermost first; those that iterate lead.
        legal: ``(B, C)`` loops that iterate.
        state: Changed in place.
    """
    level = OUTER if decision == OUTER_ORDER else INNER
    for row in range(len(which)):
        problem = which[row]
        placed = 0
        for c in ranks[row]:
            if legal[row, c]:
                state.orders[row, level, placed] = arrays.values[problem, decision, c]
                placed += 1
        for d in range(D):
            known = False
            for place in range(placed):
                known |= state.orders[row, level, place] == d
            if not known:
                state.orders[row, level, placed] = d
                placed += 1
