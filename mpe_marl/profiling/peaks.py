"""What the machine can do: copying memory, multiplying matrices."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

Timer = Callable[[], float]
_SOURCE_BYTES = 1 << 30


def fastest(
    block: Callable[[], object], repeats: int = 5, timer: Timer = time.perf_counter
) -> float:
    """Least time of several runs [s]."""
    return min(timeit.repeat(block, timer=timer, repeat=repeats, number=1))


def copy_seconds(
    row_bytes: int,
    rows: int,
    batch: int,
    times: int,
    repeats: int = 20,
    timer: Timer = time.perf_counter,
) -> float:
    """Time to copy as many bytes as mini-batches hold, from consecutive rows [s].

    Args:
        row_bytes: Bytes of a row.
        rows: Rows of the store. The source is as large, up to 1 GiB, more than any cache holds.
        batch: Rows in one copy.
        times: Copies, each from another random place.
        repeats: Runs of which the fastest counts.
        timer: Gives seconds.
    """
    rows = min(rows, max(2 * batch, _SOURCE_BYTES // row_bytes))
    source = np.ones((rows, -(-row_bytes // 4)), dtype=np.float32)
    target = np.empty((batch, source.shape[1]), dtype=np.float32)
    starts = np.random.default_rng(0).integers(0, max(1, rows - batch), (repeats, times))
    places = iter(starts)

    def copy() -> None:
        for start in next(places):
            target[:] = source[start : start + batch]

    return fastest(copy, repeats, timer)


def matmul_gflops(
    size: int, dtype: torch.dtype, device: torch.device, timer: Timer = time.perf_counter
) -> float:
    """Rate of a large matrix product on the threads in use, or on a GPU [GFLOP/s]."""
    import torch

    a = torch.rand((size, size), dtype=dtype, device=device)
    seconds = fastest(lambda: a @ a, 8, timer)
    return 2 * size**3 / seconds / 1e9
