"""The MARL mapper as a searcher."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from baselines import BaseSearcher, Capabilities, SearcherError, require
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
        require("torch", self.name, "rl")
        assignment = self.assignment(problem, int(rng.integers(2**31)))
        if self.config.learner == "rllib":
            if find_spec("ray") is None:
                raise SearcherError(
                    "learner 'rllib' needs the package ray; "
                    "install it with: pip install 'marl-mapper[rllib]'"
                )
            from mapper.marl.rllib import search

            search(problem, assignment, self.config, rng)
            return
        from mapper.marl.batched import BatchedLearner

        BatchedLearner(problem, assignment, self.config, rng).run()

    def assignment(self, problem: Problem, seed: int = 0) -> Assignment:
        """The agents of a problem under this config.

        With a dataset, `config.dataset` samples of the problem are taken first, which count
        against its budget if the config says so.

        Args:
            problem: What will be searched.
            seed: Seed of the dataset.
        """
        from mapper.clustering import cluster, collect, correlate
        from mapper.marl.agents import resolve

        config = self.config
        if config.shared_policy and (agents := self._shared_agents(problem)) is not None:
            return agents
        if not config.dataset or config.agents not in ("auto", None):
            return resolve(config.agents, problem)
        data = collect(problem, "random", config.dataset, seed)
        if config.count_dataset:
            problem.evaluate(data.actions)
        data = data.choosing(problem.space.nvec > 1)
        return cluster(correlate(data.best(), data.names, data.categorical)).assign()

    def _shared_agents(self, problem: Problem) -> Assignment | None:
        from mapper.marl.agents import choosing
        from mapper.marl.policy_transfer import assignment_of

        agents = assignment_of(self.config.shared_policy)
        return None if agents is None else agents.fit(choosing(problem))
