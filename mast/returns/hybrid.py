"""Hybrid targets: one-step returns at first, lambda returns once values mean something."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mast.episodes import EpisodeBatch
from mast.parts import UpdateSize
from mast.returns.lam import lambda_returns
from mast.returns.n_step import n_step_returns
from mast.returns.returns import RETURNS, Moment, Returns


@RETURNS.add("hybrid")
@dataclass(frozen=True)
class Hybrid(Returns):
    """One step until T0, then lambda returns.

    Attributes:
        t0: T0 as a share of the run.
        lam: Lambda from then on.
    """

    t0: float
    lam: float

    def __call__(
        self, batch: EpisodeBatch, rewards: NDArray[np.float64], after: NDArray[np.floating],
        moment: Moment,
    ) -> NDArray[np.floating]:  # fmt: skip
        """See :class:`Returns`."""
        out = np.empty_like(after)
        about = (rewards, after, batch.steps, batch.terminated, moment.gamma)
        if moment.done >= self.t0 * moment.total:
            lambda_returns(*about, self.lam, out)
        else:
            n_step_returns(*about, 1, out)
        return out

    def flops(self, size: UpdateSize) -> int:
        """Of lambda returns."""
        return 5 * size.steps


def discounted(
    batch: EpisodeBatch, rewards: NDArray[np.float64], gamma: float
) -> NDArray[np.float64]:
    """``(B, T)`` discounted returns of what was earned in the episode, without its future."""
    out, nothing = np.empty_like(rewards), np.zeros_like(rewards)
    lambda_returns(rewards, nothing, batch.steps, batch.terminated, gamma, 1.0, out)
    return out
