"""Ctrl-C: the first one asks the runs to stop and keeps all, the second one ends at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StopFlag:
    """Whether the person asked to stop."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask to stop."""
        self._event.set()

    def __bool__(self) -> bool:
        return self._event.is_set()


@contextmanager
def catch_interrupt(flag: StopFlag, on_first: Callable[[], None]) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into `flag`; a second one raises KeyboardInterrupt.

    Outside the main thread, where Python allows no signal handlers, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(_number: int, _frame: FrameType | None) -> None:
        if flag:
            raise KeyboardInterrupt
        flag.set()
        on_first()

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
