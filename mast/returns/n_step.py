"""Returns of a fixed number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled
from mast.episodes import EpisodeBatch
from mast.parts import UpdateSize
from mast.returns.returns import RETURNS, Moment, Returns


@compiled
def n_step_returns(
    rewards: Any, after: Any, steps: Any, terminated: Any, gamma: float, n: int, out: Any
) -> None:
    """``sum_k g^k r_{t+k} + g^n V_{t+n}``, with fewer steps where the episode ends before.

    Args:
        rewards: ``(B, T)``.
        after: ``(B, T)`` values of the state after each step.
        steps: ``(B,)`` steps of each episode.
        terminated: ``(B,)``: nothing follows the last step.
        gamma: Discount a step.
        n: Steps; with 1 they are one-step targets.
        out: ``(B, T)`` written in place; 0 beyond an episode's end.
    """
    for b in range(rewards.shape[0]):
        out[b] = 0.0
        for t in range(steps[b]):
            last = min(t + n, steps[b]) - 1
            value = 0.0 if terminated[b] and last == steps[b] - 1 else after[b, last]
            for k in range(last, t - 1, -1):
                value = rewards[b, k] + gamma * value
            out[b, t] = value


@RETURNS.add("n-step")
@dataclass(frozen=True)
class NStep(Returns):
    """One step until T0, then more.

    Attributes:
        t0: T0 as a share of the run.
        n_step: Steps from then on.
    """

    t0: float
    n_step: int

    def __call__(
        self, batch: EpisodeBatch, rewards: NDArray[np.float64], after: NDArray[np.floating],
        moment: Moment,
    ) -> NDArray[np.floating]:  # fmt: skip
        """See :class:`Returns`."""
        out = np.empty_like(after)
        n = self.n_step if moment.done >= self.t0 * moment.total else 1
        n_step_returns(rewards, after, batch.steps, batch.terminated, moment.gamma, n, out)
        return out

    def flops(self, size: UpdateSize) -> int:
        """See :class:`mast.parts.LearnerPart`."""
        return 2 * self.n_step * size.steps
