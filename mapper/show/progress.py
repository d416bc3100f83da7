"""Progress of one search on standard error: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from common import engineering

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

    from maestro_env import Problem

STARTING = ("starting", "the first run of a cost model compiles it (Ctrl-C stops)")
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
        self._live: Live | None = None
        self._begin = self._last = time.perf_counter()
        self._warm: tuple[float, int] | None = None

    def __enter__(self) -> SearchProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False)
            self._live = Live(_OneLine(STARTING), console=console, transient=True)
            self._live.start(refresh=True)
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
        parts = standing(problem, self._budget, self._unit, rate)
        if self._live is None:
            print(", ".join(parts), file=sys.stderr, flush=True)
        else:
            self._live.update(_OneLine(parts), refresh=True)


def standing(problem: Problem, budget: int, unit: str, rate: float) -> tuple[str, ...]:
    """Samples spent, best so far, samples a second, share infeasible."""
    infeasible = 1 - problem.feasible_samples / max(problem.samples, 1)
    found = problem.best_action is not None
    return (
        f"{problem.samples:,} of {budget:,} samples",
        f"best {engineering(problem.best_value, unit, digits=5)}" if found else NOTHING,
        f"{rate:,.0f} samples/s",
        f"{infeasible:.1%} infeasible",
    )


class _OneLine:
    """As many of the parts as one line of the terminal has room for, the first ones first.

    A line that the terminal breaks in two is not erased as one; what is left of it are ghosts.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        text = self._parts[0]
        for part in self._parts[1:]:
            if len(text) + len(part) + 2 < options.max_width:
                text = f"{text}, {part}"
        yield Text(text, no_wrap=True, overflow="crop")
