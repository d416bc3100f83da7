"""Generalised advantage estimation (Schulman et al., 2016), for worlds side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled

Float = NDArray[np.float64]


@compiled
def advantages(
    rewards: Float,
    values: NDArray[Any],
    next_values: NDArray[Any],
    terminated: NDArray[np.bool_],
    ended: NDArray[np.bool_],
    gamma: float,
    trace: float,
) -> Float:
    """How much better than expected every action was, over the steps that followed.

    A cut episode bootstraps from its last observation, a terminated one does not; nothing flows
    from one episode into the one before.

    Args:
        rewards: ``(T, W, N)``.
        values: ``(T, W, N)`` of the observations acted on.
        next_values: ``(T, W, N)`` of those after the step.
        terminated: ``(T, W)`` no future beyond.
        ended: ``(T, W)`` the next row of this world starts another episode.
        gamma: Discount a step.
        trace: How far surprises reach back: 0 one step, 1 the whole episode.

    Returns:
        ``(T, W, N)``.
    """
    steps, worlds, n = rewards.shape
    out = np.zeros(rewards.shape)
    for w in range(worlds):
        for i in range(n):
            later = 0.0
            for t in range(steps - 1, -1, -1):
                future = 0.0 if terminated[t, w] else gamma * next_values[t, w, i]
                surprise = rewards[t, w, i] + future - values[t, w, i]
                later = surprise + (0.0 if ended[t, w] else gamma * trace * later)
                out[t, w, i] = later
    return out
