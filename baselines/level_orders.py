"""The loop orders that one level of a map space offers."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from maestro_env import MapSpace
from marl_common import IntArray


class LevelOrders:
    """The loop orders that one level of a space offers.

    Args:
        space: The space.
        level: 0 outer, 1 inner.
        ties: Whether choices that tie are listed too, so that the first of all choices stands for
            an order; otherwise fewer are listed, which give every order as well.

    Attributes:
        columns: Columns of an action that choose the order.
    """

    def __init__(self, space: MapSpace, level: int, *, ties: bool) -> None:
        kinds = ("priority", "order")
        self.columns = [
            i for i, p in enumerate(space.parameters) if p.level == level and p.kind in kinds
        ]
        parts = _choices(space.nvec[self.columns], ties)
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


def _choices(counts: IntArray, ties: bool) -> IntArray:
    """``(n, columns)`` choices of all parameters of an order that may give different orders."""
    wide = np.flatnonzero(counts > 1)
    if not ties and len(wide) > 1 and (counts[wide] == len(wide)).all():
        # priorities of as many ranks as there are loops: a rank each gives every order
        ranks = np.array(list(permutations(range(len(wide)))), dtype=np.int64)
        parts = np.zeros((len(ranks), len(counts)), dtype=np.int64)
        parts[:, wide] = ranks
        return parts
    return np.array(list(product(*(range(count) for count in counts.tolist()))), dtype=np.int64)
