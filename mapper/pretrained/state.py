"""The choices made so far, and how a decision is carried out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models import MappingBatch
from mapper.pretrained.decisions import (
    CLUSTER_SIZE,
    INNER,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import D, StateRow
from marl_common import BoolArray, IntArray


class State(NamedTuple):
    """The choices made so far by `B` rows; what is not chosen yet stands at its least.

    Args:
        parallel: ``(B, 2)`` parallel dimensions of the outer and the inner level, -1 before.
        cluster: ``(B,)`` PEs of a cluster, 0 before.
        tiles: ``(B, 2, D)`` tiles of the outer and the inner level.
        orders: ``(B, 2, D)`` loop orders, outermost first.
    """

    parallel: IntArray
    cluster: IntArray
    tiles: IntArray
    orders: IntArray

    @classmethod
    def of(cls, mappings: MappingBatch) -> State:
        """The choices that lead to mappings."""
        arrays = mappings.parallel, mappings.cluster_size, mappings.tiles, mappings.orders
        return cls(*(array.astype(np.int64) for array in arrays))

    def take(self, rows: Any) -> State:
        """Some rows."""
        return State(*(part[rows] for part in self))

    def rows(self) -> NDArray[Any]:
        """``(B,)`` records."""
        found = np.empty(len(self.cluster), StateRow)
        for name, part in zip(self._fields, self, strict=True):
            found[name] = part
        return found

    def mappings(self) -> MappingBatch:
        """`B` mappings, where all is chosen."""
        return MappingBatch(
            self.orders.astype(np.int8),
            self.parallel.astype(np.int8),
            self.tiles.astype(np.int32),
            self.cluster.astype(np.int32),
            None,
        )


def begin(arrays: ProblemArrays, which: IntArray) -> State:
    """No choice made yet: every tile at its least, every order as it comes."""
    least = arrays.values[which, INNER_TILE : INNER_TILE + D, 0]
    outer = arrays.values[which, OUTER_TILE : OUTER_TILE + D, 0]
    return State(
        np.full((len(which), 2), -1, np.int64),
        np.zeros(len(which), np.int64),
        np.stack([np.maximum(least, outer), least], axis=1),
        np.tile(np.arange(D), (len(which), 2, 1)),
    )


def choose(
    decision: int, arrays: ProblemArrays, which: IntArray, picks: IntArray, state: State
) -> None:
    """Carry out a decision that is no order.

    Args:
        decision: Its index.
        arrays: The problems.
        which: ``(B,)`` problem of each row.
        picks: ``(B,)`` the choice of each row.
        state: Changed in place.
    """
    value = arrays.values[which, decision, picks]
    if decision < CLUSTER_SIZE:
        state.parallel[:, decision] = value
    elif decision == CLUSTER_SIZE:
        state.cluster[:] = value
    elif decision < OUTER_TILE:
        d = decision - INNER_TILE
        state.tiles[:, INNER, d] = value
        state.tiles[:, OUTER, d] = np.maximum(state.tiles[:, OUTER, d], value)
    else:
        state.tiles[:, OUTER, decision - OUTER_TILE] = value


def rank(
    decision: int,
    arrays: ProblemArrays,
    which: IntArray,
    ranks: IntArray,
    legal: BoolArray,
    state: State,
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
    rows, choices = np.nonzero(legal)
    place = np.tile(np.arange(D, 2 * D), (len(which), 1))
    place[rows, arrays.values[which[rows], decision, choices]] = np.argsort(ranks, axis=1)[legal]
    state.orders[:, OUTER if decision == OUTER_ORDER else INNER] = np.argsort(place, axis=1)
