"""Progress of many runs: bars on a terminal, one line a finished run elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol, TextIO

from common import printable
from runs.runner.context import Ended, Progress

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as RichBars
    from rich.progress import TaskID

    from runs.runner.experiment import Experiment

WIDE = 110
"""Columns of a terminal that has room for bars."""

LINE_S = 30.0
"""Without a terminal, a line about what is running is written this often [s]."""


class Reporter(Protocol):
    """Tells the person how it goes; used as a context manager."""

    def __enter__(self) -> Reporter: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def total(self, runs: int) -> None:
        """How many runs there are in all."""

    def skipped(self, experiment: Experiment, why: str) -> None:
        """A run needs nothing, because it is finished or another process does it."""

    def started(self, experiment: Experiment) -> None:
        """A run was begun."""

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """A run went on."""

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """A run is over."""

    def note(self, text: str) -> None:
        """A sentence for the person."""


def choose_reporter(stream: TextIO | None = None) -> Reporter:
    """Bars when `stream` (standard error) is a terminal, plain lines otherwise."""
    stream = stream or sys.stderr
    return BarReporter(stream) if stream.isatty() else LineReporter(stream)


class SilentReporter:
    """Says nothing."""

    def __enter__(self) -> SilentReporter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def total(self, runs: int) -> None:
        """See :class:`Reporter`."""

    def skipped(self, experiment: Experiment, why: str) -> None:
        """See :class:`Reporter`."""

    def started(self, experiment: Experiment) -> None:
        """See :class:`Reporter`."""

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """See :class:`Reporter`."""

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """See :class:`Reporter`."""

    def note(self, text: str) -> None:
        """See :class:`Reporter`."""


class LineReporter(SilentReporter):
    """One line for each run that ended, and now and then one for what is running."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = self._over = self._kept = 0
        self._last = time.monotonic()

    def total(self, runs: int) -> None:
        """See :class:`Reporter`."""
        self._total = runs

    def skipped(self, experiment: Experiment, why: str) -> None:
        """See :class:`Reporter`."""
        self._over += 1
        self._kept += 1

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """See :class:`Reporter`."""
        if time.monotonic() - self._last > LINE_S:
            self._write(f"{self._count()} {experiment.name}: {standing(progress, experiment)}")

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """See :class:`Reporter`."""
        self._over += ended.outcome != "interrupted"
        self._write(f"{self._count()} {summary(experiment, ended)}")

    def note(self, text: str) -> None:
        """See :class:`Reporter`."""
        self._write(text)

    def __exit__(self, *_: object) -> None:
        if self._kept:
            self._write(f"{self._kept} of {self._total} runs needed nothing (done, or under way)")

    def _count(self) -> str:
        return f"[{self._over}/{self._total}]"

    def _write(self, text: str) -> None:
        self._last = time.monotonic()
        print(printable(text), file=self._stream, flush=True)


class BarReporter(SilentReporter):
    """A bar for all runs and one for each that is running, with its best so far and its rate."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as Remaining
        from rich.table import Column

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
        self._bars: RichBars = Progress(*columns, console=console, transient=True)
        self._all: TaskID | None = None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, float] = {}

    def __enter__(self) -> BarReporter:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

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

    def note(self, text: str) -> None:
        """See :class:`Reporter`."""
        self._bars.console.print(printable(text), markup=False, highlight=False)

    def _advance(self) -> None:
        if self._all is not None:
            self._bars.advance(self._all)
            task = self._bars.tasks[self._bars.task_ids.index(self._all)]
            text = f"{int(task.completed)}/{int(task.total or 0)}"
            self._bars.update(self._all, text=text)


def standing(progress: Progress, experiment: Experiment) -> str:
    """Such as ``4,096/20,000 best 39.57 kcycles``."""
    best = "" if progress.best is None else f" {experiment.standing(progress.best)}"
    return f"{progress.done:,}/{experiment.budget:,}{best}"


def summary(experiment: Experiment, ended: Ended) -> str:
    """One line about a run that is over."""
    if ended.outcome == "failed":
        return f"failed    {experiment.name}: {ended.error}"
    best = "" if ended.best is None else f", {experiment.standing(ended.best)}"
    return (
        f"{ended.outcome:<9} {experiment.name}: {ended.samples:,} of {experiment.budget:,}{best}, "
        f"{ended.cpu_s:.1f} s CPU"
    )
