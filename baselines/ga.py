"""A genetic algorithm on actions, tuned for budgets of thousands of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.initial_population import inner_tiles, sampled, scattered
from baselines.operators import Moves
from baselines.screening import Screening, screening_of
from baselines.searcher import BaseSearcher
from cost_models import Chain
from maestro_env import Problem
from marl_common import FloatArray, IntArray

TOGETHER = 75
"""Children bred at least at a time on a list of levels: fewer take as long. Of two levels as many
as are missing, so that searches of earlier versions are the same."""


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
        unit_tiles: Share of the random parents whose inner tiles are all the smallest.
        screened: Whether a surrogate picks the children of the first 2,000 samples, as marl's picks
            its worlds, after a first population as small as marl's.
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
    unit_tiles: float = 0.5
    screened: bool = False

    def __post_init__(self) -> None:
        check_fields(
            self,
            ("population", "offspring", "tournament", "rate", "patience"),
            ("crossover", "far", "exchange", "start_share", "unit_tiles"),
        )


class GeneticAlgorithm(BaseSearcher):
    """Parents and children compete for places; no mapping is asked for twice."""

    name = "ga"
    source = "Holland, Adaptation in Natural and Artificial Systems, 1975; (mu + lambda) selection"
    Config = GAConfig
    config: GAConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        dedup = Dedup(problem)
        with screening_of(problem, dedup, self.name, self.config.screened) as screening:
            _Generations(problem, self.config, rng, dedup, screening).run()


class _Generations:
    """One search; its parents are sorted, best first."""

    def __init__(
        self,
        problem: Problem,
        config: GAConfig,
        rng: np.random.Generator,
        dedup: Dedup,
        screening: Screening | None,
    ) -> None:
        self.problem, self.config, self.rng = problem, config, rng
        self.moves, self.dedup, self.screening = Moves(problem.space), dedup, screening
        self.inner_tiles = inner_tiles(problem.space)
        self.chain = isinstance(problem.accelerator, Chain)
        self.actions: IntArray = np.empty((0, len(problem.space.nvec)), np.int64)
        self.values: FloatArray = np.empty(0)

    def run(self) -> None:
        """Search in epochs, until the budget is used up."""
        while True:
            best = self.actions[:1], self.values[:1]
            self.actions, self.values = self._start()
            if self.config.carry:
                self._join(*best)
            self._epoch()

    def _start(self) -> tuple[IntArray, FloatArray]:
        """Random parents: draws until enough are feasible, or a share of the budget is used up."""
        count = self.config.population
        if self.screening is not None and not len(self.actions):
            count = self.screening.START

        def draw() -> IntArray:
            return self.dedup.fill(self._scattered, count, self._scattered)

        return sampled(self._evaluate, draw, count, count / 5, self._limit())

    def _limit(self) -> float:
        """Samples that the search for a feasible start may spend."""
        remaining = self.problem.remaining
        return np.inf if remaining is None else self.config.start_share * remaining

    def _evaluate(self, actions: IntArray) -> FloatArray:
        evaluation = self.problem.evaluate(actions)
        if self.screening is not None:
            self.screening.learn(evaluation.mappings, evaluation.values)
        return evaluation.values

    def _scattered(self, count: int) -> IntArray:
        nvec, share = self.problem.space.nvec, self.config.unit_tiles
        return scattered(nvec, self.inner_tiles, count, self.rng, share)

    def _join(self, actions: IntArray, values: FloatArray) -> None:
        """Compete for places among the parents; the older one wins a tie."""
        every = np.concatenate([self.values, values])
        best = np.argsort(every, kind="stable")[: self.config.population]
        self.actions = np.concatenate([self.actions, actions])[best]
        self.values = every[best]

    def _epoch(self) -> None:
        """Generations until the best of this population has not improved for `patience` of them."""
        stale, best = 0, self.values[0]
        while stale < self.config.patience * self.config.offspring:
            children = self._children()
            self._join(children, self._evaluate(children))
            stale = 0 if self.values[0] < best else stale + len(children)
            best = self.values[0]

    def _children(self) -> IntArray:
        """A generation that was not asked for yet; a small one while a surrogate picks it."""
        found = self._chosen()
        return self.problem.space.canonical(found) if self.chain else found

    def _chosen(self) -> IntArray:
        if self.screening is not None and self.screening.ready:
            candidates = self._breed(self.screening.CANDIDATES)
            rows = self.screening.pick(self.problem.space.decode(candidates), self.rng)
            if len(rows):
                return candidates[rows]
        least = TOGETHER if self.chain else 1
        return self.dedup.fill(self._breed, self.config.offspring, self._scattered, least)

    def _breed(self, count: int) -> IntArray:
        """Children of tournament winners; on two levels as canonical actions."""
        config, rng = self.config, self.rng
        first, second = self._winners(count), self._winners(count)
        crossed = self.moves.crossover(first, second, rng)
        children = np.where((rng.random(count) < config.crossover)[:, None], crossed, first)
        mutated = self.moves.mutate(children, rng, config.rate, config.far)
        children = np.where((rng.random(count) < 0.9)[:, None], mutated, children)
        exchanged = self.moves.exchange(children, rng)
        children = np.where((rng.random(count) < config.exchange)[:, None], exchanged, children)
        return children if self.chain else self.problem.space.canonical(children)

    def _winners(self, count: int) -> IntArray:
        draws = self.rng.integers(0, len(self.actions), (count, self.config.tournament))
        rows: IntArray = draws.min(axis=1)
        return self.actions[rows]
