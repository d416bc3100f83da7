"""Moves in a map space that several searchers share: mutation, crossover, exchanges, neighbours."""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np

from maestro_env import ActionSpace, order_swaps
from marl_common import BoolArray, IntArray

Generator = np.random.Generator


class Moves:
    """Vectorised moves over the actions of one space.

    Args:
        space: The space; parameters with one choice are left alone.
    """

    def __init__(self, space: ActionSpace) -> None:
        self.space = space
        self.nvec = space.nvec
        self.active = np.flatnonzero(space.nvec > 1)
        self.ordinal = np.array([p.ordinal for p in space.parameters])
        self.is_order = np.array([p.kind == "order" for p in space.parameters])
        self._groups = self._build_groups()
        self._tiles = self._columns("tile")
        self._priorities = self._columns("priority")
        orders = {p.level: i for i, p in enumerate(space.parameters) if p.kind == "order"}
        self._orders = [orders.get(level, -1) for level in range(space.depth)]
        self._spread = self._alike_spreads()

    def _columns(self, kind: str) -> IntArray:
        """``(L, n)`` columns of a kind with a choice, a row a level, -1 as filling."""
        rows = [
            [
                i
                for i, p in enumerate(self.space.parameters)
                if p.kind == kind and p.level == level and len(p) > 1
            ]
            for level in range(self.space.depth)
        ]
        width = max(len(row) for row in rows)
        return np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int64)

    def _alike_spreads(self) -> IntArray:
        """``(n, 2)`` columns of pairs of parallel dimensions that may be swapped."""
        columns = [i for i, p in enumerate(self.space.parameters) if p.kind == "parallel"]
        pairs = [
            (a, b)
            for a, b in combinations(columns, 2)
            if self.space.parameters[a].choices == self.space.parameters[b].choices
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _build_groups(self) -> BoolArray:
        """``(G, P)`` sets of columns that belong together: a dimension, a level, an order."""
        parameters = self.space.parameters
        dims = {p.dim for p in parameters if p.dim}
        groups = [[p.dim == d and p.kind == "tile" for p in parameters] for d in sorted(dims)]
        for level in range(self.space.depth):
            groups.append([p.level == level for p in parameters])
            order = ("priority", "order")
            groups.append([p.level == level and p.kind in order for p in parameters])
        spatial = ("parallel", "parallel2", "units", "cluster_size", "num_pes")
        groups.append([p.kind in spatial for p in parameters])
        if any(p.kind == "keeps" for p in parameters):
            groups.append([p.kind == "keeps" for p in parameters])
        return np.array(groups)

    def crossover(self, first: IntArray, second: IntArray, rng: Generator) -> IntArray:
        """Children of two parents: half of them gene by gene, half by whole groups.

        Args:
            first: ``(B, P)`` parents.
            second: ``(B, P)`` parents.
            rng: Randomness.
        """
        size = len(first)
        by_gene = rng.random(first.shape) < 0.5
        chosen = rng.random((size, len(self._groups))) < 0.3
        by_group = (chosen @ self._groups) > 0
        take = np.where((rng.random(size) < 0.5)[:, None], by_gene, by_group)
        return np.where(take, second, first)

    def mutate(
        self, actions: IntArray, rng: Generator, rate: float = 1.5, far: float = 0.2
    ) -> IntArray:
        """Change at least one parameter of every row.

        Args:
            actions: ``(B, P)``.
            rng: Randomness.
            rate: Parameters changed a row, on average (beside the one that is always changed).
            far: Share of changes of an ordinal parameter that jump anywhere; the others step to a
                near choice.
        """
        if len(self.active) == 0:
            return actions.copy()
        mask = np.zeros(actions.shape, dtype=np.bool_)
        mask[:, self.active] = rng.random((len(actions), len(self.active))) < rate / len(
            self.active
        )
        rows = np.flatnonzero(~mask.any(axis=1))
        mask[rows, rng.choice(self.active, len(rows))] = True
        return np.where(mask, self.step(actions, rng, far), actions)

    def step(self, actions: IntArray, rng: Generator, far: float) -> IntArray:
        """Every parameter changed: ordinal ones to a near choice or, in a share `far`, anywhere."""
        size = rng.geometric(0.5, actions.shape) * (2 * rng.integers(0, 2, actions.shape) - 1)
        near = _reflect(actions + size, self.nvec)
        if self.is_order.any():
            near = np.where(self.is_order, self._swap_in_order(actions, rng), near)
        offset = 1 + rng.integers(0, np.maximum(self.nvec - 1, 1), actions.shape)
        anywhere = (actions + offset) % self.nvec
        leap = (rng.random(actions.shape) < far) | ~(self.ordinal | self.is_order)
        return np.where(leap, anywhere, near)

    def _swap_in_order(self, actions: IntArray, rng: Generator) -> IntArray:
        """Orders with two loops swapped, for the columns that hold a permutation."""
        swapped = actions.copy()
        for column in np.flatnonzero(self.is_order):
            swapped[:, column] = self._swapped(actions[:, column], int(column), rng)
        return swapped

    def _swapped(self, orders: IntArray, column: int, rng: Generator) -> IntArray:
        table = self._swaps(column)
        if table is None:  # narrowed: any order that is left
            return rng.integers(0, self.nvec[column], len(orders))
        if table.shape[1] == 0:  # a single loop
            return orders
        return table[orders, rng.integers(0, table.shape[1], len(orders))]

    def _swaps(self, column: int) -> IntArray | None:
        """Each order of a column with one pair of loops swapped; None if it offers not all."""
        parameter = self.space.parameters[column]
        loops = len(str(parameter.choices[0]))
        return order_swaps(loops) if len(parameter) == math.factorial(loops) else None

    def exchange(self, actions: IntArray, rng: Generator) -> IntArray:
        """A move of two parameters at once.

        Half of the rows trade tile between two dimensions (one grows, one shrinks), a quarter swap
        two loops of a level, a quarter swap the parallel dimensions of the levels.
        """
        result = actions.copy()
        kind = rng.integers(0, 4, len(actions))
        self._trade(result, np.flatnonzero(kind <= 1), rng)
        self.swap_loops(result, np.flatnonzero(kind == 2), rng)
        self.swap_parallel(result, np.flatnonzero(kind == 3), rng)
        return result

    def _trade(self, actions: IntArray, rows: IntArray, rng: Generator) -> None:
        columns = self._tiles[self._tiles >= 0]
        if len(columns) < 2:
            return
        pair = rng.permuted(np.tile(columns, (len(rows), 1)), axis=1)[:, :2]
        for side, sign in ((0, 1), (1, -1)):
            column = pair[:, side]
            moved = actions[rows, column] + sign * rng.geometric(0.6, len(rows))
            actions[rows, column] = np.clip(moved, 0, self.nvec[column] - 1)

    def swap_loops(self, actions: IntArray, rows: IntArray, rng: Generator) -> None:
        """Swap two loops of one level, in place, in the given rows."""
        level = rng.integers(0, self.space.depth, len(rows))
        for which in range(self.space.depth):
            mine = rows[level == which]
            order = self._orders[which]
            if order >= 0:
                actions[mine, order] = self._swapped(actions[mine, order], order, rng)
                continue
            columns = self._priorities[which]
            columns = columns[columns >= 0]
            if len(columns) < 2 or len(mine) == 0:
                continue
            pair = rng.permuted(np.tile(columns, (len(mine), 1)), axis=1)[:, :2]
            first, second = actions[mine, pair[:, 0]], actions[mine, pair[:, 1]]
            actions[mine, pair[:, 0]] = np.minimum(second, self.nvec[pair[:, 0]] - 1)
            actions[mine, pair[:, 1]] = np.minimum(first, self.nvec[pair[:, 1]] - 1)

    def swap_parallel(self, actions: IntArray, rows: IntArray, rng: Generator) -> None:
        """Swap two parallel dimensions, of two levels or axes, in place, in the given rows."""
        pairs = self._spread
        if len(pairs) == 0:
            return
        which = 0 if len(pairs) == 1 else rng.integers(0, len(pairs), len(rows))
        columns = np.broadcast_to(pairs[which], (len(rows), 2))
        outer, inner = columns[:, 0], columns[:, 1]
        first, second = actions[rows, outer], actions[rows, inner]
        actions[rows, outer], actions[rows, inner] = second, first

    def neighbours(self, action: IntArray) -> IntArray:
        """``(n, P)`` all actions one step away, canonical and without doubles.

        A step moves an ordinal parameter to the next choice on either side, sets another one to
        any choice, swaps two loops of a level, or swaps two parallel dimensions.
        """
        found = [self._one_changed(action, column) for column in self.active]
        loops = (pair for row in self._priorities for pair in combinations(row[row >= 0], 2))
        for first, second in chain(loops, self._spread):
            swapped = action[None].copy()
            swapped[0, [first, second]] = action[[second, first]]
            found.append(np.minimum(swapped, self.nvec - 1))
        canonical = self.space.canonical(np.concatenate(found))
        unique: IntArray = np.unique(canonical, axis=0)
        own = self.space.canonical(action[None])
        return np.asarray(unique[(unique != own).any(axis=1)])

    def _one_changed(self, action: IntArray, column: np.integer) -> IntArray:
        value, count = action[column], self.nvec[column]
        if self.space.parameters[column].kind == "priority":
            choices = np.empty(0, np.int64)  # swaps of two loops stand in
        elif self.ordinal[column]:
            choices = np.array([v for v in (value - 1, value + 1) if 0 <= v < count], np.int64)
        elif self.is_order[column] and (table := self._swaps(int(column))) is not None:
            choices = table[value]
        else:
            choices = np.delete(np.arange(count), value)
        changed = np.tile(action, (len(choices), 1))
        changed[:, column] = choices
        return changed


def _reflect(values: IntArray, nvec: IntArray) -> IntArray:
    """Fold values outside ``[0, nvec)`` back at the ends."""
    values = np.abs(values)
    top = nvec - 1
    over = values > top
    return np.clip(np.where(over, 2 * top - values, values), 0, top)
