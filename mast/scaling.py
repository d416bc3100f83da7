"""The running standard deviation of rewards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class RunningDeviation:
    """Standard deviation of all numbers so far (Welford 1962; merged as Chan et al. 1983)."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0.0, 0.0, 0.0

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in numbers."""
        count, mean = values.size, float(values.mean())
        squares = float(((values - mean) ** 2).sum())
        gap, total = mean - self.mean, self.count + count
        self._squares += squares + gap * gap * self.count * count / total
        self.mean += gap * count / total
        self.count = total

    @property
    def value(self) -> float:
        """The standard deviation; 1 while all numbers are alike."""
        variance = self._squares / self.count if self.count else 0.0
        return variance**0.5 if variance > 0 else 1.0

    def state(self) -> NDArray[np.float64]:
        """``(3,)`` numbers, for a checkpoint."""
        return np.array([self.count, self.mean, self._squares])

    def load(self, state: NDArray[np.float64]) -> None:
        """Take back what :meth:`state` gave."""
        self.count, self.mean, self._squares = (float(v) for v in state)
