"""Rows of a batch shared out among threads; for kernels that release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from cost_models.cost_model import CostModelError

CHUNK = 1024
"""Rows a thread takes at a time: some milliseconds of work, so that all threads end together."""


def default_threads() -> int:
    """Threads to use: the environment variable NUMBA_NUM_THREADS, else the number of cores.

    Raises:
        CostModelError: The variable is no whole number of at least 1.
    """
    given = os.environ.get("NUMBA_NUM_THREADS", "").strip()
    if not given:
        return len(os.sched_getaffinity(0))
    if not given.isdecimal() or int(given) < 1:
        raise CostModelError(
            f"NUMBA_NUM_THREADS: got {given!r}, expected a whole number of at least 1"
        )
    return int(given)


def run_rows(work: Callable[[int, int], None], rows: int, threads: int) -> None:
    """Call ``work(low, high)`` for ranges that cover ``range(rows)`` once, on some threads.

    Threads live for this call alone, so nothing is left that a forked process would miss.
    """
    if threads < 2 or rows <= CHUNK:
        work(0, rows)
        return
    lock = threading.Lock()
    starts = iter(range(0, rows, CHUNK))
    errors: list[BaseException] = []

    def drain() -> None:
        try:
            while not errors:
                with lock:
                    low = next(starts, None)
                if low is None:
                    return
                work(low, min(low + CHUNK, rows))
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    helpers = [threading.Thread(target=drain) for _ in range(min(threads, -(-rows // CHUNK)) - 1)]
    for helper in helpers:
        helper.start()
    drain()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
