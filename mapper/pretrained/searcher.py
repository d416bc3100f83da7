"""Zero-shot: trained agents propose, and the best of their proposals are varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from baselines import BaseSearcher, Capabilities, SearcherError
from maestro_env import Problem
from mapper.pretrained.cases import doubts_of

if TYPE_CHECKING:
    from mapper.pretrained.weights import Agents

BATCH = 128
IDLE_ROUNDS = 4
"""Rounds without a new mapping after which the agents have nothing more to say."""


@dataclass(frozen=True)
class ZeroShotConfig:
    """Options of :class:`ZeroShot`.

    Args:
        pretrained: ``"auto"`` for the agents that come with the package, or a file that
            ``mapper pretrain`` wrote.
        varied: Half of the samples are variations of those that proved best; without, all are
            proposals.
    """

    pretrained: str = "auto"
    varied: bool = True


class ZeroShot(BaseSearcher):
    """Proposals of agents that were trained on other layers and chips; nothing is learnt."""

    name = "zero-shot"
    source = "policies trained over random layers and chips; see docs/pretrained.md"
    Config = ZeroShotConfig
    config: ZeroShotConfig
    capabilities = Capabilities(any_depth=False)

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the agents were not trained for."""
        self.check_depth(problem)
        self._agents(problem)
        return doubts_of(self.config.pretrained, problem)

    def _agents(self, problem: Problem) -> Agents:
        """The agents.

        Raises:
            SearcherError: There are none.
        """
        from mapper.pretrained.weights import agents_of

        agents = agents_of(self.config.pretrained, problem.cost_model.name)
        if agents is None:
            raise SearcherError(
                f"searcher {self.name!r}: there are no trained agents; give pretrained=FILE of "
                "`mapper pretrain`"
            )
        return agents

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        from mapper.pretrained.trials import Trials

        trials = Trials(self._agents(problem), [problem], rng, varied=self.config.varied)
        idle = 0
        while idle < IDLE_ROUNDS:
            left = BATCH if problem.remaining is None else min(BATCH, problem.remaining)
            (values,) = trials.run(max(left, 1))
            idle = 0 if len(values) else idle + 1
        while True:  # the agents have nothing more to say: uniform choices fill up the budget
            problem.evaluate(problem.space.sample(BATCH, rng))
