"""Random walk: one parameter changed a step, whatever it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.operators import Moves
from baselines.searcher import BaseSearcher, Capabilities
from maestro_env import Problem


@dataclass(frozen=True)
class RandomWalkConfig:
    """Options of :class:`RandomWalk`.

    Args:
        walkers: Walks side by side; the samples of one call.
        length: Steps of a walk before it starts anew at a random place.
    """

    walkers: int = 16
    length: int = 50

    def __post_init__(self) -> None:
        check_fields(self, ("walkers", "length"))


class RandomWalk(BaseSearcher):
    """Walkers that set one random parameter to a random other choice, blind to the objective."""

    name = "random-walk"
    source = "the random walker agent of Krishnan et al., ArchGym, ISCA 2023"
    Config = RandomWalkConfig
    config: RandomWalkConfig
    capabilities = Capabilities(guided=False)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        moves = Moves(problem.space)
        while True:
            actions = problem.space.sample(self.config.walkers, rng)
            problem.evaluate(actions)
            for _ in range(self.config.length - 1):
                actions = moves.mutate(actions, rng, rate=0.0, far=1.0)
                problem.evaluate(actions)
