"""Where training time goes: one stopwatch for each phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

PHASES = (
    "act", "environment", "store", "sample", "target_q", "q_loss", "p_loss", "target_update",
)  # fmt: skip
UPDATE_PHASES = ("sample", "target_q", "q_loss", "p_loss", "target_update")


class Clock:
    """Seconds spent in each phase, summed over calls.

    Attributes:
        seconds: Phase -> seconds [s].
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._started = time.perf_counter()

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time the block as part of ``phase``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += time.perf_counter() - start

    @property
    def total(self) -> float:
        """Seconds since the clock was made [s]."""
        return time.perf_counter() - self._started

    def shares(self) -> dict[str, float]:
        """Share of every phase in the total, and of the rest as ``other``."""
        total = max(self.total, 1e-12)
        shares = {phase: s / total for phase, s in self.seconds.items()}
        return {**shares, "other": max(0.0, 1.0 - sum(shares.values()))}
