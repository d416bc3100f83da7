"""The MARL mapper as a searcher."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from baselines.searcher import BaseSearcher, Capabilities, SearcherError
from maestro_env import Problem
from mapper.clustering import Assignment
from mapper.marl.config import MarlConfig


class Marl(BaseSearcher):
    """Decentralised PPO, one agent a parameter or a cluster of correlated ones."""

    name = "marl"
    source = "decentralised PPO (Schulman et al. 2017; de Witt et al. 2020), agents by correlation"
    Config = MarlConfig
    capabilities = Capabilities(extra="rl")
    config: MarlConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        if find_spec("torch") is None:
            raise SearcherError(
                "searcher 'marl' needs the package torch; "
                "install it with: pip install 'marl-mapper[rl]'"
            )
        from mapper.marl.batched import BatchedLearner

        BatchedLearner(problem, self.assignment(problem), self.config, rng).run()

    def assignment(self, problem: Problem) -> Assignment:
        """The agents of a problem under this config."""
        from mapper.marl.agents import resolve

        return resolve(self.config.agents, problem)
