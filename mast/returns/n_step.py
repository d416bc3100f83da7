"""Returns of a fixed number of steps."""

from __future__ import annotations

from typing import Any

from common import compiled


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
