"""How rewards are standardised: by their running mean and standard deviation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class RewardScale(NamedTuple):
    """Rewards as they are learnt from: ``(r - mean) / deviation``.

    Attributes:
        mean: What is taken off; 0 where episodes can end early, as every further step would then
            earn or cost the same amount, which changes what is best.
        deviation: What is divided by.
    """

    mean: float = 0.0
    deviation: float = 1.0

    def __call__(self, rewards: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Rewards, standardised."""
        return np.asarray((rewards - self.mean) / self.deviation, dtype=np.float64)


class RunningMoments:
    """Mean and standard deviation of all numbers so far (Welford 1962; Chan et al. 1983)."""

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
    def deviation(self) -> float:
        """The standard deviation; 1 while all numbers are alike."""
        variance = self._squares / self.count if self.count else 0.0
        return variance**0.5 if variance > 0 else 1.0

    def state(self) -> NDArray[np.float64]:
        """``(3,)`` numbers, for a checkpoint."""
        return np.array([self.count, self.mean, self._squares])

    def load(self, state: NDArray[np.float64]) -> None:
        """Take back what :meth:`state` gave."""
        self.count, self.mean, self._squares = (float(v) for v in state)
