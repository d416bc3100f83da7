"""GAMMA: a genetic algorithm whose operators know what a mapping is made of."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.gamma_chain import ChainOperators
from baselines.gamma_operators import GammaOperators
from baselines.searcher import BaseSearcher
from cost_models import Chain
from maestro_env import Problem
from marl_common import FloatArray, IntArray


@dataclass(frozen=True)
class GammaConfig:
    """Options of :class:`Gamma`; the rates are those of GAMMA's source (``gamma.py``, `run`).

    Args:
        population: Genomes a generation.
        elites: Share that survives unchanged.
        parents: Share that may be a parent.
        parents_decay: Factor on `parents` a generation.
        crossover: Chance that a pair of children trades one dimension's tiles.
        reorder: Expected loop swaps a genome.
        tile: Chance of a new gene, in each of `tile_times` draws.
        tile_times: Draws of a gene a genome.
        swap_parallel: Chance that the levels' parallel dimensions are swapped.
        grow: Expected growths a genome.
        age: Expected ageings a genome.
        pes: Chance of a new PE count, where it is searched.
        min_levels: 2 keeps both levels, as GAMMA's own runs do; 1 lets genomes age to one level.
        repeats: Whether a mapping that was seen before may cost another sample, as in the source;
            otherwise such children are bred again.
    """

    population: int = 100
    elites: float = 0.05
    parents: float = 0.4
    parents_decay: float = 1.0
    crossover: float = 0.57
    reorder: float = 0.47
    tile: float = 0.53
    tile_times: int = 3
    swap_parallel: float = 0.1
    grow: float = 0.57
    age: float = 0.27
    pes: float = 0.5
    min_levels: int = 1
    repeats: bool = False

    def __post_init__(self) -> None:
        counts = ("population", "tile_times", "min_levels", "repeats")
        rates = [f.name for f in fields(self) if f.name not in counts]
        check_fields(self, ("population", "tile_times"), rates)
        if self.min_levels not in (1, 2):
            raise ValueError(f"min_levels: got {self.min_levels!r}, expected 1 or 2")


@dataclass
class _Population:
    actions: IntArray
    two: NDArray[np.bool_]
    values: FloatArray

    def take(self, rows: NDArray[np.int64]) -> _Population:
        return _Population(self.actions[rows], self.two[rows], self.values[rows])


class Gamma(BaseSearcher):
    """Crossover of tiles, reordering, tile, parallel and cluster mutation, growth and ageing.

    Unlike the source, elites keep their value instead of being evaluated again.
    """

    name = "gamma"
    source = (
        "Kao and Krishna, GAMMA: automating the HW mapping of DNN models on accelerators via "
        "genetic algorithm, ICCAD 2020; maestro-project/gamma, src/GAMMA/gamma.py"
    )
    Config = GammaConfig
    config: GammaConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        on_chain = isinstance(problem.accelerator, Chain)
        operators = (ChainOperators if on_chain else GammaOperators)(problem.space)
        dedup = Dedup(problem)
        population = self._fresh(problem, operators, dedup, rng)
        ratio = self.config.parents
        while True:
            feasible = int(np.isfinite(population.values).sum())
            count = min(int(self.config.population * ratio), feasible)
            if count < 1:
                population = self._fresh(problem, operators, dedup, rng)
                continue
            population = self._generation(problem, operators, dedup, population, count, rng)
            ratio *= self.config.parents_decay

    def _fresh(
        self, problem: Problem, operators: GammaOperators, dedup: Dedup, rng: np.random.Generator
    ) -> _Population:
        actions, two = operators.create(self.config.population, 2, rng)
        dedup.fresh(actions)
        return _Population(actions, two, problem.evaluate(actions).values)

    def _generation(
        self,
        problem: Problem,
        operators: GammaOperators,
        dedup: Dedup,
        population: _Population,
        parents: int,
        rng: np.random.Generator,
    ) -> _Population:
        """Select, breed, evaluate; the best few are carried over."""
        ranked = population.take(_unique_ranked(population)[: self.config.population])
        elites = ranked.take(
            np.arange(min(parents, round(self.config.population * self.config.elites)))
        )
        chosen = (ranked.actions[:parents], ranked.two[:parents])
        actions, two = self._breed(operators, chosen, self.config.population, rng)
        if not self.config.repeats:
            old = np.flatnonzero(~dedup.fresh(actions))
            for _ in range(8):
                if len(old) == 0:
                    break
                actions[old], two[old] = self._breed(operators, chosen, len(old), rng)
                old = old[~dedup.fresh(actions[old])]
        values = problem.evaluate(actions).values
        return _Population(
            np.concatenate([elites.actions, actions]),
            np.concatenate([elites.two, two]),
            np.concatenate([elites.values, values]),
        )

    def _breed(
        self,
        operators: GammaOperators,
        parents: tuple[IntArray, NDArray[np.bool_]],
        count: int,
        rng: np.random.Generator,
    ) -> tuple[IntArray, NDArray[np.bool_]]:
        """The operators in the order of GAMMA's `run`."""
        config = self.config
        actions, two = operators.crossover_tiles(parents, count, rng, config.crossover)
        operators.reorder(actions, rng, config.reorder)
        operators.mutate_genes(actions, two, rng, config.tile, config.tile_times)
        operators.mutate_pes(actions, rng, config.pes)
        operators.swap_parallel(actions, rng, config.swap_parallel)
        operators.grow(actions, two, rng, config.grow)
        if config.min_levels == 1 and operators.one_level:
            operators.age(actions, two, rng, config.age)
        return operators.repaired(actions, two), two


def _unique_ranked(population: _Population) -> NDArray[np.int64]:
    """Rows of different genomes, best first."""
    _, first = np.unique(population.actions, axis=0, return_index=True)
    first = np.sort(first)
    return first[np.argsort(population.values[first], kind="stable")]
