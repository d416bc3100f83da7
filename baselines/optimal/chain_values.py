"""A good value on a chain: change one choice of a mapping, or two, while that betters it."""

from __future__ import annotations

from typing import Any

import numpy as np

from maestro_env import Problem
from marl_common import IntArray

PAIRS = 1500
"""Pairs of choices changed at random in a round."""
AT_ONCE = 512
"""Mappings evaluated at a time: many take much memory."""
ROUNDS = 40
STUCK = 3
"""Rounds in a row that find nothing better, after which it ends."""


def improved(problem: Problem, action: IntArray) -> tuple[IntArray, float, int]:
    """Better a mapping until changes of one choice, and many of two, find nothing.

    Args:
        problem: The problem; its counters are not used.
        action: ``(P,)`` the mapping.

    Returns:
        The best mapping, its value, and how many were evaluated.
    """
    rng = np.random.default_rng(0)
    sizes = np.array([len(p) for p in problem.space.parameters])
    value, looked, stuck = float(problem.look(action[None]).values[0]), 1, 0
    for _ in range(ROUNDS):
        near = np.concatenate([_singles(action, sizes), _pairs(action, sizes, rng)])
        parts = np.array_split(near, 1 + len(near) // AT_ONCE)
        values = np.concatenate([problem.look(part).values for part in parts])
        looked += len(near)
        best = int(np.argmin(values))
        if values[best] < value:
            action, value, stuck = near[best], float(values[best]), 0
            continue
        stuck += 1
        if stuck == STUCK:
            break
    return action, value, looked


def _singles(action: IntArray, sizes: IntArray) -> IntArray:
    columns = np.repeat(np.arange(len(sizes)), sizes)
    near = np.repeat(action[None], len(columns), axis=0)
    near[np.arange(len(near)), columns] = np.concatenate([np.arange(n) for n in sizes])
    return near


def _pairs(action: IntArray, sizes: IntArray, rng: Any) -> IntArray:
    near = np.repeat(action[None], PAIRS, axis=0)
    rows = np.arange(PAIRS)
    for _ in range(2):
        columns = rng.integers(0, len(sizes), PAIRS)
        near[rows, columns] = rng.integers(0, sizes[columns])
    return near
