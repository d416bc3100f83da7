"""GAMMA's operators on a chip of any depth, whose levels are the chip's: none is grown or aged."""

from __future__ import annotations

import numpy as np

from baselines.gamma_operators import GammaOperators
from baselines.operators import Moves
from maestro_env import ActionSpace
from marl_common import BoolArray, IntArray

Generator = np.random.Generator


class ChainOperators(GammaOperators):
    """The operators for a space of a chain; a genome has a block for each memory.

    A block is the memory's tiles in loop order, and the dimensions and units of the axes below it.

    Args:
        space: The map space.
    """

    one_level = False

    def __init__(self, space: ActionSpace) -> None:
        self.space, self.moves = space, Moves(space)
        parameters = space.parameters
        self._tiles = [
            np.flatnonzero([p.kind == "tile" and p.level == level for p in parameters])
            for level in range(space.depth)
        ]
        dims = {p.dim for p in parameters if p.kind == "tile"}
        self._of_dim = [
            np.flatnonzero([p.kind == "tile" and p.dim == dim for p in parameters])
            for dim in sorted(dims)
        ]
        self._spreads = np.flatnonzero([p.kind == "parallel" for p in parameters])
        self._genes = np.flatnonzero([p.kind in ("tile", "parallel", "keeps") for p in parameters])

    def create(self, count: int, levels: int, rng: Generator) -> tuple[IntArray, BoolArray]:
        """New genomes: random outer tiles, inner tiles of one, random orders and units.

        The outer tiles of the first two are all one, as in GAMMA's `reinit_pop`.
        """
        actions = self.space.sample(count, rng)
        for tiles in self._tiles[1:]:
            actions[:, tiles] = 0
        actions[:2][:, self._tiles[0]] = 0
        two = np.ones(count, dtype=np.bool_)
        return self.repaired(actions, two), two

    def repaired(self, actions: IntArray, two: BoolArray) -> IntArray:
        """Inner tiles clamped to the outer ones."""
        return self.space.canonical(actions)

    def crossover_tiles(
        self, parents: tuple[IntArray, BoolArray], count: int, rng: Generator, alpha: float
    ) -> tuple[IntArray, BoolArray]:
        """Pairs of copies of two parents that, with chance `alpha`, trade the tiles of one dim."""
        actions, _ = parents
        pairs = -(-count // 2)
        dad = rng.integers(0, len(actions), pairs)
        mom = rng.integers(0, len(actions), pairs)
        first, second = actions[dad].copy(), actions[mom].copy()
        rows = np.flatnonzero(rng.random(pairs) < alpha)
        if self._of_dim:
            place = rng.integers(0, len(self._of_dim), len(rows))
            for dim, columns in enumerate(self._of_dim):
                mine = np.ix_(rows[place == dim], columns)
                first[mine], second[mine] = second[mine], first[mine]
        children = np.stack([first, second], axis=1).reshape(-1, actions.shape[1])[:count]
        return children, np.ones(count, dtype=np.bool_)

    def mutate_genes(
        self, actions: IntArray, two: BoolArray, rng: Generator, alpha: float, times: int
    ) -> None:
        """Draw anew a tile, a tensor's place, or an axis's dimension and its units, in place."""
        if not len(self._genes):
            return
        for _ in range(times):
            rows = np.flatnonzero(rng.random(len(actions)) < alpha)
            columns = self._genes[rng.integers(0, len(self._genes), len(rows))]
            actions[rows, columns] = rng.integers(0, self.space.nvec[columns])
            spread = np.isin(columns, self._spreads)
            units = columns[spread] + 1  # an axis's units stand behind its dimension
            actions[rows[spread], units] = rng.integers(0, self.space.nvec[units])

    def mutate_pes(self, actions: IntArray, rng: Generator, alpha: float) -> None:
        """Units are drawn with their axis."""

    def grow(self, actions: IntArray, two: BoolArray, rng: Generator, alpha: float) -> None:
        """Every genome has all levels of the chip."""
