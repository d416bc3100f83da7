"""Rows of a batch shared out among threads; for kernels that release the interpreter lock."""

from __future__ import annotations

import os
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
    """Call ``work(low, high)`` for ranges of at most `CHUNK` that cover ``range(rows)`` once.

    Threads live for this call alone, so nothing is left that a forked process would miss.
    """
    spans = [(low, min(low + CHUNK, rows)) for low in range(0, rows, CHUNK)]
    if threads < 2 or len(spans) < 2:
        for span in spans:
            work(*span)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(spans))) as pool:
        list(pool.map(work, *zip(*spans, strict=True)))
