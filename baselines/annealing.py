"""Simulated annealing: chains that accept worse steps less and less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_positive, check_shares
from baselines.initial_population import feasible_start
from baselines.operators import Moves
from baselines.searcher import BaseSearcher
from maestro_env import Problem


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
    """

    chains: int = 10
    hot: float = 0.5
    cold: float = 0.005
    far: float = 0.2
    exchange: float = 0.3
    cycles: int = 2
    horizon: int = 20_000

    def __post_init__(self) -> None:
        check_positive(
            chains=self.chains,
            hot=self.hot,
            cold=self.cold,
            cycles=self.cycles,
            horizon=self.horizon,
        )
        check_shares(far=self.far, exchange=self.exchange)


class Annealing(BaseSearcher):
    """Metropolis steps on the logarithm of the objective, geometric cooling over the budget."""

    name = "annealing"
    source = "Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 1983"
    Config = AnnealingConfig
    config: AnnealingConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        config, moves = self.config, Moves(problem.space)
        actions, values = feasible_start(problem, rng, config.chains)
        remaining = problem.remaining
        steps = (config.horizon if remaining is None else remaining) // config.chains
        length = max(1, -(-steps // config.cycles))
        while True:
            for step in range(length):
                temperature = config.hot * (config.cold / config.hot) ** (step / length)
                candidates = self._propose(problem, moves, actions, rng)
                found = problem.evaluate(candidates).values
                accept = _accept(values, found, temperature, rng)
                actions = np.where(accept[:, None], candidates, actions)
                values = np.where(accept, found, values)
            if problem.best_action is not None:
                actions = np.tile(problem.best_action, (config.chains, 1))
                values = np.full(config.chains, problem.best_value)

    def _propose(
        self, problem: Problem, moves: Moves, actions: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        single = moves.mutate(actions, rng, rate=0.0, far=self.config.far)
        double = moves.exchange(actions, rng)
        pick = rng.random(len(actions)) < self.config.exchange
        return problem.space.canonical(np.where(pick[:, None], double, single))


def _accept(
    values: np.ndarray, found: np.ndarray, temperature: float, rng: np.random.Generator
) -> np.ndarray:
    """Metropolis' rule; a chain at an infeasible place takes any step."""
    rise = np.full(len(values), -np.inf)
    feasible = np.isfinite(values)
    rise[feasible] = np.log(found[feasible]) - np.log(values[feasible])
    draws = rng.random(len(values))
    return np.asarray(draws < np.exp(-np.maximum(rise, 0.0) / temperature))
