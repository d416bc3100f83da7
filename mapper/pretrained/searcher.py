"""Zero-shot: trained agents propose, and local search improves the best of their proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baselines import BaseSearcher, SearcherError
from maestro_env import Problem
from mapper.pretrained.cases import doubts_of
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.weights import Agents, agents_of

ROUND = 1024
"""Samples at a time where there is no budget."""


@dataclass(frozen=True)
class ZeroShotConfig:
    """Options of :class:`ZeroShot`.

    Args:
        pretrained: ``"auto"`` for the agents that come with the package, or a file that
            ``mapper pretrain`` wrote.
    """

    pretrained: str = "auto"


class ZeroShot(BaseSearcher):
    """Proposals of agents trained on other layers and chips, and local search from the best."""

    name = "zero-shot"
    source = "policies trained over random layers and chips; see docs/pretrained.md"
    Config = ZeroShotConfig
    config: ZeroShotConfig

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the agents were not trained for."""
        return doubts_of(self._agents(), problem)

    def _agents(self) -> Agents:
        """The agents.

        Raises:
            SearcherError: There are none.
        """
        agents = agents_of(self.config.pretrained)
        if agents is None:
            raise SearcherError(
                f"searcher {self.name!r}: there are no trained agents; give pretrained=FILE of "
                "`mapper pretrain`"
            )
        return agents

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        search = search_from(self._agents().weights, problem, rng)
        while problem.remaining != 0:
            for _ in search.batches(problem.remaining or ROUND):
                pass
