"""From single searches to figures: medians, ratios, samples to a target, gaps, scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mapper.compare.entry import Board, ComparedCase, ComparedRun, Optima
from marl_runs import (
    Interval,
    Scores,
    first_below,
    geometric_mean,
    interquartile_mean,
    probability_of_improvement,
)

TARGET = 1.05
"""A run has arrived when it is within this ratio of the best value any method found."""
PREFERRED = "marl"
"""The method that others are compared with, where it took part."""


@dataclass(frozen=True)
class Cell:
    """One method on one case.

    Args:
        entries: All its searches, done or not.
        finished: Those that are done.
        median: Median of their best values; inf where most found no feasible mapping; None where
            none is done.
        to_target: Median samples to the target; inf where most never reached it; None as above.
        reached: How many reached it.
        cpu_s: Median processor time [s], or None.
        samples: Median samples spent, or None.
    """

    entries: tuple[ComparedRun, ...]
    finished: tuple[ComparedRun, ...]
    median: float | None
    to_target: float | None
    reached: int
    cpu_s: float | None
    samples: float | None

    @property
    def lack(self) -> str:
        """Why seeds are missing, such as ``2 missing``; empty where all are done."""
        states = [entry.state for entry in self.entries if not entry.finished]
        return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))


class Summary:
    """All figures of one board.

    Args:
        board: What the entries have in common.
        entries: Its searches.
        target: See `TARGET`.
        optima: Proven optima of searches with other budgets.
    """

    def __init__(
        self,
        board: Board,
        entries: Sequence[ComparedRun],
        target: float = TARGET,
        optima: Optima | None = None,
    ) -> None:
        self.board = board
        self.entries = list(entries)
        self.target = target
        self._optima = optima or {}
        self.cases = list(dict.fromkeys(entry.case for entry in entries))
        self.objectives = list(dict.fromkeys(case.objective for case in self.cases))
        self._by_cell: dict[tuple[ComparedCase, str], list[ComparedRun]] = {}
        for entry in entries:
            self._by_cell.setdefault((entry.case, entry.method), []).append(entry)
        self._cells: dict[tuple[ComparedCase, str], Cell] = {}

    @cached_property
    def methods(self) -> list[str]:
        """Methods, the one with the lowest geometric mean first; those without values last."""
        names = list(dict.fromkeys(entry.method for entry in self.entries))
        order = {name: place for place, name in enumerate(names)}
        return sorted(names, key=lambda name: (*self._standing(name), order[name]))

    def _standing(self, method: str) -> tuple[int, float]:
        """Cases without a value, then the geometric mean of value / best known on the others."""
        medians = [(self.cell(case, method).median, self.best_known(case)) for case in self.cases]
        ratios = [m / b for m, b in medians if m is not None and b is not None and m < math.inf]
        return len(medians) - len(ratios), geometric_mean(ratios) if ratios else math.inf

    @cached_property
    def reference(self) -> str:
        """The method that ratios refer to: `PREFERRED` if it has values, else the best one."""
        for name in self.methods:
            done = (self.cell(case, name).finished for case in self.cases)
            if name == PREFERRED and any(done):
                return name
        return self.methods[0]

    def best_known(self, case: ComparedCase) -> float | None:
        """The best value of any run of any method; None where no run found a feasible mapping."""
        found = [
            entry.best
            for entry in self.entries
            if entry.case == case and entry.finished and entry.best is not None
        ]
        return min(found, default=None)

    def floor(self, case: ComparedCase) -> tuple[float, str] | None:
        """The proven optimum, or else the physical bound, with which of the two it is."""
        mine = [entry for entry in self.entries if entry.case == case]
        proven = [e.best for e in mine if e.finished and e.proved and e.best is not None]
        problems = {entry.problem for entry in mine}
        proven += [self._optima[problem] for problem in problems if problem in self._optima]
        if proven:
            return min(proven), "optimum"
        bounds = [entry.bound for entry in mine if entry.bound is not None]
        return (bounds[0], "bound") if bounds and bounds[0] > 0 else None

    def cell(self, case: ComparedCase, method: str) -> Cell:
        """One method on one case."""
        key = (case, method)
        if key not in self._cells:
            self._cells[key] = self._make_cell(case, self._by_cell.get(key, []))
        return self._cells[key]

    def _make_cell(self, case: ComparedCase, entries: Sequence[ComparedRun]) -> Cell:
        done = [entry for entry in entries if entry.finished]
        arrivals = [self.samples_to_target(entry) for entry in done]
        cpu = [entry.cpu_s for entry in done if entry.cpu_s is not None]
        return Cell(
            entries=tuple(entries),
            finished=tuple(done),
            median=_median([math.inf if e.best is None else e.best for e in done]),
            to_target=_median([math.inf if n is None else n for n in arrivals]),
            reached=sum(n is not None for n in arrivals),
            cpu_s=_median(cpu),
            samples=_median([entry.samples for entry in done]),
        )

    def samples_to_target(self, entry: ComparedRun) -> int | None:
        """Samples after which the best value is within `target` of the best known; else None."""
        best = self.best_known(entry.case)
        return None if best is None else first_below(entry.curve, self.target * best)

    def ratio(self, case: ComparedCase, method: str) -> float | None:
        """Median over the reference's median; None where one of them is missing."""
        mine, other = self.cell(case, method).median, self.cell(case, self.reference).median
        if mine is None or other is None or math.isinf(other):
            return None
        return mine / other

    def mean_ratio(self, objective: str, method: str) -> float | None:
        """Geometric mean of the ratios over an objective's cases; None unless all are there."""
        cases = [case for case in self.cases if case.objective == objective]
        ratios = [self.ratio(case, method) for case in cases]
        known = [ratio for ratio in ratios if ratio is not None]
        return geometric_mean(known) if len(known) == len(cases) else None

    def gap(self, case: ComparedCase, method: str) -> float | None:
        """How far the median is above :meth:`floor`, as a share; None without one of them."""
        median, floor = self.cell(case, method).median, self.floor(case)
        return None if median is None or floor is None else median / floor[0] - 1

    def scores(self, method: str, cases: Sequence[ComparedCase]) -> Scores:
        """``(runs,)`` of best known / value for each case, 0 for no feasible mapping."""
        result = []
        for case in cases:
            best = self.best_known(case) or 0.0
            values = [entry.best for entry in self.cell(case, method).finished]
            result.append(np.array([0.0 if value is None else best / value for value in values]))
        return result

    def iqm(self, method: str) -> Interval | None:
        """Interquartile mean of the scores over all cases; None unless every case has a run."""
        scores = self.scores(method, self.cases)
        return interquartile_mean(scores) if all(len(case) for case in scores) else None

    def improvement(self, method: str) -> Interval | None:
        """Probability that the reference beats `method`, over the cases both have runs of."""
        cases = [
            case
            for case in self.cases
            if self.cell(case, method).finished and self.cell(case, self.reference).finished
        ]
        if not cases:
            return None
        return probability_of_improvement(
            self.scores(self.reference, cases), self.scores(method, cases)
        )


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None
