"""Progress of one search on standard error: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from common import engineering

if TYPE_CHECKING:
    from rich.status import Status

    from maestro_env import Problem

NOTHING = "no feasible mapping yet"
LIVE_S, LINE_S = 0.1, 2.0
"""Seconds between two updates, on a terminal and without one."""


class SearchProgress(AbstractContextManager["SearchProgress"]):
    """Shows best so far, samples a second and the share of infeasible samples.

    Args:
        budget: Samples of the whole search.
        unit: Unit of the objective.
        quiet: Show nothing.
    """

    def __init__(self, budget: int, unit: str, quiet: bool = False) -> None:
        self._budget, self._unit, self._quiet = budget, unit, quiet
        self._live: Status | None = None
        self._begin = self._last = time.perf_counter()
        self._warm: tuple[float, int] | None = None

    def __enter__(self) -> SearchProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._live = Console(stderr=True, highlight=False).status(
                "starting; the first run of a cost model compiles it (Ctrl-C stops)"
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, problem: Problem) -> None:
        """Show the problem's counters, if the last look at them is long enough ago."""
        now = time.perf_counter()
        begin, before = self._warm or (self._begin, 0)
        if self._warm is None:  # the first batch may have compiled the cost model
            self._warm = (now, problem.samples)
        over = problem.samples >= self._budget
        wait = LINE_S if self._live is None else LIVE_S
        if self._quiet or (now - self._last < wait and not over):
            return
        self._last = now
        rate = (problem.samples - before) / max(now - begin, 1e-9)
        text = standing(problem, self._budget, self._unit, rate)
        if self._live is None:
            print(text, file=sys.stderr, flush=True)
        else:
            from rich.text import Text

            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"))


def standing(problem: Problem, budget: int, unit: str, rate: float) -> str:
    """One line: samples spent, best so far, samples a second, share infeasible."""
    infeasible = 1 - problem.feasible_samples / max(problem.samples, 1)
    found = problem.best_action is not None
    best = f"best {engineering(problem.best_value, unit, digits=5)}" if found else NOTHING
    return (
        f"{problem.samples:,} of {budget:,} samples, {best}, "
        f"{rate:,.0f} samples/s, {infeasible:.1%} infeasible"
    )
