"""Jobs over worker processes, one pipe each, so that a killed worker hurts only its own job."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Any

from marl_runs.runner.context import Ended
from marl_runs.runner.work import POLL_S, Job, execute, one_thread_environment

if TYPE_CHECKING:
    from marl_runs.runner.desk import StoreDesk

GRACE_S = 15.0
"""How long a worker may take to reach its next sample after a stop before it is ended [s]."""


@dataclass
class Worker:
    """A worker process, the job it does, and since when it was asked to stop."""

    process: SpawnProcess
    pipe: Connection
    job: Job | None = None
    asked_to_stop: float | None = None


def run_processes(desk: StoreDesk, workers: int) -> None:
    """Do all jobs of the desk in `workers` processes.

    The processes are spawned, not forked (threads of numba and torch do not survive a fork), with
    one thread each.
    """
    pool: list[Worker] = []
    try:
        while True:
            _hand_out(desk, pool, workers)
            busy = [worker for worker in pool if worker.job is not None]
            if not busy:
                if desk.stopping or not desk.unsettled:
                    return
                time.sleep(POLL_S)
                continue
            for item in wait([worker.pipe for worker in busy], timeout=POLL_S):
                worker = next(worker for worker in busy if worker.pipe is item)
                _take_in(desk, pool, worker)
            _stop_slow(desk, pool)
    finally:
        _close(pool)


def _hand_out(desk: StoreDesk, pool: list[Worker], workers: int) -> None:
    """Give idle workers a job, starting workers as they are needed."""
    while not desk.stopping:
        idle = next((worker for worker in pool if worker.job is None), None)
        if idle is None and len(pool) >= workers:
            return
        job = desk.next_job()
        if job is None:
            return
        if idle is None:
            idle = _start()
            pool.append(idle)
        idle.job = job
        try:
            idle.pipe.send(job)
        except OSError:
            _bury(desk, pool, idle)


def _start() -> Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_worker_main, args=(theirs,), daemon=True)
    with one_thread_environment():
        process.start()
    theirs.close()
    return Worker(process, ours)


def _take_in(desk: StoreDesk, pool: list[Worker], worker: Worker) -> None:
    """Handle one event of a busy worker, or its death."""
    assert worker.job is not None
    try:
        event = worker.pipe.recv()
    except (EOFError, OSError):
        _bury(desk, pool, worker)
        return
    valid = desk.handle(worker.job, event)
    if isinstance(event, Ended):
        worker.job = worker.asked_to_stop = None
    elif not valid:
        _ask_to_stop(worker)


def _bury(desk: StoreDesk, pool: list[Worker], worker: Worker) -> None:
    """A worker is gone: its job goes back to the desk."""
    worker.process.join(timeout=5)
    code = worker.process.exitcode
    worker.pipe.close()
    pool.remove(worker)
    if worker.job is not None:
        desk.lost(worker.job, f"its worker process ended with exit code {code}")


def _ask_to_stop(worker: Worker) -> None:
    if worker.asked_to_stop is None:
        worker.asked_to_stop = time.monotonic()
        with contextlib.suppress(OSError):  # it is gone already; the next read says so
            worker.pipe.send(None)


def _stop_slow(desk: StoreDesk, pool: list[Worker]) -> None:
    """When stopping, tell the workers, and end those that do not come to a sample in time."""
    for worker in pool:
        if worker.job is None:
            continue
        if desk.stopping:
            _ask_to_stop(worker)
        asked = worker.asked_to_stop
        if asked is not None and time.monotonic() - asked > GRACE_S:
            worker.process.terminate()


def _close(pool: list[Worker]) -> None:
    for worker in pool:
        worker.pipe.close()
    for worker in pool:
        worker.process.join(timeout=2)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join(timeout=5)


def _worker_main(pipe: Any) -> None:
    """Do jobs until the pipe is closed; a message during a job means stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; the owner decides
    while True:
        try:
            job = pipe.recv()
            if job is not None:
                execute(job, pipe.send, pipe.poll)
        except (EOFError, OSError):
            return  # the owner is gone
