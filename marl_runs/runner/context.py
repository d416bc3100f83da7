"""What a running experiment has at hand: recording, progress, the stop flag, a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs.store.blobs import Chunk, pack

CHUNK_ROWS = 1 << 16
"""Samples that are compressed together at most."""
FLUSH_S = 5.0
"""Samples and metrics are handed over at least this often [s]."""
REPORT_S = 0.2
"""Progress is reported at most this often [s]."""


class StopRun(BaseException):
    """The person asked to stop; ends an experiment from inside `Context.record`.

    Like KeyboardInterrupt it is no error, so that ``except Exception`` lets it pass.
    """


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Args:
        done: How much of the budget is used.
        best: Best objective so far, or None.
        infeasible: Share of the samples so far that had no finite value, or None.
        note: What else there is to say, in a few words, or None.
    """

    done: int
    best: float | None
    infeasible: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class Metrics:
    """Metrics of a run: rows ``(name, step, value)``."""

    rows: list[tuple[str, int, float]]


@dataclass(frozen=True)
class Rewind:
    """Metrics after `step` are void."""

    step: int


@dataclass(frozen=True)
class Ended:
    """A run is over.

    Args:
        outcome: ``"finished"``, ``"failed"`` or ``"interrupted"``.
        samples: How much of the budget was used.
        best: Best objective or None.
        wall_s: Wall time [s].
        cpu_s: Processor time of the worker, all its threads [s].
        result: What the experiment returned.
        error: One line, if it failed.
        trace: The traceback, if it failed.
    """

    outcome: str
    samples: int
    best: float | None
    wall_s: float
    cpu_s: float
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    trace: str | None = None


Event = Progress | Chunk | Metrics | Rewind | Ended


class Context:
    """An experiment's way to the runner; it works the same in every kind of worker.

    Args:
        emit: Takes events to the process that writes the store.
        stopping: Whether the person asked to stop.
        folder: Where the experiment may keep files; made when it is first asked for.
        saves_first: The experiment looks at `stopping` itself, so that it can save before it
            stops: recording and progress never end it.
        keeps_samples: Whether recorded samples are handed over; else they are only counted.
        folder_of: The folder of another run by its key.

    Attributes:
        so_far: Gives the result of a run that is stopped or fails before its end; an experiment
            that has one sets it.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        stopping: Callable[[], bool],
        folder: Path,
        *,
        saves_first: bool = False,
        keeps_samples: bool = True,
        folder_of: Callable[[str], Path] | None = None,
    ) -> None:
        self._saves_first, self._keeps_samples = saves_first, keeps_samples
        self._folder_of = folder_of
        self.so_far: Callable[[], Mapping[str, Any]] = dict
        self._emit = emit
        self._stopping = stopping
        self._folder = folder
        self._actions: list[NDArray[Any]] = []
        self._values: list[NDArray[np.float64]] = []
        self._metrics: list[tuple[str, int, float]] = []
        self._buffered = 0
        self._written = 0
        self._infeasible: int | None = None
        self._last_flush = self._last_report = time.monotonic()
        self.done = 0
        self.best: float | None = None
        self.note: str | None = None
        """What the person who waits should know besides, in a few words."""

    @property
    def stopping(self) -> bool:
        """Whether the person asked to stop.

        An experiment with checkpoints saves one and raises :class:`StopRun`.
        """
        return self._stopping()

    @property
    def folder(self) -> Path:
        """The run's own folder, the same one when the run is continued."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def folder_of(self, key: str) -> Path | None:
        """The folder of an earlier run of the same store; None where nothing is stored."""
        return None if self._folder_of is None else self._folder_of(key)

    def record(self, actions: NDArray[Any], values: NDArray[np.float64]) -> None:
        """Keep samples in the store, and report progress.

        Args:
            actions: ``(B, P)`` integers; copied.
            values: ``(B,)`` objective values, inf where infeasible; copied.

        Raises:
            StopRun: The person asked to stop; the samples are kept.
            ValueError: The shapes do not fit, or the actions are no integers.
        """
        self._check(actions, values)
        for start in range(0, len(values) if self._keeps_samples else 0, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            self._actions.append(np.array(actions[rows]))
            self._values.append(np.array(values[rows], dtype=np.float64))
            self._buffered += len(self._values[-1])
            if self._buffered >= CHUNK_ROWS:
                self.flush()
        finite = values[np.isfinite(values)]
        self._infeasible = (self._infeasible or 0) + len(values) - len(finite)
        if len(finite):
            low = float(finite.min())
            self.best = low if self.best is None else min(self.best, low)
        self.progress(self.done + len(values))

    def _check(self, actions: NDArray[Any], values: NDArray[np.float64]) -> None:
        """Samples must fit each other and those before, or packing them later would fail."""
        width = self._actions[-1].shape[1] if self._actions else actions.shape[-1]
        if (
            actions.shape != (len(values), width)
            or values.ndim != 1
            or actions.dtype.kind not in "iu"
        ):
            raise ValueError(
                f"samples: got actions {actions.dtype}{actions.shape} and values {values.shape}, "
                f"expected integers ({len(values)}, {width}) and ({len(values)},)"
            )

    def metric(self, name: str, value: float, step: int) -> None:
        """Keep one figure, such as a mean reward, at one step."""
        self._metrics.append((name, int(step), float(value)))
        if time.monotonic() - self._last_flush > FLUSH_S:
            self.flush()

    def rewind(self, step: int) -> None:
        """Drop the metrics after `step`, before continuing from a checkpoint taken there."""
        self.flush()
        self._emit(Rewind(int(step)))

    def progress(self, done: int, best: float | None = None, infeasible: int | None = None) -> None:
        """Report that `done` of the budget is used.

        Args:
            done: How much of the budget is used.
            best: Best objective so far, if it changed and there is one.
            infeasible: How many samples so far had no finite value.

        Raises:
            StopRun: The person asked to stop.
        """
        self.done = int(done)
        if best is not None and np.isfinite(best):
            self.best = float(best)
        self._infeasible = self._infeasible if infeasible is None else infeasible
        now = time.monotonic()
        if now - self._last_report >= REPORT_S:
            self.report()
            if now - self._last_flush > FLUSH_S:
                self.flush()
            if not self._saves_first and self._stopping():
                raise StopRun

    def report(self) -> None:
        """Hand over how far the run is."""
        self._last_report = time.monotonic()
        share = None if self._infeasible is None else self._infeasible / max(self.done, 1)
        self._emit(Progress(self.done, self.best, share, self.note))

    def flush(self) -> None:
        """Hand over what is buffered."""
        self._last_flush = time.monotonic()
        if self._buffered:
            chunk = pack(self._written, np.concatenate(self._actions), np.concatenate(self._values))
            self._written += self._buffered
            self._buffered = 0
            self._actions.clear()
            self._values.clear()
            self._emit(chunk)
        if self._metrics:
            self._emit(Metrics(self._metrics))
            self._metrics = []

    @property
    def recorded(self) -> int:
        """Samples that were recorded so far."""
        return self._written + self._buffered
