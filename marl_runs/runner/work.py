"""Doing one job, in whatever process it lands."""

from __future__ import annotations

import contextlib
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marl_runs.json_values import plain
from marl_runs.runner.context import Context, Ended, Event, StopRun
from marl_runs.runner.experiment import Experiment
from marl_runs.store.records import folder_name

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
        key: Its key.
        experiment: What to do.
        files: Where the runs of the store have their folders.
        tries: How often a worker was lost over it.
    """

    run_id: int
    key: str
    experiment: Experiment
    files: Path
    tries: int = 0


POLL_S = 0.5
"""How often workers and other processes' runs are looked after [s]."""


def execute(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> None:
    """Do one job; whatever happens inside the experiment ends as one :class:`Ended` event."""

    def folder_of(key: str) -> Path:
        return job.files / folder_name(key)

    context = Context(
        emit,
        stopping,
        folder_of(job.key),
        saves_first=job.experiment.continues,
        folder_of=folder_of,
    )
    ended, _ = attempt(job.experiment, context, prepare=True)
    emit(ended)


def attempt(
    experiment: Experiment, context: Context, *, prepare: bool
) -> tuple[Ended, BaseException | None]:
    """Do an experiment and say how it ended, with the exception if it failed.

    Args:
        experiment: What to do.
        context: What it has at hand.
        prepare: Whether it first prepares itself, so that its time is the search's alone.
    """
    outcome, failure = "finished", None
    result: dict[str, Any] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        if prepare:
            experiment.prepare()
            wall, cpu = time.perf_counter(), time.process_time()
        result = _as_json(experiment.run(context))
    except StopRun:
        outcome = "interrupted"
    except (Exception, SystemExit) as error:
        outcome, failure = "failed", error
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    context.report()
    if outcome != "finished":
        with contextlib.suppress(Exception):  # what it has so far is a gift, no duty
            result = _as_json(context.so_far())
    context.flush()
    ended = Ended(
        outcome,
        samples=int(result.get("samples", context.recorded or context.done)),
        best=result.get("best_value", context.best),
        wall_s=wall,
        cpu_s=cpu,
        result=result,
        error=None if failure is None else f"{type(failure).__name__}: {failure}",
        trace=None if failure is None else "".join(traceback.format_exception(failure)),
    )
    return ended, failure


def _as_json(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as plain values; what JSON cannot hold is this run's failure, not the store's."""
    values: dict[str, Any] = plain(dict(result))
    json.dumps(values)
    return values


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
