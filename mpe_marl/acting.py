"""Choosing actions: for a few worlds one compiled pass over the agents' policies.

A step of one world asks for ``N`` tiny products, for which a tensor library's calls cost more than
the arithmetic; many worlds at once go through PyTorch instead (see ``Learner.act``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled

Array = NDArray[Any]


@compiled
def outputs(
    obs: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array, out: Array
) -> None:
    """Run every agent's policy.

    Args:
        obs: ``(W, N, D)`` observations.
        w1: ``(N, D, H)``; and so on, as :class:`mpe_marl.learners.bank.Bank` stacks them.
        b1: ``(N, H)``.
        w2: ``(N, H, H)``.
        b2: ``(N, H)``.
        w3: ``(N, H, O)``.
        b3: ``(N, O)``.
        out: ``(W, N, O)`` written in place.
    """
    width = b1.shape[1]
    h1, h2 = np.empty(width, w1.dtype), np.empty(width, w1.dtype)
    for w in range(obs.shape[0]):
        for i in range(obs.shape[1]):
            h1[:] = b1[i]
            for f in range(obs.shape[2]):
                x = obs[w, i, f]
                for k in range(width):
                    h1[k] += x * w1[i, f, k]
            h2[:] = b2[i]
            for f in range(width):
                if h1[f] > 0:
                    for k in range(width):
                        h2[k] += h1[f] * w2[i, f, k]
            out[w, i] = b3[i]
            for f in range(width):
                if h2[f] > 0:
                    for k in range(out.shape[2]):
                        out[w, i, k] += h2[f] * w3[i, f, k]


@compiled
def pick(logits: Array, uniform: NDArray[np.float64], moves: NDArray[np.int64]) -> None:
    """Sample moves from softmax(logits) by inverting the distribution.

    Args:
        logits: ``(W, N, A)``.
        uniform: ``(W, N)`` numbers in [0, 1).
        moves: ``(W, N)`` written in place.
    """
    count = logits.shape[2]
    for w in range(logits.shape[0]):
        for i in range(logits.shape[1]):
            top = logits[w, i].max()
            total = 0.0
            for a in range(count):
                total += np.exp(logits[w, i, a] - top)
            rest = uniform[w, i] * total
            move = 0
            rest -= np.exp(logits[w, i, 0] - top)
            while rest >= 0 and move < count - 1:
                move += 1
                rest -= np.exp(logits[w, i, move] - top)
            moves[w, i] = move


LOG_STD = (-5.0, 2.0)
"""Bounds of the logarithm of a Gaussian policy's standard deviation."""


def choose(
    output: Array, discrete: bool, soft: bool, noise: float, rng: np.random.Generator, explore: bool
) -> Array:
    """Choose actions from the policies' outputs.

    Args:
        output: ``(W, N, O)`` logits of moves; means; or means, then log standard deviations.
        discrete: They are logits.
        soft: The policy says how much it varies (MASAC).
        noise: Standard deviation of exploration of one that does not.
        rng: Draws what is explored.
        explore: Sample; otherwise take the likeliest move or the mean.

    Returns:
        ``(W, N)`` moves, or ``(W, N, A)`` float32 in [0, 1].
    """
    if discrete:
        if not explore:
            return np.asarray(output.argmax(-1))
        moves = np.empty(output.shape[:2], dtype=np.int64)
        pick(output, rng.random(output.shape[:2]), moves)
        return moves
    if soft:
        mean, log_std = np.split(output, 2, axis=-1)
        step = np.exp(np.clip(log_std, *LOG_STD)) * rng.standard_normal(mean.shape)
        return _sigmoid(mean + step * explore)
    action = _sigmoid(output) + noise * rng.standard_normal(output.shape) * explore
    return np.asarray(np.clip(action, 0.0, 1.0), dtype=np.float32)


def _sigmoid(x: Array) -> NDArray[np.float32]:
    return np.asarray(1.0 / (1.0 + np.exp(-x)), dtype=np.float32)
