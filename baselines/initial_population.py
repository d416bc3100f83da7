"""Where a search starts: random samples until enough of them are feasible."""

from __future__ import annotations

import numpy as np

from maestro_env import Problem
from maestro_env.evaluation import FloatArray
from maestro_env.map_space import IntArray


def feasible_start(
    problem: Problem, rng: np.random.Generator, count: int, share: float = 0.2
) -> tuple[IntArray, FloatArray]:
    """The best of random samples, drawn until enough of them are feasible.

    Args:
        problem: Samples are spent on it.
        rng: Randomness.
        count: Starts wanted; feasible ones come first.
        share: Most of the remaining budget to spend before infeasible starts are taken too.

    Returns:
        ``(count, P)`` canonical actions and their ``(count,)`` values, best first.
    """
    space = problem.space
    limit = np.inf if problem.remaining is None else share * problem.remaining
    actions, values = np.empty((0, len(space.nvec)), np.int64), np.empty(0)
    while True:
        drawn = space.canonical(space.sample(max(count, 16), rng))
        actions = np.concatenate([actions, drawn])
        values = np.concatenate([values, problem.evaluate(drawn).values])
        if np.isfinite(values).sum() >= count or len(values) >= limit:
            best = np.argsort(values, kind="stable")[:count]
            return actions[best], values[best]
