"""Who is working on a run, and whether that process is still alive."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from pathlib import Path

STALE_S = 120.0
"""A running run of another machine is given up after this long without a heartbeat [s]."""


_working: set[str] = set()
"""Owners of this process that still work on their runs."""


def new_owner() -> str:
    """A text that names one user of a store in this process, and nobody else, now or later."""
    pid = os.getpid()
    owner = json.dumps([_place(), pid, _birth(pid), uuid.uuid4().hex[:12]])
    _working.add(owner)
    return owner


def retire(owner: str) -> None:
    """An owner of this process works no more; what it left running may be claimed by others."""
    _working.discard(owner)


def is_gone(owner: str, heartbeat: float) -> bool:
    """Whether `owner` has retired or its process has ended.

    On this machine it is looked up, so that a killed run can be resumed at once; on another one
    only a heartbeat (seconds since the epoch) tells that is further than `STALE_S` from now, also
    in the future: clocks must agree that far.
    """
    stale = abs(time.time() - heartbeat) > STALE_S
    try:
        place, pid, birth, _ = json.loads(owner)
        pid = int(pid)
    except (ValueError, TypeError):
        return stale
    if place != _place() or os.name == "nt":
        return stale  # on Windows signal 0 would end the process instead of asking for it
    if pid == os.getpid() and birth == _birth(pid):
        return owner not in _working
    if not _alive(pid):
        return True
    return birth is not None and _birth(pid) != birth


def _place() -> str:
    """This machine; containers with process numbers of their own count as machines."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()}/{space}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # it exists, but belongs to another user
    return _fields(pid)[:1] != ["Z"]


def _fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on; empty where there is no such file."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _birth(pid: int) -> str | None:
    """When the process started [clock ticks since boot], to tell a reused process number."""
    fields = _fields(pid)
    return fields[19] if len(fields) > 19 else None
