"""The loop orders worth trying for a structure: those that differ in loops that iterate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from baselines.optimal.structure_space import Boxes, StructureSpace
from common import IntArray
from cost_models import INNER_FIRST, OUTER_FIRST
from layers import DIMS
from maestro_env import MapSpace

AT_ONCE = 1 << 15
"""Mappings listed at a time, about."""


class LoopOrders:
    """The orders that both levels of a space offer."""

    def __init__(self, structures: StructureSpace) -> None:
        self._structures = structures
        space = structures.space
        self._extents = np.array(space.layer.extents)
        self._levels = [LevelOrders(space, level) for level in (0, 1)]

    def iterating(self, which: IntArray, boxes: Boxes) -> IntArray:
        """``(B, 2)`` loops with more than one iteration in some step, as bits, a column a level."""
        table = self._structures.structures
        dims = np.arange(len(DIMS))
        outer = self._structures.tiles[0, dims, boxes[:, OUTER_FIRST]]
        inner = np.minimum(self._structures.tiles[1, dims, boxes[:, INNER_FIRST]], outer)
        rows = np.arange(len(which))
        reach = [outer.copy(), inner.copy()]
        clusters = table.num_pes[which] // table.cluster_size[which]
        reach[0][rows, table.parallel[which, 0]] *= clusters
        reach[1][rows, table.parallel[which, 1]] *= table.cluster_size[which]
        bits = 1 << dims
        return np.stack(
            [
                ((reach[0] < self._extents) * bits).sum(axis=1),
                ((reach[1] < outer) * bits).sum(axis=1),
            ],
            axis=1,
        )

    def actions(self, which: IntArray, boxes: Boxes) -> Iterator[IntArray]:
        """Actions ``(n, P)`` of structures with all their different orders, some at a time."""
        plain = self._structures.actions(which, boxes)
        masks = self.iterating(which, boxes)
        pairs, group = np.unique(masks, axis=0, return_inverse=True)
        for number, (outer, inner) in enumerate(pairs.tolist()):
            rows = plain[group.ravel() == number]
            first, second = self._levels[0].different(outer), self._levels[1].different(inner)
            many = max(1, AT_ONCE // (len(first) * len(second)))
            outers = max(1, AT_ONCE // len(second))
            for low in range(0, len(rows), many):
                for start in range(0, len(first), outers):
                    part = first[start : start + outers]
                    yield self._ordered(rows[low : low + many], part, second)

    def _ordered(self, rows: IntArray, first: IntArray, second: IntArray) -> IntArray:
        """Every row with every pair of an outer and an inner order."""
        actions = np.repeat(rows, len(first) * len(second), axis=0)
        outer, inner = np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))
        actions[:, self._levels[0].columns] = np.tile(outer, (len(rows), 1))
        actions[:, self._levels[1].columns] = np.tile(inner, (len(rows), 1))
        return actions


class LevelOrders:
    """The loop orders that one level of a space offers.

    Args:
        space: The space.
        level: 0 outer, 1 inner.

    Attributes:
        columns: Columns of an action that choose the order.
    """

    def __init__(self, space: MapSpace, level: int) -> None:
        kinds = ("priority", "order")
        self.columns = [
            i for i, p in enumerate(space.parameters) if p.level == level and p.kind in kinds
        ]
        parts = _choices(space.nvec[self.columns])
        actions = np.zeros((len(parts), len(space.nvec)), dtype=np.int64)
        actions[:, self.columns] = parts
        self._parts = parts
        self._orders = space.decode(actions).orders[:, level]
        self._known: dict[int, IntArray] = {}

    def different(self, mask: int) -> IntArray:
        """``(n, columns)`` choices that differ in the order of the loops in a bit mask."""
        if mask not in self._known:
            iterating = (mask >> self._orders.astype(np.int64)) & 1 == 1
            # the iterating loops in order, then zeros: as a number in base 16
            places = np.cumsum(iterating, axis=1) - 1
            weights = np.where(iterating, 1 << (4 * places), 0)
            keys = ((self._orders.astype(np.int64) + 1) * weights).sum(axis=1)
            _, first = np.unique(keys, return_index=True)
            self._known[mask] = self._parts[np.sort(first)]
        return self._known[mask]


def _choices(counts: IntArray) -> IntArray:
    """``(n, columns)`` choices of all parameters of an order that may give different orders."""
    wide = np.flatnonzero(counts > 1)
    if len(wide) > 1 and (counts[wide] == len(wide)).all():
        # priorities of as many ranks as there are loops: a rank each gives every order
        ranks = np.array(list(permutations(range(len(wide)))), dtype=np.int64)
        parts = np.zeros((len(ranks), len(counts)), dtype=np.int64)
        parts[:, wide] = ranks
        return parts
    return np.array(list(product(*(range(count) for count in counts.tolist()))), dtype=np.int64)
