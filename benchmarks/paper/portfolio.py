"""Controls beside marl: a genetic algorithm that begins with the trained agents' proposals.

They are methods as ``module:Class``, like any searcher of one's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.dedup import Dedup
from baselines.ga import GAConfig, GeneticAlgorithm, _Generations
from maestro_env import BudgetExhausted, Problem
from mapper.pretrained.searcher import ZeroShot


class Portfolio(GeneticAlgorithm):
    """16 samples of zero-shot, then a genetic algorithm that knows nothing of them."""

    name = "portfolio"
    source = "zero-shot, then ga"
    proposed = 16

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        propose(problem, rng, self.proposed)
        super()._run(problem, rng)


class SeededGa(GeneticAlgorithm):
    """A genetic algorithm whose first parents compete with the 32 proposals that marl begins with.

    Every proposal is a sample like any other.
    """

    name = "ga-seeded"
    source = "ga, with zero-shot's samples among the first parents"
    proposed = 32
    config: GAConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        generations = _Seeded(problem, self.config, rng, Dedup(problem), None)
        generations.given = propose(problem, rng, self.proposed)
        generations.run()


class _Seeded(_Generations):
    """Generations whose first parents are joined by given mappings."""

    given: tuple[np.ndarray, np.ndarray]

    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        self.actions, self.values = super()._start()
        actions, values = self.given
        if len(values):
            self._join(actions, values)
            self.given = actions[:0], values[:0]
        return self.actions, self.values


def propose(
    problem: Problem, rng: np.random.Generator, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Spend the first samples on zero-shot's; their actions and values."""
    actions: list[np.ndarray] = []
    values: list[np.ndarray] = []
    budget, outer = problem.budget, problem.on_evaluate

    def keep(batch: np.ndarray, evaluation: Any) -> None:
        actions.append(np.array(batch))
        values.append(np.array(evaluation.values))
        if outer is not None:
            outer(batch, evaluation)

    problem.on_evaluate = keep
    problem.extend(min(count, count if budget is None else budget))
    try:
        ZeroShot()._run(problem, rng)
    except BudgetExhausted:
        if budget is not None and problem.samples >= budget:
            raise
    finally:
        problem.on_evaluate = outer
        problem.budget = budget
    return np.concatenate(actions), np.concatenate(values)
