"""The default method: a proof where the model has bounds, or else the search that suits it."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass, replace
from typing import Any

import baselines
from baselines import Optimal, OptimalConfig, SearchResult
from cost_models import Chain
from maestro_env import Problem
from mapper.pretrained.weights import NONE
from mapper.search.watching import Ends, watched

TRIED = 64
"""Samples of the trained agents for a first value."""
DEEP_BOXES = 150_000_000
"""Boxes after which a proof on a chip that is a list of levels ends, about a minute: so that a seed
has one answer on any machine."""
SLOW = 1e-3
"""Time of a sample [s] from which on the number of samples is what counts."""
TIMED = 16
"""Samples by which a model is timed."""


@dataclass(frozen=True)
class AutoConfig(OptimalConfig):
    """Options of :class:`Auto`: those of a proof, and one for models without bounds.

    Args:
        seconds: On a model that takes thousands of mappings a second, wall time of the search [s];
            0 leaves it to the budget.
        pretrained: Agents that find the first value (docs/pretrained.md): ``"auto"`` for
            those that come with the package, ``"none"``, or a file of ``mapper pretrain``.
    """

    seconds: float = 5.0
    pretrained: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.seconds >= 0:
            raise ValueError(f"seconds: got {self.seconds!r}, expected at least 0")


class Auto(Optimal):
    """A first value and a proof; on a model without bounds `ga` for a time, or `marl`.

    On a chip that is a list of levels a proof ends after a number of boxes, about a minute, or
    after `timeout`; where there are no bounds it is `marl` for a time, whose agents know such
    chips.

    The first value is that of `zero-shot` where its agents know such problems, else that of `ga`.
    """

    name = "auto"
    source = "the method optimal; elsewhere ga or marl"
    Config = AutoConfig
    config: AutoConfig
    capabilities = replace(Optimal.capabilities, any_depth=True)

    def search(
        self, problem: Problem, budget: int, seed: int, recorded: tuple[Any, Any] | None = None
    ) -> SearchResult:
        """See :meth:`Searcher.search`."""
        deep = isinstance(problem.accelerator, Chain)
        if baselines.can_prove(problem) is None:
            self.most_boxes = DEEP_BOXES if deep and self.config.timeout is None else None
            return super().search(problem, budget, seed, recorded)
        method, given = baselines.load("ga"), self.config.pretrained
        if importlib.util.find_spec("torch") is not None:
            if not deep and _slow(problem):
                return baselines.load("marl").search(problem, budget, seed, recorded)
            if deep and given != NONE:
                method = baselines.load("marl", pretrained=given)
        with watched(problem, Ends(timeout=self.config.seconds or None)):
            return method.search(problem, budget, seed, recorded)

    def _first_value(
        self, problem: Problem, samples: int, seed: int, recorded: tuple[Any, Any] | None
    ) -> None:
        given = self.config.pretrained
        if samples < TRIED or not knows(problem, given):
            super()._first_value(problem, samples, seed, recorded)
            return
        agents = baselines.load("zero-shot", pretrained=given)
        found = agents.search(problem, TRIED, seed, recorded)
        if found.mapping is None:
            super()._first_value(problem, samples, seed, recorded)


def knows(problem: Problem, pretrained: str) -> bool:
    """Whether there are agents that were trained on such problems.

    Raises:
        PretrainedError: `pretrained` is no file of agents.
    """
    from mapper.pretrained.cases import outside_training
    from mapper.pretrained.weights import agents_of

    return agents_of(pretrained) is not None and not outside_training(problem)


def _slow(problem: Problem) -> bool:
    """Whether a sample of this model takes so long that the number of samples is what counts."""
    actions = problem.space.sample(TIMED, 0)
    problem.look(actions[:1])  # imports
    began = time.perf_counter()
    problem.look(actions)
    return (time.perf_counter() - began) / TIMED > SLOW
