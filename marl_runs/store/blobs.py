"""Samples as compressed bytes: zlib over plain arrays, nothing that could run code when read."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs.store.errors import StoreError

DTYPES = ("u1", "u2", "u4", "i8")
"""Types an action column may be kept in, smallest first; little-endian."""
LEVEL = 1


@dataclass(frozen=True)
class Chunk:
    """Consecutive samples of a run, compressed.

    Args:
        start: Index of the first sample in its run.
        count: Samples in this chunk.
        width: Parameters of an action.
        dtype: One of `DTYPES`.
        actions: ``(width, count)`` integers, zlib.
        objective: ``(8, count)``: the k-th bytes of the ``(count,)`` float64 values, zlib.
        best: Smallest finite objective of the chunk, or None.
    """

    start: int
    count: int
    width: int
    dtype: str
    actions: bytes
    objective: bytes
    best: float | None = None


def pack(start: int, actions: NDArray[np.integer[Any]], objective: NDArray[np.float64]) -> Chunk:
    """Compress samples.

    Args:
        start: Index of the first sample in its run.
        actions: ``(B, P)`` integers.
        objective: ``(B,)`` values; inf marks an infeasible mapping.

    Raises:
        ValueError: The two do not have the same number of rows.
    """
    if actions.ndim != 2 or objective.shape != (len(actions),):
        raise ValueError(
            f"samples: got actions {actions.shape} and objective {objective.shape}, "
            "expected (B, P) and (B,)"
        )
    dtype = _smallest_dtype(actions)
    columns = np.ascontiguousarray(actions.T, dtype="<" + dtype)
    values = np.ascontiguousarray(objective, dtype="<f8")
    planes = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 8).T)
    finite = objective[np.isfinite(objective)]
    return Chunk(
        start=start,
        count=len(actions),
        width=actions.shape[1],
        dtype=dtype,
        actions=zlib.compress(columns.data, LEVEL),
        objective=zlib.compress(planes.data, LEVEL),
        best=float(finite.min()) if finite.size else None,
    )


def unpack(chunk: Chunk) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The samples of a chunk: ``(B, P)`` int64 actions and ``(B,)`` float64 values.

    Raises:
        StoreError: The bytes are not what :func:`pack` writes.
    """
    if chunk.dtype not in DTYPES:
        raise StoreError(
            f"samples from {chunk.start}: unknown type {chunk.dtype!r}, expected one of "
            f"{', '.join(DTYPES)}; the store is damaged"
        )
    itemsize = np.dtype(chunk.dtype).itemsize
    raw = _inflate(chunk.actions, chunk.width * chunk.count * itemsize, chunk.start)
    columns = np.frombuffer(raw, dtype="<" + chunk.dtype).reshape(chunk.width, chunk.count)
    planes = np.frombuffer(_inflate(chunk.objective, 8 * chunk.count, chunk.start), dtype=np.uint8)
    values = np.ascontiguousarray(planes.reshape(8, chunk.count).T).view("<f8").reshape(-1)
    return columns.T.astype(np.int64), values.astype(np.float64)


def _smallest_dtype(actions: NDArray[np.integer[Any]]) -> str:
    low, high = (int(actions.min()), int(actions.max())) if actions.size else (0, 0)
    for dtype in DTYPES:
        info = np.iinfo(dtype)
        if info.min <= low and high <= info.max:
            return dtype
    raise ValueError(f"samples: action values {low}..{high} do not fit 64 bits")


def _inflate(data: bytes, size: int, start: int) -> bytes:
    """Decompress exactly `size` bytes; a longer stream is never expanded."""
    try:
        inflater = zlib.decompressobj()
        raw = inflater.decompress(data, size + 1)
    except zlib.error as error:
        raise StoreError(f"samples from {start}: {error}; the store is damaged") from None
    if len(raw) != size:
        raise StoreError(
            f"samples from {start}: got {len(raw)} bytes, expected {size}; the store is damaged"
        )
    return raw
