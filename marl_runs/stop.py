"""Ctrl-C: the first one asks the runs to stop and keeps all, the second one ends at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HANG_UP = getattr(signal, "SIGHUP", None)
"""The terminal is gone; Windows has no such signal."""


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
    """Turn the first SIGINT, SIGTERM or SIGHUP into `flag`; a second raises KeyboardInterrupt.

    A SIGHUP is never the second one: service managers send it right behind their SIGTERM. One that
    is ignored (``nohup``) stays ignored. Outside the main thread, where Python allows no signal
    handlers, it does nothing.

    Args:
        flag: Set by the first signal.
        on_first: Called then; whatever it raises (the terminal is gone) is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(number: int, _frame: FrameType | None) -> None:
        if not flag:
            flag.set()
            try:
                on_first()
            except OSError:
                return
        elif number != HANG_UP:
            raise KeyboardInterrupt

    caught = [signal.SIGINT, signal.SIGTERM]
    if HANG_UP is not None and signal.getsignal(HANG_UP) != signal.SIG_IGN:
        caught.append(HANG_UP)
    before = {number: signal.signal(number, handler) for number in caught}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
