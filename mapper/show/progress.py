"""Progress of one search on standard error: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

    from maestro_env import Problem

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

    def __enter__(self) -> SearchProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._live = Console(stderr=True, highlight=False).status("starting (Ctrl-C stops)")
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
        over = problem.samples >= self._budget
        wait = LINE_S if self._live is None else LIVE_S
        if self._quiet or (now - self._last < wait and not over):
            return
        self._last = now
        text = standing(problem, self._budget, self._unit, now - self._begin)
        if self._live is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._live.update(text)


def standing(problem: Problem, budget: int, unit: str, seconds: float) -> str:
    """One line: samples spent, best so far, samples a second, share infeasible."""
    from mapper.show.tables import shown

    infeasible = 1 - problem.feasible_samples / max(problem.samples, 1)
    found = problem.best_action is not None
    best = f"best {shown(problem.best_value)} {unit}" if found else "no feasible mapping yet"
    return (
        f"{problem.samples:,} of {budget:,} samples  {best}  "
        f"{problem.samples / max(seconds, 1e-9):,.0f} samples/s  {infeasible:.1%} infeasible"
    )
