"""Work that is done in several processes of one thread each, as it is finished."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from marl_runs import Experiment, RunFailedError, Store, StoredRun, run_all

Item, Found = TypeVar("Item"), TypeVar("Found")


def tried(work: Callable[[], Found]) -> Found | Exception:
    """What some work gives, or the error that ended it."""
    try:
        return work()
    except Exception as error:
        return error


def worked(
    work: Callable[[Item], Found], todo: Sequence[Item], workers: int, until: float = math.inf
) -> Iterator[tuple[Item, Found | Exception]]:
    """Each item with what `work` gives for it, or the error that ended it; the first done first.

    Args:
        work: A function of a module.
        todo: The items.
        workers: Processes; one is this process, and keeps the order.
        until: Nothing begins after this moment of ``time.monotonic()``.
    """
    if workers == 1:
        for item in todo:
            if time.monotonic() > until:
                return
            yield item, tried(lambda one=item: work(one))
        return
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # read by the processes when they start
    interrupt = (signal.SIGINT, signal.SIG_DFL)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, interrupt)
    try:
        futures = {pool.submit(work, item): item for item in todo}
        for future in as_completed(futures):
            yield futures[future], tried(future.result)
            if time.monotonic() > until:
                return
    finally:
        pool.shutdown(cancel_futures=True)


def finished(store: Store, experiments: Sequence[Experiment], workers: int = 1) -> list[StoredRun]:
    """Do what a store has not finished; rows of all.

    Raises:
        RunFailedError: Some failed.
        SystemExit: It was interrupted (130).
    """
    summary = run_all(experiments, store, workers=workers)
    if summary.failed:
        raise RunFailedError(str(summary.failed))
    if summary.interrupted or summary.stopped:
        raise SystemExit(130)
    return [store.runs(key=key)[0] for key in summary.keys]
