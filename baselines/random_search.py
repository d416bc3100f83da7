"""Random search: independent uniform samples, the yardstick of all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_positive
from baselines.searcher import BaseSearcher, Capabilities
from maestro_env import Problem


@dataclass(frozen=True)
class RandomConfig:
    """Options of :class:`RandomSearch`.

    Args:
        batch: Samples a call to the cost model.
    """

    batch: int = 1024

    def __post_init__(self) -> None:
        check_positive(batch=self.batch)


class RandomSearch(BaseSearcher):
    """Uniform actions, drawn independently."""

    name = "random"
    source = "Bergstra and Bengio, Random search for hyper-parameter optimization, JMLR 2012"
    Config = RandomConfig
    config: RandomConfig
    capabilities = Capabilities(guided=False)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        while True:
            problem.evaluate(problem.space.sample(self.config.batch, rng))
