"""A genetic algorithm on actions, tuned for budgets of thousands of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.dedup import Dedup
from baselines.operators import Moves
from baselines.searcher import BaseSearcher, positive, share
from maestro_env import Problem
from maestro_env.evaluation import FloatArray
from maestro_env.map_space import IntArray


@dataclass(frozen=True)
class GAConfig:
    """Options of :class:`GeneticAlgorithm`.

    Args:
        population: Parents kept from one generation to the next.
        offspring: Children a generation.
        tournament: Parents are the best of so many draws.
        crossover: Share of children with two parents.
        rate: Parameters mutated a child, on average.
        far: Share of mutations that jump anywhere instead of to a near choice.
        exchange: Share of children that also get a move of two parameters at once.
        patience: Generations without improvement before all but the best are drawn anew.
        carry: Whether a restart keeps the best; without it the new parents search on their own.
        start_share: Most of the budget that the search for a feasible start may spend.
    """

    population: int = 150
    offspring: int = 150
    tournament: int = 2
    crossover: float = 0.5
    rate: float = 1.5
    far: float = 0.35
    exchange: float = 0.5
    patience: int = 25
    start_share: float = 0.1
    carry: bool = False

    def __post_init__(self) -> None:
        positive(
            population=self.population,
            offspring=self.offspring,
            tournament=self.tournament,
            rate=self.rate,
            patience=self.patience,
        )
        share(
            crossover=self.crossover,
            far=self.far,
            exchange=self.exchange,
            start_share=self.start_share,
        )


class GeneticAlgorithm(BaseSearcher):
    """Parents and children compete for places; no mapping is asked for twice."""

    name = "ga"
    source = "Holland, Adaptation in Natural and Artificial Systems, 1975; (mu + lambda) selection"
    Config = GAConfig
    config: GAConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        moves, dedup = Moves(problem.space), Dedup(problem)
        actions, values = self._start(problem, rng, dedup)
        while True:
            actions, values = self._epoch(problem, rng, moves, dedup, actions, values)
            best = actions[:1], values[:1]
            actions, values = self._start(problem, rng, dedup)
            if self.config.carry:
                actions = np.concatenate([best[0], actions])
                values = np.concatenate([best[1], values])

    def _start(
        self, problem: Problem, rng: np.random.Generator, dedup: Dedup
    ) -> tuple[IntArray, FloatArray]:
        """Random parents: draws until enough are feasible, or a share of the budget is used up."""
        config, space = self.config, problem.space
        limit = np.inf if problem.remaining is None else config.start_share * problem.remaining
        actions, values = np.empty((0, len(space.nvec)), np.int64), np.empty(0)
        while True:
            drawn = dedup.fill(
                lambda n: space.sample(n, rng), config.population, lambda n: space.sample(n, rng)
            )
            actions = np.concatenate([actions, drawn])
            values = np.concatenate([values, problem.evaluate(drawn).values])
            enough = np.isfinite(values).sum() >= config.population / 5
            if enough or len(values) >= limit:
                return self._select(actions, values)

    def _select(self, actions: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
        order = np.argsort(values, kind="stable")[: self.config.population]
        return actions[order], values[order]

    def _epoch(
        self,
        problem: Problem,
        rng: np.random.Generator,
        moves: Moves,
        dedup: Dedup,
        actions: IntArray,
        values: FloatArray,
    ) -> tuple[IntArray, FloatArray]:
        """Generations until the best of this population has not improved for `patience` of them."""
        stale, best = 0, values[0]
        while stale < self.config.patience:
            parents = actions

            def breed(count: int, parents: IntArray = parents) -> IntArray:
                return self._breed(problem, rng, moves, parents, count)

            children = dedup.fill(
                breed, self.config.offspring, lambda n: problem.space.sample(n, rng)
            )
            found = problem.evaluate(children).values
            actions, values = self._select(
                np.concatenate([actions, children]), np.concatenate([values, found])
            )
            stale = 0 if values[0] < best else stale + 1
            best = values[0]
        return actions, values

    def _breed(
        self,
        problem: Problem,
        rng: np.random.Generator,
        moves: Moves,
        actions: IntArray,
        count: int,
    ) -> IntArray:
        """Children of tournament winners (rows of `actions` are sorted, best first)."""
        config = self.config
        first = actions[rng.integers(0, len(actions), (count, config.tournament)).min(axis=1)]
        second = actions[rng.integers(0, len(actions), (count, config.tournament)).min(axis=1)]
        crossed = moves.crossover(first, second, rng)
        children = np.where((rng.random(count) < config.crossover)[:, None], crossed, first)
        mutated = moves.mutate(children, rng, config.rate, config.far)
        children = np.where((rng.random(count) < 0.9)[:, None], mutated, children)
        exchanged = moves.exchange(children, rng)
        children = np.where((rng.random(count) < config.exchange)[:, None], exchanged, children)
        return problem.space.canonical(children)
