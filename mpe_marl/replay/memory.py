"""Room for replay: in memory, else in a memory-mapped file, else an error that says how much."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mpe_marl.errors import ReplayMemoryError

_SHARE = 0.8  # of the free memory that replay may take

Shapes = Mapping[str, tuple[tuple[int, ...], DTypeLike]]


def available_bytes() -> int:
    """Memory that can be taken without swapping [B]."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 2**62


def readable(size: int) -> str:
    """A size in bytes for people, e.g. ``1.4 GiB``."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"


def total_bytes(shapes: Shapes) -> int:
    """Bytes of all the arrays."""
    return sum(int(np.prod(s, dtype=np.int64)) * np.dtype(d).itemsize for s, d in shapes.values())


def allocate(
    shapes: Shapes, directory: str | os.PathLike[str] | None = None, limit: int | None = None
) -> tuple[dict[str, NDArray[Any]], bool]:
    """Make zeroed arrays, mapped to files when they do not fit in memory.

    Args:
        shapes: Shape and type of each array.
        directory: Folder for mapped files; they vanish with the arrays. None: memory only.
        limit: Memory that may be used [B]; by default 80 % of what is free.

    Returns:
        The arrays, and whether they are mapped.

    Raises:
        ReplayMemoryError: They fit in neither.
    """
    need = total_bytes(shapes)
    limit = int(_SHARE * available_bytes()) if limit is None else limit
    if need <= limit:
        return {k: np.zeros(shape, dtype) for k, (shape, dtype) in shapes.items()}, False
    disk = 0 if directory is None else shutil.disk_usage(directory).free
    if need > disk:
        where = (
            "no folder for mapped files is set"
            if directory is None
            else (f"{os.fspath(directory)} has {readable(disk)} free")
        )
        raise ReplayMemoryError(
            f"replay needs {readable(need)}; memory allows {readable(limit)} and {where}. "
            "Lower the capacity, use the `state` layout, or name a folder with more room."
        )
    return {k: _mapped(shape, dtype, directory) for k, (shape, dtype) in shapes.items()}, True


def _mapped(
    shape: tuple[int, ...], dtype: DTypeLike, directory: str | os.PathLike[str] | None
) -> NDArray[Any]:
    with tempfile.TemporaryFile(dir=directory, prefix="replay-") as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
