"""Doing one job, in whatever process it lands, and what the workers' owner must offer."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from runs.json_values import plain
from runs.runner.context import Context, Ended, Event, StopRun
from runs.runner.experiment import Experiment

ONE_THREAD = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
"""Environment of a worker: one thread each, and sets in the same order everywhere."""


@dataclass(frozen=True)
class Job:
    """A claimed run, ready to be done.

    Args:
        run_id: Its number in the store.
        experiment: What to do.
        folder: Where it may keep files.
        tries: How often a worker was lost over it.
    """

    run_id: int
    experiment: Experiment
    folder: Path
    tries: int = 0


class Desk(Protocol):
    """The one place that hands out jobs and takes in events; it alone writes the store."""

    def next_job(self) -> Job | None:
        """A job that nobody else does, or None when there is none (left)."""

    def handle(self, job: Job, event: Event) -> bool:
        """Take in an event of a job; False: the job is void, stop it."""

    def lost(self, job: Job, reason: str) -> None:
        """The worker is gone before the job ended: it will be done again."""

    @property
    def stopping(self) -> bool:
        """Whether the person asked to stop."""


def execute(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> None:
    """Do one job; whatever happens inside the experiment ends as one :class:`Ended` event."""
    experiment = job.experiment
    context = Context(emit, stopping, job.folder, saves_first=experiment.continues)
    outcome = "finished"
    result: dict[str, Any] = {}
    error = trace = None
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        experiment.prepare()
        wall, cpu = time.perf_counter(), time.process_time()
        result = plain(dict(experiment.run(context)))
        json.dumps(result)  # what JSON cannot hold is this run's failure, not the store's
    except StopRun:
        outcome = "interrupted"
    except (Exception, SystemExit) as failure:
        outcome, result = "failed", {}
        error = f"{type(failure).__name__}: {failure}"
        trace = traceback.format_exc()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    context.flush()
    samples = int(result.get("samples", context.recorded or context.done))
    best = result.get("best_value", context.best)
    emit(Ended(outcome, samples, best, wall, cpu, result, error, trace))


@contextmanager
def one_thread_environment() -> Iterator[None]:
    """Set `ONE_THREAD` for the processes that are started inside the block."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
