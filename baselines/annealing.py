"""Simulated annealing: chains that accept worse steps less and less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.initial_population import feasible_start, inner_tiles, sampled, scattered
from baselines.operators import Moves
from baselines.screening import Screening, screening_of
from baselines.searcher import BaseSearcher
from maestro_env import Problem
from marl_common import FloatArray, IntArray

UNIT_TILES = 0.5
"""Share of a screened search's first mappings whose inner tiles are all the smallest."""
SHARE = 0.2
"""Most of the budget that its search for a feasible start may spend."""


@dataclass(frozen=True)
class AnnealingConfig:
    """Options of :class:`Annealing`.

    Args:
        chains: Chains side by side; the samples of one call.
        hot: First temperature, in units of the logarithm of the objective.
        cold: Last temperature.
        far: Share of steps of an ordinal parameter that jump anywhere.
        exchange: Share of steps that move two parameters at once.
        cycles: How often the temperature falls; each cycle but the first starts from the best.
        horizon: Samples over which to cool where there is no budget.
        screened: Whether a surrogate picks the steps of the first 2,000 samples, as marl's picks
            its worlds, after a first population like marl's.
    """

    chains: int = 10
    hot: float = 0.5
    cold: float = 0.005
    far: float = 0.2
    exchange: float = 0.3
    cycles: int = 2
    horizon: int = 20_000
    screened: bool = False

    def __post_init__(self) -> None:
        check_fields(self, ("chains", "hot", "cold", "cycles", "horizon"), ("far", "exchange"))


class Annealing(BaseSearcher):
    """Metropolis steps on the logarithm of the objective, geometric cooling over the budget."""

    name = "annealing"
    source = "Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 1983"
    Config = AnnealingConfig
    config: AnnealingConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        screened = self.config.screened
        with screening_of(problem, Dedup(problem), self.name, screened) as screening:
            _Chains(problem, self.config, rng, screening).run()


class _Chains:
    """The chains of one search."""

    def __init__(
        self,
        problem: Problem,
        config: AnnealingConfig,
        rng: np.random.Generator,
        screening: Screening | None,
    ) -> None:
        self.problem, self.config, self.rng = problem, config, rng
        self.moves, self.screening = Moves(problem.space), screening
        self.actions: IntArray
        self.values: FloatArray
        self.actions, self.values = self._start()

    def _start(self) -> tuple[IntArray, FloatArray]:
        """The best of uniform mappings; with a screening, of a population like marl's."""
        if self.screening is None:
            return feasible_start(self.problem, self.rng, self.config.chains)
        space, count = self.problem.space, self.screening.START

        def draw() -> IntArray:
            return scattered(space.nvec, inner_tiles(space), count, self.rng, UNIT_TILES)

        return sampled(self._evaluate, draw, self.config.chains, 1, SHARE * self._budget())

    def _budget(self) -> int:
        remaining = self.problem.remaining
        return self.config.horizon if remaining is None else remaining

    def _evaluate(self, actions: IntArray) -> FloatArray:
        evaluation = self.problem.evaluate(actions)
        if self.screening is not None:
            self.screening.learn(evaluation.mappings, evaluation.values)
        return evaluation.values

    def run(self) -> None:
        """Cool, again and again from the best, until the budget is used up."""
        config, chains = self.config, len(self.values)
        length = max(1, -(-(self._budget() // chains) // config.cycles))
        while True:
            step = 0.0
            while step < length:
                temperature = config.hot * (config.cold / config.hot) ** (step / length)
                step += self._step(temperature) / chains
            if self.problem.best_action is not None:
                self.actions = np.tile(self.problem.best_action, (chains, 1))
                self.values = np.full(chains, self.problem.best_value)

    def _step(self, temperature: float) -> int:
        """A sample for every chain, or for those of the candidates picked; returns how many."""
        movers = np.arange(len(self.values))
        candidates = self._propose(self.actions)
        if self.screening is not None and self.screening.ready:
            movers, candidates = self._picked(self.screening)
        found = self._evaluate(candidates)
        accept = _accept(self.values[movers], found, temperature, self.rng)
        for row in np.flatnonzero(accept):
            self.actions[movers[row]], self.values[movers[row]] = candidates[row], found[row]
        return len(found)

    def _picked(self, screening: Screening) -> tuple[IntArray, IntArray]:
        """Chains and their candidates, those of many that the surrogate picks."""
        movers = np.arange(screening.CANDIDATES) % len(self.values)
        candidates = self._propose(self.actions[movers])
        rows = screening.pick(self.problem.space.decode(candidates), self.rng)
        if len(rows) == 0:
            rows = np.arange(len(self.values))
        return movers[rows], candidates[rows]

    def _propose(self, actions: IntArray) -> IntArray:
        single = self.moves.mutate(actions, self.rng, rate=0.0, far=self.config.far)
        double = self.moves.exchange(actions, self.rng)
        pick = self.rng.random(len(actions)) < self.config.exchange
        found: IntArray = self.problem.space.canonical(np.where(pick[:, None], double, single))
        return found


def _accept(
    values: np.ndarray, found: np.ndarray, temperature: float, rng: np.random.Generator
) -> np.ndarray:
    """Metropolis' rule; a chain at an infeasible place takes any step."""
    rise = np.full(len(values), -np.inf)
    feasible = np.isfinite(values)
    rise[feasible] = np.log(found[feasible]) - np.log(values[feasible])
    draws = rng.random(len(values))
    return np.asarray(draws < np.exp(-np.maximum(rise, 0.0) / temperature))
