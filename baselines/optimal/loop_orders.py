"""The loop orders worth trying for a structure: those that differ in loops that iterate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baselines.level_orders import LevelOrders
from baselines.optimal.structure_space import Boxes, StructureSpace
from cost_models import INNER_FIRST, OUTER_FIRST
from layers import DIMS
from marl_common import IntArray

AT_ONCE = 1 << 15
"""Mappings listed at a time, about."""
AT_LEAST = 1 << 10
"""Mappings handed on at a time, at least, where there are so many."""


class LoopOrders:
    """The orders that both levels of a space offer."""

    def __init__(self, structures: StructureSpace) -> None:
        self._structures = structures
        space = structures.space
        self._extents = np.array(space.layer.extents)
        self._levels = [LevelOrders(space, level, ties=False) for level in (0, 1)]

    def iterating(self, which: IntArray, boxes: Boxes) -> IntArray:
        """``(B, 2)`` loops with more than one iteration in some step, as bits, a column a level."""
        table = self._structures.structures
        dims = np.arange(len(DIMS))
        outer = self._structures.tiles[0, dims, boxes[:, OUTER_FIRST]]
        inner = np.minimum(self._structures.tiles[1, dims, boxes[:, INNER_FIRST]], outer)
        units = table.units(which)
        steps = (outer * units[:, 0], self._extents), (inner * units[:, 1], outer)
        return np.stack([((step < all_) * (1 << dims)).sum(axis=1) for step, all_ in steps], axis=1)

    def actions(self, which: IntArray, boxes: Boxes) -> Iterator[IntArray]:
        """Actions ``(n, P)`` of structures with all their different orders, some at a time."""
        parts: list[IntArray] = []
        for part in self._by_loops(which, boxes):
            parts.append(part)
            if sum(map(len, parts)) >= AT_LEAST:
                yield np.concatenate(parts)
                parts = []
        if parts:
            yield np.concatenate(parts)

    def _by_loops(self, which: IntArray, boxes: Boxes) -> Iterator[IntArray]:
        """The same, structures apart in which other loops iterate."""
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
