"""Cross-entropy method: one categorical distribution a parameter, drawn towards the elites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.searcher import BaseSearcher
from maestro_env import Problem
from marl_common import IntArray


@dataclass(frozen=True)
class CrossEntropyConfig:
    """Options of :class:`CrossEntropy`.

    Args:
        population: Samples a generation.
        elites: Share of the best samples that the distributions move towards.
        memory: Best samples of earlier generations that stay among the elites.
        rate: How far they move a generation, 1 = all the way.
        floor: Probability kept for every choice together, so that none dies out.
        patience: Generations without improvement before the distributions start anew.
    """

    population: int = 200
    elites: float = 0.1
    memory: int = 10
    rate: float = 0.3
    floor: float = 0.05
    patience: int = 20

    def __post_init__(self) -> None:
        check_fields(
            self, ("population", "elites", "rate", "patience"), ("elites", "rate", "floor")
        )


class CrossEntropy(BaseSearcher):
    """Factored categorical distributions, fitted to the best samples."""

    name = "cross-entropy"
    source = "Rubinstein and Kroese, The Cross-Entropy Method, Springer 2004"
    Config = CrossEntropyConfig
    config: CrossEntropyConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        while True:
            self._epoch(problem, rng)

    def _epoch(self, problem: Problem, rng: np.random.Generator) -> None:
        config, nvec = self.config, problem.space.nvec
        legal = np.arange(nvec.max()) < nvec[:, None]
        uniform = legal / nvec[:, None]
        law = uniform.copy()
        elite = np.empty((0, len(nvec)), np.int64)
        elite_values = np.empty(0)
        best, stale = np.inf, 0
        count = max(1, round(config.elites * config.population))
        while stale < config.patience:
            mixed = (1 - config.floor) * law + config.floor * uniform
            actions = problem.space.canonical(_draw(mixed, config.population, rng))
            values = problem.evaluate(actions).values
            kept = slice(0, config.memory)
            actions = np.concatenate([elite[kept], actions])
            values = np.concatenate([elite_values[kept], values])
            order = np.argsort(values, kind="stable")[:count]
            order = order[np.isfinite(values[order])]
            elite, elite_values = actions[order], values[order]
            if len(order):
                often = (elite[:, :, None] == np.arange(legal.shape[1])).mean(axis=0)
                law = (1 - config.rate) * law + config.rate * often
            improved = len(order) > 0 and values[order[0]] < best
            best = min(best, values[order[0]]) if len(order) else best
            stale = 0 if improved else stale + 1


def _draw(law: np.ndarray, count: int, rng: np.random.Generator) -> IntArray:
    """``(count, P)`` actions from ``(P, n)`` probabilities."""
    edges = np.cumsum(law, axis=1)
    edges /= edges[:, -1:]
    draws = rng.random((count, len(law)))
    return np.asarray((draws[:, :, None] >= edges[None]).sum(axis=2), dtype=np.int64)
