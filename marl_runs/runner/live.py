"""Progress on a terminal: bars of many runs, one line of one run; both vanish at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.progress import TimeRemainingColumn as Remaining
from rich.table import Column
from rich.text import Text

from marl_common import printable
from marl_runs.runner.context import Ended, Progress
from marl_runs.runner.experiment import Experiment
from marl_runs.runner.progress import Rate, Reporter, standing, standing_parts, summary

WIDE = 110
"""Columns of a terminal that has room for bars."""
LIVE_S = 0.1
"""Seconds between two updates of one line."""


class _TerminalReporter(Reporter):
    """Shows a display of rich's while it is open, and sentences above it."""

    def __init__(self, display: Bars | Live) -> None:
        self._display = display

    def __enter__(self) -> Self:
        self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._display.stop()

    def note(self, text: str) -> None:
        """See :class:`Reporter`."""
        self._display.console.print(printable(text), markup=False, highlight=False)


class BarReporter(_TerminalReporter):
    """A bar for all runs and one for each that is running, with its best so far and its rate."""

    def __init__(self, stream: TextIO) -> None:
        whole = Column(no_wrap=True)  # names fold, figures never
        console = Console(file=stream)
        columns = [
            TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
            TextColumn("{task.fields[text]}", markup=False, table_column=whole),
            Remaining(compact=True, table_column=whole),
        ]
        if console.width >= WIDE:
            columns[1:1] = [BarColumn(bar_width=24, table_column=whole)]
            columns[3:3] = [TimeElapsedColumn(table_column=whole)]
        self._bars = Bars(*columns, console=console, transient=True)
        super().__init__(self._bars)
        self._all: TaskID | None = None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, float] = {}

    def total(self, runs: int) -> None:
        """See :class:`Reporter`."""
        self._all = self._bars.add_task("runs", total=runs, text=f"0/{runs}")

    def skipped(self, experiment: Experiment, why: str) -> None:
        """See :class:`Reporter`."""
        self._advance()

    def started(self, experiment: Experiment) -> None:
        """See :class:`Reporter`."""
        self._begun[experiment.name] = time.monotonic()
        self._tasks[experiment.name] = self._bars.add_task(
            printable(experiment.name), total=max(1, experiment.budget), text=""
        )

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """See :class:`Reporter`."""
        task = self._tasks.get(experiment.name)
        if task is not None:
            spent = max(time.monotonic() - self._begun[experiment.name], 1e-9)
            text = f"{standing(progress, experiment)} {progress.done / spent:,.0f}/s"
            self._bars.update(task, completed=progress.done, text=text)

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """See :class:`Reporter`."""
        task = self._tasks.pop(experiment.name, None)
        if task is not None:
            self._bars.remove_task(task)
        if ended.outcome != "interrupted":
            self._advance()
        self.note(summary(experiment, ended))

    def _advance(self) -> None:
        if self._all is not None:
            self._bars.advance(self._all)
            task = self._bars.tasks[self._bars.task_ids.index(self._all)]
            text = f"{int(task.completed)}/{int(task.total or 0)}"
            self._bars.update(self._all, text=text)


class LoneReporter(_TerminalReporter):
    """One line on the one experiment that is running."""

    def __init__(self, stream: TextIO) -> None:
        console = Console(file=stream, highlight=False)
        self._live = Live(console=console, transient=True, auto_refresh=False)
        super().__init__(self._live)
        self._rate = Rate()
        self._last = 0.0

    def started(self, experiment: Experiment) -> None:
        """See :class:`Reporter`."""
        self._live.update(_OneLine(["starting"]), refresh=True)

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """See :class:`Reporter`."""
        self._rate.add(progress)
        if time.monotonic() - self._last > LIVE_S:
            self._last = time.monotonic()
            parts = standing_parts(progress, experiment, self._rate.per_s)
            self._live.update(_OneLine(parts), refresh=True)

    def skipped(self, experiment: Experiment, why: str) -> None:
        """See :class:`Reporter`."""
        self.note(f"{experiment.name}: {why} before, nothing to do")

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """See :class:`Reporter`."""
        if ended.outcome == "failed":
            self.note(summary(experiment, ended))


class _OneLine:
    """As many of the parts as one line of the terminal has room for, the first ones first.

    A line that the terminal breaks in two is not erased as one; what is left of it are ghosts.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self._parts[0]
        for part in self._parts[1:]:
            if len(text) + len(part) + 2 < options.max_width:
                text = f"{text}, {part}"
        yield Text(printable(text), no_wrap=True, overflow="crop")
