"""Progress: what is told, and plain lines where there is no terminal."""

from __future__ import annotations

import time
from typing import Self, TextIO

from marl_common import printable
from marl_runs.runner.context import Ended, Progress
from marl_runs.runner.experiment import Experiment

LINE_S = 30.0
"""Without a terminal, a line about what is running is written this often [s]."""
ALONE_S = 2.0
"""The same where one experiment alone is running [s]."""

LEAST_SHARE = 5e-4
"""A share of infeasible samples that is less reads as 0.0 %."""


class Reporter:
    """Tells the person how it goes; used as a context manager.

    A subclass has the methods of what it tells; the others say nothing.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

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


class SilentReporter(Reporter):
    """Says nothing."""


class LineReporter(Reporter):
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


class LoneLineReporter(LineReporter):
    """Now and then a line on one experiment, and a last one."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._rate = Rate()
        self._latest: Progress | None = None

    def moved(self, experiment: Experiment, progress: Progress) -> None:
        """See :class:`Reporter`."""
        self._rate.add(progress)
        self._latest = progress
        if time.monotonic() - self._last > ALONE_S:
            self._tell(experiment, progress)

    def ended(self, experiment: Experiment, ended: Ended) -> None:
        """See :class:`Reporter`."""
        if ended.outcome == "failed":
            self._write(summary(experiment, ended))
        elif self._latest is not None:
            self._tell(experiment, self._latest)

    def _tell(self, experiment: Experiment, progress: Progress) -> None:
        self._write(", ".join(standing_parts(progress, experiment, self._rate.per_s)))


class Rate:
    """How fast a run goes, from its first report on: before it, kernels may be compiled."""

    def __init__(self) -> None:
        self._reports = 0
        self._since = self._latest = (time.monotonic(), 0)

    def add(self, progress: Progress) -> None:
        """The run went on."""
        if self._reports == 1:
            self._since = self._latest
        self._latest = (time.monotonic(), progress.done)
        self._reports += 1

    @property
    def per_s(self) -> float:
        """Units of the budget a second."""
        (begin, before), (end, done) = self._since, self._latest
        return (done - before) / max(end - begin, 1e-9)


def standing_parts(progress: Progress, experiment: Experiment, per_s: float) -> tuple[str, ...]:
    """How a run stands, the most important first; what is 0 is left out."""
    unit = experiment.counts
    best = progress.best
    found = experiment.before_first if best is None else experiment.standing(best)
    parts = [found]
    if not experiment.open_ended:
        parts.insert(0, f"{progress.done:,} of {experiment.budget:,} {unit}")
        if per_s >= 1:
            parts.append(f"{per_s:,.0f} {unit}/s")
    if progress.infeasible is not None and progress.infeasible >= LEAST_SHARE:
        parts.append(f"{progress.infeasible:.1%} infeasible")
    if progress.note is not None:
        parts.append(progress.note)
    return tuple(parts)


def standing(progress: Progress, experiment: Experiment) -> str:
    """Such as ``4,096/20,000 best 39.57 kcycles``."""
    best = "" if progress.best is None else f" {experiment.standing(progress.best)}"
    whole = "" if experiment.open_ended else f"/{experiment.budget:,}"
    return f"{progress.done:,}{whole}{best}"


def summary(experiment: Experiment, ended: Ended) -> str:
    """One line about a run that is over."""
    if ended.outcome == "failed":
        return f"failed    {experiment.name}: {ended.error}"
    best = "" if ended.best is None else f", {experiment.standing(ended.best)}"
    whole = experiment.counts if experiment.open_ended else f"of {experiment.budget:,}"
    return (
        f"{ended.outcome:<9} {experiment.name}: {ended.samples:,} {whole}{best}, "
        f"{ended.cpu_s:.1f} s CPU"
    )
