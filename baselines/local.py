"""Local search: go to the best neighbour until there is none, then start elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.initial_population import feasible_start
from baselines.operators import Moves
from baselines.searcher import BaseSearcher
from maestro_env import Problem
from marl_common import IntArray


@dataclass(frozen=True)
class LocalConfig:
    """Options of :class:`LocalSearch`.

    Args:
        starts: Random samples of which a descent takes the best as its start.
        kick: Share of restarts at the best mapping with some parameters changed; the others are at
            random places.
        kicked: Parameters changed by a kick, on average.
    """

    starts: int = 64
    kick: float = 0.7
    kicked: float = 3.0

    def __post_init__(self) -> None:
        check_fields(self, ("starts", "kicked"), ("kick",))


class LocalSearch(BaseSearcher):
    """Steepest descent over all neighbours of a mapping, with restarts."""

    name = "local"
    source = "steepest descent with restarts; kicks as in Lourenco et al., Iterated local search"
    Config = LocalConfig
    config: LocalConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        moves = Moves(problem.space)
        action, value = self._first(problem, rng, 0.2)
        while True:
            self._descend(problem, moves, action, value)
            if problem.best_action is not None and rng.random() < self.config.kick:
                action = moves.mutate(problem.best_action[None], rng, self.config.kicked, 0.3)[0]
                value = float(problem.evaluate(action[None]).values[0])
            else:
                action, value = self._first(problem, rng, 0.05)

    def _first(
        self, problem: Problem, rng: np.random.Generator, share: float
    ) -> tuple[IntArray, float]:
        """Where a descent begins, and its value; at most a share of the budget is spent on it."""
        actions, values = feasible_start(problem, rng, self.config.starts, share)
        return actions[0], float(values[0])

    def _descend(self, problem: Problem, moves: Moves, action: IntArray, value: float) -> None:
        while True:
            around = moves.neighbours(action)
            if len(around) == 0:
                return
            found = problem.evaluate(around).values
            best = int(np.argmin(found))
            if not found[best] < value:
                return
            action, value = around[best], float(found[best])


class LocalFrom(LocalSearch):
    """The same from a mapping that is known; restarts are near the best alone.

    Args:
        action: ``(P,)`` action of that mapping.
    """

    def __init__(self, action: IntArray) -> None:
        super().__init__(kick=1.0)
        self._action = action

    def _first(
        self, problem: Problem, rng: np.random.Generator, share: float
    ) -> tuple[IntArray, float]:
        return self._action, float(problem.evaluate(self._action[None]).values[0])
