"""Lambda returns over whole episodes, backwards from the last step."""

from __future__ import annotations

from typing import Any

from marl_common import compiled


@compiled
def lambda_returns(
    rewards: Any, after: Any, steps: Any, terminated: Any, gamma: float, lam: float, out: Any
) -> None:
    """``G_t = r_t + g (1 - d_t) ((1 - l) V_{t+1} + l G_{t+1})``, ``G_{t+1} = V_{t+1}`` at the end.

    With ``lam`` 0 they are one-step targets, with 1 the discounted return, to which an episode that
    was cut adds the value of where it was cut.

    Args:
        rewards: ``(B, T)``.
        after: ``(B, T)`` values of the state after each step.
        steps: ``(B,)`` steps of each episode.
        terminated: ``(B,)``: nothing follows the last step.
        gamma: Discount a step.
        lam: ``l``.
        out: ``(B, T)`` written in place; 0 beyond an episode's end.
    """
    for b in range(rewards.shape[0]):
        last = steps[b] - 1
        out[b, last + 1 :] = 0.0
        following = after[b, last] * (0.0 if terminated[b] else 1.0)
        for t in range(last, -1, -1):
            if t < last:
                following = (1.0 - lam) * after[b, t] + lam * out[b, t + 1]
            out[b, t] = rewards[b, t] + gamma * following
