"""Hardware counters of a block of code, through Linux perf events where the machine has them."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Callable, Iterable

_SYSCALL = {"x86_64": 298, "aarch64": 241}  # perf_event_open
_HARDWARE, _CACHE = 0, 3  # perf_type_id
_DTLB_READ_MISS = 3 | 0 << 8 | 1 << 16  # PERF_COUNT_HW_CACHE_DTLB, OP_READ, RESULT_MISS
EVENTS = {
    "cycles": (_HARDWARE, 0),
    "instructions": (_HARDWARE, 1),
    "cache_misses": (_HARDWARE, 3),
    "dtlb_misses": (_CACHE, _DTLB_READ_MISS),
}
_ATTR_BYTES = 112
_ENABLE, _DISABLE, _RESET = 0x2400, 0x2401, 0x2403  # ioctl requests
_DISABLED, _NO_KERNEL, _NO_HYPERVISOR = 1 << 0, 1 << 5, 1 << 6


def measure(block: Callable[[], object]) -> dict[str, int] | None:
    """Run a block and count what this thread did in it.

    Args:
        block: What to run.

    Returns:
        Counts of :data:`EVENTS` that the machine has; None when it has none (virtual machines
        often, or ``/proc/sys/kernel/perf_event_paranoid`` forbids it); the block is run anyway.
    """
    opened = {name: fd for name, event in EVENTS.items() if (fd := _open(*event)) is not None}
    try:
        _all(opened.values(), _RESET)
        _all(opened.values(), _ENABLE)
        block()
        _all(opened.values(), _DISABLE)
        counts = {k: struct.unpack("q", os.read(fd, 8))[0] for k, fd in opened.items()}
    finally:
        for fd in opened.values():
            os.close(fd)
    return counts or None


def _open(kind: int, config: int) -> int | None:
    number = _SYSCALL.get(platform.machine())
    if number is None or platform.system() != "Linux":
        return None
    flags = _DISABLED | _NO_KERNEL | _NO_HYPERVISOR
    # struct perf_event_attr: type, size, config, sample_period, sample_type, read_format, flags
    attributes = struct.pack("IIQQQQQ", kind, _ATTR_BYTES, config, 0, 0, 0, flags)
    buffer = ctypes.create_string_buffer(attributes, _ATTR_BYTES)
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, buffer, 0, -1, -1, 0)
    return fd if fd >= 0 else None


def _all(descriptors: Iterable[int], request: int) -> None:
    import fcntl

    for fd in descriptors:
        fcntl.ioctl(fd, request, 0)
