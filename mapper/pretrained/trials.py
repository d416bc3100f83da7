"""Proposals and what became of them: the agents propose, and what proves best is varied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from maestro_env import Evaluation, Problem
from mapper.pretrained.best_first import drawn_with_care
from mapper.pretrained.bettering import bred
from mapper.pretrained.cases import case_of
from mapper.pretrained.judging import Judged, in_order, joined
from mapper.pretrained.mapping import LEAST, SPARE, different_actions
from mapper.pretrained.offering import offered_first
from mapper.pretrained.proposer import Int64Array, Proposer
from mapper.pretrained.rearranging import rearranged
from mapper.pretrained.tables import tabulate
from mapper.pretrained.weights import Agents

PROPOSED = 1 / 2
"""Share of the samples that proposals take; the others are variations of the best sampled."""
AT_A_TIME = 4
"""Variations evaluated before the next are bred."""
PARENTS, MATES = 2, 24
"""So many of the best sampled are varied, crossed with so many that the judge thinks best."""


class Trials:
    """Samples of some problems, as trained agents propose them and then better them.

    Half of the samples are proposals, the best expected first. The others are variations of those
    that proved best, a few at a time: many are bred, of which the judge picks, at first beside
    other arrangements of the PEs. So what the judge errs about is put right by what was evaluated.

    Args:
        agents: Trained agents.
        problems: The problems, all of which are sampled side by side.
        rng: Randomness.
        varied: Without, all samples are proposals.
        heard: Called with the actions and the evaluation of every few samples.
    """

    def __init__(
        self,
        agents: Agents,
        problems: Sequence[Problem],
        rng: np.random.Generator,
        *,
        varied: bool = True,
        heard: Callable[[Int64Array, Evaluation], None] | None = None,
    ) -> None:
        self.problems, self.rng, self.varied, self.heard = problems, rng, varied, heard
        self.proposer = Proposer(agents.weights, agents.sees)
        self.tables = tabulate([case_of(p.space, p.objective, p.cost_model) for p in problems])
        self._samples = [_Samples() for _ in problems]

    def run(self, count: int) -> list[NDArray[np.float64]]:
        """Evaluate up to `count` different mappings of each problem that were not sampled before.

        Returns:
            For each problem ``(n,)`` their values in order, ``n <= count``: fewer where the agents
            are so sure that no more came out.
        """
        before = [len(samples.values) for samples in self._samples]
        proposed = round(PROPOSED * count) if self.varied and count >= AT_A_TIME else count
        drawn = max(LEAST, SPARE * count)
        found = drawn_with_care(self.proposer, self.tables, drawn, self.rng)
        offered = self._evaluate(found, proposed)
        mates = found.take(np.concatenate([rows[:MATES] for rows in offered]))
        for done in range(proposed, count, AT_A_TIME):
            best = [samples.best for samples in self._samples if samples.best is not None]
            if best:
                better = bred(self.proposer, self.tables, joined(best), mates, self.rng)
                if done == proposed:
                    others = rearranged(self.proposer, self.tables, found, offered, self.rng)
                    better = joined([better, others])
                self._evaluate(better, min(AT_A_TIME, count - done))
        return [
            np.array(samples.values[known:])
            for samples, known in zip(self._samples, before, strict=True)
        ]

    def _evaluate(self, found: Judged, count: int) -> list[Int64Array]:
        """Evaluate up to `count` mappings of each problem that were not sampled before.

        Returns:
            The rows of each problem as they are offered.
        """
        offered = []
        for number, rows in enumerate(in_order(found, len(self.problems), again=False)):
            rows = offered_first(rows, found.expected, found.state, count)
            problem, samples = self.problems[number], self._samples[number]
            places, actions = different_actions(
                problem.space, found.proposals, rows, count, samples.seen, self.rng
            )
            if len(places):
                evaluation = problem.evaluate(actions)
                samples.add(found.take(places), evaluation.values)
                if self.heard is not None:
                    self.heard(actions, evaluation)
            offered.append(rows)
        return offered


class _Samples:
    """Values of a problem's samples in order, the actions, and the best of the mappings."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.seen: set[bytes] = set()
        self.best: Judged | None = None
        self._of_best = np.empty(0)

    def add(self, sampled: Judged, values: NDArray[np.float64]) -> None:
        """Take in more."""
        self.values += values.tolist()
        feasible = np.isfinite(values)
        better = sampled.take(feasible)
        both = better if self.best is None else joined([self.best, better])
        of_both = np.concatenate([self._of_best, values[feasible]])
        order = np.argsort(of_both, kind="stable")[:PARENTS]
        self.best, self._of_best = both.take(order), of_both[order]
