"""Moves in a map space that several searchers share: mutation, crossover, and what was seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from maestro_env import MapSpace
from maestro_env.codec import PERMUTATIONS
from maestro_env.map_space import IntArray
from maestro_env.symmetry import keys

BoolArray = NDArray[np.bool_]
Generator = np.random.Generator


class Moves:
    """Vectorised moves over the actions of one space.

    Args:
        space: The space; parameters with one choice are left alone.
    """

    def __init__(self, space: MapSpace) -> None:
        self.space = space
        self.nvec = space.nvec
        self.active = np.flatnonzero(space.nvec > 1)
        self.ordinal = np.array([p.ordinal for p in space.parameters])
        self.is_order = np.array([p.kind == "order" for p in space.parameters])
        self._groups = self._build_groups()
        self._tiles = self._columns("tile")
        self._priorities = self._columns("priority")
        self._parallel = [c for c in self._columns("parallel").ravel() if c >= 0]

    def _columns(self, kind: str) -> IntArray:
        """``(2, n)`` columns of a kind with a choice, a row a level, -1 as filling."""
        rows = [
            [
                i
                for i, p in enumerate(self.space.parameters)
                if p.kind == kind and p.level == level and len(p) > 1
            ]
            for level in (0, 1)
        ]
        width = max(len(row) for row in rows)
        return np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int64)

    def _build_groups(self) -> BoolArray:
        """``(G, P)`` sets of columns that belong together: a dimension, a level, an order."""
        parameters = self.space.parameters
        dims = {p.dim for p in parameters if p.dim}
        groups = [[p.dim == d and p.kind == "tile" for p in parameters] for d in sorted(dims)]
        for level in (0, 1):
            groups.append([p.level == level for p in parameters])
            order = ("priority", "order")
            groups.append([p.level == level and p.kind in order for p in parameters])
        spatial = ("parallel", "cluster_size", "num_pes")
        groups.append([p.kind in spatial for p in parameters])
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
        size = rng.geometric(0.5, actions.shape) * rng.choice([-1, 1], actions.shape)
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
            pair = rng.integers(0, len(_SWAPS[0]), len(actions))
            swapped[:, column] = _SWAPS[actions[:, column], pair]
        return swapped

    def exchange(self, actions: IntArray, rng: Generator) -> IntArray:
        """A move of two parameters at once, the same kind for every row of a third of the batch.

        Rows trade tile between two dimensions (one grows, one shrinks), swap two priorities of a
        level, or swap the parallel dimensions of the levels.
        """
        result = actions.copy()
        kind = rng.integers(0, 4, len(actions))
        self._trade(result, np.flatnonzero(kind <= 1), rng)
        self._swap_priorities(result, np.flatnonzero(kind == 2), rng)
        if len(self._parallel) == 2:
            rows = np.flatnonzero(kind == 3)
            outer, inner = self._parallel
            result[rows, outer], result[rows, inner] = actions[rows, inner], actions[rows, outer]
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

    def _swap_priorities(self, actions: IntArray, rows: IntArray, rng: Generator) -> None:
        level = rng.integers(0, 2, len(rows))
        for which in (0, 1):
            columns = self._priorities[which]
            columns = columns[columns >= 0]
            mine = rows[level == which]
            if len(columns) < 2 or len(mine) == 0:
                continue
            pair = rng.permuted(np.tile(columns, (len(mine), 1)), axis=1)[:, :2]
            first, second = actions[mine, pair[:, 0]], actions[mine, pair[:, 1]]
            actions[mine, pair[:, 0]], actions[mine, pair[:, 1]] = second, first


class Seen:
    """The mappings a search has asked for, so that none costs a second sample.

    Args:
        space: The space; mappings that run the same loop nest count as one.
    """

    def __init__(self, space: MapSpace) -> None:
        self.space = space
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._known)

    def fresh(self, actions: IntArray) -> BoolArray:
        """``(B,)`` bool: not seen before nor earlier in the batch; remembers all of them."""
        space = self.space
        batch = keys(space.layer, space.accelerator, space.decode(actions)).tolist()
        result = np.empty(len(batch), dtype=np.bool_)
        for row, key in enumerate(batch):
            result[row] = key not in self._known
            self._known.add(key)
        return result

    def fill(
        self, draw: Callable[[int], IntArray], count: int, spare: Callable[[int], IntArray]
    ) -> IntArray:
        """Fresh actions from a generator; `spare` fills up when it keeps repeating itself.

        Args:
            draw: Gives `n` candidates.
            count: How many actions to return.
            spare: Gives `n` candidates that are taken even if seen (a space may be used up).
        """
        kept: list[IntArray] = []
        missing = count
        for _ in range(8):
            candidates = draw(missing)
            candidates = candidates[self.fresh(candidates)]
            kept.append(candidates)
            missing -= len(candidates)
            if missing == 0:
                break
        if missing:
            kept.append(spare(missing))
        return np.concatenate(kept)


def _reflect(values: IntArray, nvec: IntArray) -> IntArray:
    """Fold values outside ``[0, nvec)`` back at the ends."""
    values = np.abs(values)
    top = nvec - 1
    over = values > top
    return np.clip(np.where(over, 2 * top - values, values), 0, top)


def _swap_table() -> IntArray:
    """``(720, 15)``: index of each loop order with one pair of places swapped."""
    index = {tuple(order): i for i, order in enumerate(PERMUTATIONS.tolist())}
    table = np.empty((len(PERMUTATIONS), 15), dtype=np.int64)
    for row, order in enumerate(PERMUTATIONS.tolist()):
        pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
        for column, (a, b) in enumerate(pairs):
            swapped = list(order)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            table[row, column] = index[tuple(swapped)]
    return table


_SWAPS = _swap_table()
