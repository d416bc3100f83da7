"""The best mappings of the present epoch, from which worlds start."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marl_common import FloatArray, IntArray


class Elites(NamedTuple):
    """The best samples, best first.

    Args:
        actions: ``(E, P)`` choices.
        values: ``(E,)`` objective values, ascending; inf where infeasible.
        figures: ``(E, OBSERVATION)`` what agents observe of each.
    """

    actions: IntArray
    values: FloatArray
    figures: NDArray[np.float32]

    @classmethod
    def empty(cls, parameters: int, figures: int) -> Elites:
        """No elites yet."""
        return cls(
            np.empty((0, parameters), np.int64), np.empty(0), np.empty((0, figures), np.float32)
        )

    def join(
        self,
        actions: IntArray,
        values: FloatArray,
        figures: NDArray[np.float32],
        size: int,
        alike: int = 0,
    ) -> Elites:
        """The best `size` of these and more; the earlier one wins a tie.

        Args:
            actions: ``(B, P)`` choices.
            values: ``(B,)``.
            figures: ``(B, OBSERVATION)``.
            size: Most elites.
            alike: Most elites of one value; 0 for no limit.
        """
        every = np.concatenate([self.values, values])
        best = np.argsort(every, kind="stable")
        if alike:
            ordered = every[best]
            new = np.ones(len(best), dtype=np.bool_)
            new[alike:] = (ordered[alike:] != ordered[:-alike]) | np.isinf(ordered[alike:])
            best = best[new]
        best = best[:size]
        return Elites(
            np.concatenate([self.actions, actions])[best],
            every[best],
            np.concatenate([self.figures, figures])[best],
        )

    def parents(self, count: int, greed: float, rng: np.random.Generator) -> IntArray:
        """``(count,)`` rows; a row's weight falls by e every ``greed * E`` ranks."""
        size = len(self.values)
        weights = np.exp(-np.arange(size) / (greed * size))
        drawn: IntArray = np.searchsorted(
            np.cumsum(weights), rng.random(count) * weights.sum(), side="right"
        )
        return np.minimum(drawn, size - 1)


class Plateau:
    """Says when to restart: no progress for `patience` samples an elite.

    Args:
        size: Elites of the first epoch.
        patience: Samples an elite without progress; 0 never restarts.
        growth: Factor of `size` at a restart, as the population of IPOP-CMA-ES grows (Auger and
            Hansen, CEC 2005).
    """

    LARGEST = 256
    PROGRESS = 1e-3
    """Relative gain that counts as progress."""

    def __init__(self, size: int, patience: int, growth: float) -> None:
        self.size, self.patience, self.growth = size, patience, growth
        self.best, self.since = np.inf, 0

    def begin(self, best: float) -> None:
        """Start an epoch whose population has this best value."""
        self.best, self.since = best, 0

    def reached(self, best: float, samples: int) -> bool:
        """Count `samples` more, of which `best` is the best of the epoch so far."""
        self.since += samples
        if best < self.best * (1.0 - self.PROGRESS):
            self.best, self.since = best, 0
        return self.patience > 0 and self.since > self.patience * self.size

    def state_dict(self) -> dict[str, Any]:
        """How far it is."""
        return {"size": self.size, "best": float(self.best), "since": self.since}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.size, self.best, self.since = state["size"], state["best"], state["since"]

    def grow(self) -> None:
        """The next epoch is larger."""
        self.size = min(self.LARGEST, max(self.size, int(self.size * self.growth)))
