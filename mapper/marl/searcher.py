"""The MARL mapper as a searcher, with the learner in this process and with the one on RLlib."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from baselines import BaseSearcher, Capabilities, SearcherError, require
from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from mapper.marl.agents import assigned, choosing
from mapper.marl.config import MarlConfig
from mapper.marl.rllib_config import RllibConfig


class Marl(BaseSearcher):
    """Agents that own groups of correlated parameters search from elites; PPO on request."""

    name = "marl"
    source = "decentralised PPO (Schulman et al. 2017; de Witt et al. 2020), agents by correlation"
    Config = MarlConfig
    capabilities = Capabilities(extra="rl")
    config: MarlConfig

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.config.learner == "rllib":
            RllibConfig.of(self.config)  # says now which options that learner does not have

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the pre-trained agents were not trained for."""
        from mapper.pretrained.cases import doubts_of
        from mapper.pretrained.weights import agents_of

        config = self.config
        begins = config.mode == "search" and not config.warm_start and config.learner == "batched"
        return doubts_of(agents_of(config.pretrained), problem) if begins else ()

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("torch", self.name, "rl")
        if _evaluated_alone(problem, rng):
            return
        if self.config.learner == "rllib":
            _on_rllib(problem, RllibConfig.of(self.config), rng)
            return
        assignment = self.assignment(problem, int(rng.integers(2**31)))
        if self.config.mode == "paper":
            from mapper.marl.paper import PaperLearner

            PaperLearner(problem, assignment, self.config, rng).run()
            return
        from mapper.marl.batched import BatchedLearner

        BatchedLearner(problem, assignment, self.config, rng).run()

    def assignment(self, problem: Problem, seed: int = 0) -> Assignment:
        """The agents of a problem under this config, see :func:`~mapper.marl.agents.assigned`.

        Args:
            problem: What will be searched.
            seed: Seed of the dataset.
        """
        config = self.config
        if config.shared_policy and (agents := self._shared_agents(problem)) is not None:
            return agents
        return assigned(config.agents, problem, config.dataset, config.count_dataset, seed)

    def _shared_agents(self, problem: Problem) -> Assignment | None:
        from mapper.marl.policy_transfer import assignment_of

        agents = assignment_of(self.config.shared_policy)
        return None if agents is None else agents.fit(choosing(problem))


class MarlRllib(BaseSearcher):
    """Decentralised PPO by RLlib, without elites, moves and surrogate."""

    name = "marl-rllib"
    source = "decentralised PPO (Schulman et al. 2017; de Witt et al. 2020); RLlib"
    Config = RllibConfig
    capabilities = Capabilities(batch=False, extra="rllib", warm_up=70, on_request=True)
    config: RllibConfig

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        if not _evaluated_alone(problem, rng):
            _on_rllib(problem, self.config, rng)


def _evaluated_alone(problem: Problem, rng: np.random.Generator) -> bool:
    """Evaluate the mapping of a space of one, in which agents have nothing to choose."""
    if problem.space.size != 1:
        return False
    problem.evaluate(problem.space.sample(1, rng))
    return True


def _on_rllib(problem: Problem, config: RllibConfig, rng: np.random.Generator) -> None:
    for package in ("ray", "torch"):
        if find_spec(package) is None:
            raise SearcherError(
                f"learner 'rllib' needs the package {package}; "
                "install it with: pip install 'marl-mapper[rllib]'"
            )
    from mapper.marl.rllib import search

    seed = int(rng.integers(2**31))
    assignment = assigned(config.agents, problem, config.dataset, config.count_dataset, seed)
    search(problem, assignment, config, rng)
