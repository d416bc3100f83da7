"""Hybrid targets: one-step returns at first, longer ones once values mean something."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mast.config import MastConfig
from mast.episodes import EpisodeBatch
from mast.returns.lam import lambda_returns
from mast.returns.n_step import n_step_returns


@dataclass(frozen=True)
class ReturnsPlan:
    """Which returns are learnt when.

    Attributes:
        start: Steps of the environment ``T0`` before which targets have one step.
        lam: Lambda from then on; None: ``n`` steps.
        n: Steps from then on.
        gamma: Discount a step.
    """

    start: float
    lam: float | None
    n: int
    gamma: float

    @classmethod
    def of(cls, config: MastConfig, total: int) -> ReturnsPlan:
        """The plan of a configuration for a run of ``total`` steps."""
        hybrid = config.has("hybrid")
        n = 1 if hybrid else config.targets.n_step
        return cls(config.t0 * total, config.lam if hybrid else None, n, config.gamma)

    def __call__(
        self,
        batch: EpisodeBatch,
        rewards: NDArray[np.float64],
        after: NDArray[np.floating],
        done: int,
    ) -> NDArray[np.floating]:
        """The targets of a batch.

        Args:
            batch: The episodes.
            rewards: ``(B, T)`` their rewards, standardised.
            after: ``(B, T)`` what each next step is worth.
            done: Steps of the environment so far.

        Returns:
            ``(B, T)``.
        """
        out = np.empty_like(after)
        about = (rewards, after, batch.steps, batch.terminated, self.gamma)
        if self.lam is not None and done >= self.start:
            lambda_returns(*about, self.lam, out)
        else:
            n_step_returns(*about, self.n if done >= self.start else 1, out)
        return out

    def discounted(self, batch: EpisodeBatch, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """``(B, T)`` discounted returns of what was earned in the episode, without its future."""
        out = np.empty_like(rewards)
        nothing = np.zeros_like(rewards)
        about = (rewards, nothing, batch.steps, batch.terminated, self.gamma)
        lambda_returns(*about, 1.0, out)
        return out
