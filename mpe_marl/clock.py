"""Where training time goes: one stopwatch for each phase."""

from __future__ import annotations

import time
from collections.abc import Callable

PHASES = (
    "act", "environment", "store", "sample", "target_q", "q_loss", "p_loss", "target_update",
)  # fmt: skip
UPDATE_PHASES = ("sample", "target_q", "q_loss", "p_loss", "target_update")


class _Span:
    """A ``with`` block that adds its time to a phase; phases do not nest in themselves."""

    __slots__ = ("_phase", "_seconds", "_start", "_timer")

    def __init__(self, seconds: dict[str, float], phase: str, timer: Callable[[], float]) -> None:
        self._seconds, self._phase, self._timer = seconds, phase, timer
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = self._timer()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._phase] += self._timer() - self._start


class Clock:
    """Seconds spent in each phase, summed over calls.

    Args:
        timer: Gives seconds; ``time.thread_time`` counts this thread's processor time alone.

    Attributes:
        seconds: Phase -> seconds [s].
    """

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._timer = timer
        self._spans = {phase: _Span(self.seconds, phase, timer) for phase in PHASES}
        self._started = timer()

    def __call__(self, phase: str) -> _Span:
        """Time a ``with`` block as part of ``phase``."""
        return self._spans[phase]

    @property
    def total(self) -> float:
        """Seconds since the clock was made [s]."""
        return self._timer() - self._started

    def shares(self) -> dict[str, float]:
        """Share of every phase in the total, and of the rest as ``other``."""
        total = max(self.total, 1e-12)
        shares = {phase: s / total for phase, s in self.seconds.items()}
        return {**shares, "other": max(0.0, 1.0 - sum(shares.values()))}
