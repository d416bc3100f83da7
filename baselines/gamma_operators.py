"""GAMMA's operators, each on a whole population of actions.

A genome of GAMMA has one block a level: the parallel dimension with the cluster size, and the
tiles in loop order. In an action these are the parameters of that level; a population is a
``(B, P)`` array. A genome of one level is an action whose cluster is one PE and whose inner tiles
equal the outer ones. Tiles are drawn from the choices of the space: every whole number in
``MapSpace(tiles="any")``, GAMMA's free tiles, and balanced ones or divisors in the others.
"""

from __future__ import annotations

import numpy as np

from baselines.operators import Moves
from layers import DIMS
from maestro_env import ActionSpace, divisors
from marl_common import BoolArray, IntArray

Generator = np.random.Generator


class GammaOperators:
    """The operators for one space.

    Args:
        space: The map space.

    Attributes:
        one_level: Whether the space offers clusters of one PE, and so genomes of one level.
    """

    def __init__(self, space: ActionSpace) -> None:
        self.space = space
        self.moves = Moves(space)
        self.dims = [p.dim for p in space.parameters if p.kind == "tile" and p.level == 0]
        self.tiles = np.array(
            [[space.index(f"{level}_tile_{d}") for d in self.dims] for level in ("outer", "inner")]
        )
        self.parallel = [space.index("outer_parallel"), space.index("inner_parallel")]
        self.cluster = space.index("cluster_size")
        self.pes = space.index("num_pes") if "num_pes" in space.names else None
        self._values = [_numbers(p.choices) for p in space.parameters]
        self.one_level = bool(self._values[self.cluster][0] == 1)

    def create(self, count: int, levels: int, rng: Generator) -> tuple[IntArray, BoolArray]:
        """New genomes: random outer tiles, inner tiles of one, random orders and clusters.

        The tiles of the first two are all one, as in GAMMA's `reinit_pop`.

        Returns:
            ``(B, P)`` actions and ``(B,)`` whether each has two levels.
        """
        actions = self.space.sample(count, rng)
        actions[:2][:, self.tiles[0]] = 0
        two = np.full(count, levels == 2)
        self._unit_level(actions, np.arange(count), rng)
        return self.repaired(actions, two), two

    def _unit_level(self, actions: IntArray, rows: IntArray, rng: Generator) -> None:
        """Give rows a new inner level: tiles of one, a random order, parallel dim and cluster."""
        fresh = self.space.sample(len(rows), rng)
        inner = np.flatnonzero([p.level == 1 for p in self.space.parameters])
        actions[np.ix_(rows, inner)] = fresh[:, inner]
        actions[np.ix_(rows, self.tiles[1])] = 0
        most = self._most_pes(actions, rows)
        size = rng.integers(1, most + 1)
        actions[rows, self.cluster] = self._floor_choice(self.cluster, size)

    def _most_pes(self, actions: IntArray, rows: IntArray) -> IntArray:
        """PEs that the inner parallel dimension can use: its outer tile, or all PEs."""
        dims = self._values[self.parallel[1]][actions[rows, self.parallel[1]]]
        most = np.full(len(rows), self.space.accelerator.num_pes)
        for place, dim in enumerate(self.dims):
            column = self.tiles[0, place]
            mine = dims == DIMS.index(dim)
            tile = self._values[column][actions[rows, column]]
            most[mine] = np.minimum(tile[mine], most[mine])
        return most

    def _floor_choice(self, column: int, values: IntArray) -> IntArray:
        """The largest choice that is not above each value."""
        choices = self._values[column]
        return np.maximum(np.searchsorted(choices, values, side="right") - 1, 0)

    def repaired(self, actions: IntArray, two: BoolArray) -> IntArray:
        """Inner tiles clamped to the outer ones; genomes of one level kept so."""
        actions = actions.copy()
        one = np.flatnonzero(~two)
        actions[one, self.cluster] = 0
        last = self.space.nvec[self.tiles[1]] - 1
        actions[np.ix_(one, self.tiles[1])] = last
        return self.space.canonical(actions)

    def crossover_tiles(
        self,
        parents: tuple[IntArray, BoolArray],
        count: int,
        rng: Generator,
        alpha: float,
    ) -> tuple[IntArray, BoolArray]:
        """Pairs of copies of two parents that, with chance `alpha`, trade the tiles of one dim.

        The tiles of that dimension are traded at every level that both parents have.
        """
        actions, two = parents
        pairs = -(-count // 2)
        if len(actions) == 1:
            return np.repeat(actions, count, axis=0), np.repeat(two, count)
        dad = rng.integers(0, len(actions), pairs)
        mom = (dad + rng.integers(1, len(actions), pairs)) % len(actions)
        first, second = actions[dad].copy(), actions[mom].copy()
        rows = np.flatnonzero(rng.random(pairs) < alpha)
        place = rng.integers(0, len(self.dims), len(rows))
        both = two[dad] & two[mom]
        for level in (0, 1):
            mine = np.ones(len(rows), dtype=bool) if level == 0 else both[rows]
            who, column = rows[mine], self.tiles[level][place[mine]]
            first[who, column], second[who, column] = second[who, column], first[who, column]
        children = np.stack([first, second], axis=1).reshape(-1, actions.shape[1])[:count]
        levels = np.stack([two[dad], two[mom]], axis=1).reshape(-1)[:count]
        return children, levels

    def reorder(self, actions: IntArray, rng: Generator, alpha: float) -> None:
        """Swap two loops of one level, for a binomial number of random genomes, in place."""
        times = rng.binomial(len(actions), alpha)
        for row in rng.integers(0, len(actions), times):
            self.moves.swap_loops(actions, np.array([row]), rng)

    def mutate_genes(
        self, actions: IntArray, two: BoolArray, rng: Generator, alpha: float, times: int
    ) -> None:
        """Draw anew a tile, or a level's parallel dimension (and cluster size), in place.

        `times` times, each genome draws one of its genes with chance `alpha`: a tile is uniform up
        to the extent, or up to the outer tile at the inner level; the gene of the inner level's
        parallel dimension comes with a cluster size that divides what the dimension can use.
        """
        genes = 1 + len(self.dims)
        for _ in range(times):
            chosen = np.flatnonzero(rng.random(len(actions)) < alpha)
            gene = rng.integers(0, genes * np.where(two[chosen], 2, 1))
            for level in (0, 1):
                of_level = gene // genes == level
                rows, place = chosen[of_level], gene[of_level] % genes
                self._draw_parallel(actions, rows[place == 0], level, rng)
                tile = place > 0
                self._draw_tile(actions, rows[tile], self.tiles[level][place[tile] - 1], level, rng)

    def _draw_tile(
        self, actions: IntArray, rows: IntArray, columns: IntArray, level: int, rng: Generator
    ) -> None:
        highest = self.space.nvec[columns]
        if level == 1:
            for i, (row, column) in enumerate(zip(rows, columns, strict=True)):
                outer = self.tiles[0][self.tiles[1] == column][0]
                tile = self._values[outer][actions[row, outer]]
                highest[i] = max(1, np.searchsorted(self._values[column], tile, side="right"))
        actions[rows, columns] = rng.integers(0, highest)

    def _draw_parallel(self, actions: IntArray, rows: IntArray, level: int, rng: Generator) -> None:
        column = self.parallel[level]
        actions[rows, column] = rng.integers(0, self.space.nvec[column], len(rows))
        if level == 0 or len(rows) == 0:
            return
        for row, most in zip(rows, self._most_pes(actions, rows), strict=True):
            size = rng.choice(np.array(divisors(int(most))), 1)
            actions[row, self.cluster] = self._floor_choice(self.cluster, size)[0]

    def swap_parallel(self, actions: IntArray, rng: Generator, alpha: float) -> None:
        """Swap the parallel dimensions of the two levels with chance `alpha`, in place."""
        rows = np.flatnonzero(rng.random(len(actions)) < alpha)
        self.moves.swap_parallel(actions, rows, rng)

    def mutate_pes(self, actions: IntArray, rng: Generator, alpha: float) -> None:
        """Draw a PE count in the upper half of what the mapping can use, where it is searched."""
        if self.pes is None:
            return
        rows = np.flatnonzero(rng.random(len(actions)) < alpha)
        size = self._values[self.cluster][actions[rows, self.cluster]]
        clusters = np.maximum(1, self.space.accelerator.num_pes // size)
        count = rng.integers(np.maximum(1, clusters // 2), clusters + 1)
        actions[rows, self.pes] = self._floor_choice(self.pes, count * size)

    def grow(self, actions: IntArray, two: BoolArray, rng: Generator, alpha: float) -> None:
        """Growth: random genomes of one level get a second one, in place."""
        rows = rng.integers(0, len(actions), rng.binomial(len(actions), alpha))
        rows = np.unique(rows[~two[rows]])
        self._unit_level(actions, rows, rng)
        two[rows] = True

    def age(self, actions: IntArray, two: BoolArray, rng: Generator, alpha: float) -> None:
        """Ageing: random genomes of two levels lose the inner one, in place."""
        rows = rng.integers(0, len(actions), rng.binomial(len(actions), alpha))
        two[rows] = False
        actions[:] = self.repaired(actions, two)


def _numbers(choices: tuple[int, ...] | tuple[str, ...]) -> IntArray:
    """Values of a parameter's choices: dimensions as indices, orders as places."""
    if isinstance(choices[0], int):
        return np.array(choices, dtype=np.int64)
    return np.array(
        [DIMS.index(c) if len(str(c)) == 1 else i for i, c in enumerate(map(str, choices))]
    )
