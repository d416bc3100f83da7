"""Where a search starts: random mappings, and samples of them until enough are feasible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maestro_env import ActionSpace, Problem
from marl_common import FloatArray, IntArray


def inner_tiles(space: ActionSpace) -> IntArray:
    """Columns of the tiles of all levels but the outermost in an action."""
    inner = [p.kind == "tile" and (p.level or 0) > 0 for p in space.parameters]
    return np.flatnonzero(inner)


def scattered(
    nvec: IntArray, tiles: IntArray, count: int, rng: np.random.Generator, unit_tiles: float
) -> IntArray:
    """Random actions, of which a share has the smallest inner tiles.

    So do GAMMA's first genomes (Kao and Krishna, ICCAD 2020): the parallel dimension then has the
    most steps to spread over the PEs, and the tiles fit the smallest buffer.

    Args:
        nvec: ``(P,)`` choices of each parameter.
        tiles: Columns of the inner tiles, see :func:`inner_tiles`.
        count: How many.
        rng: Randomness.
        unit_tiles: Share whose inner tiles are all the smallest.

    Returns:
        ``(count, P)`` int64.
    """
    actions = rng.integers(0, nvec, (count, len(nvec)))
    unit = rng.random(count) < unit_tiles
    actions[np.ix_(unit, tiles)] = 0
    return actions


def sampled(
    evaluate: Callable[[IntArray], FloatArray],
    draw: Callable[[], IntArray],
    keep: int,
    enough: float,
    limit: float,
) -> tuple[IntArray, FloatArray]:
    """The best of what is drawn until enough of it is feasible.

    Args:
        evaluate: Gives the ``(B,)`` values of ``(B, P)`` actions, which cost a sample each.
        draw: Gives ``(B, P)`` actions.
        keep: Actions to return at most; feasible ones come first.
        enough: Feasible samples after which no more are drawn.
        limit: Samples after which infeasible ones are taken too.

    Returns:
        ``(n, P)`` actions and their ``(n,)`` values, best first; ``n <= keep``.
    """
    actions = draw()
    values = evaluate(actions)
    while np.isfinite(values).sum() < enough and len(values) < limit:
        drawn = draw()
        actions = np.concatenate([actions, drawn])
        values = np.concatenate([values, evaluate(drawn)])
    best = np.argsort(values, kind="stable")[:keep]
    return actions[best], values[best]


def feasible_start(
    problem: Problem, rng: np.random.Generator, count: int, share: float = 0.2
) -> tuple[IntArray, FloatArray]:
    """``(count, P)`` canonical actions and their values: the best of uniform ones, see `sampled`.

    Args:
        problem: Samples are spent on it.
        rng: Randomness.
        count: Starts wanted, and feasible samples that are enough.
        share: Most of the remaining budget to spend.
    """
    space = problem.space

    def draw() -> IntArray:
        found: IntArray = space.canonical(space.sample(max(count, 16), rng))
        return found

    limit = np.inf if problem.remaining is None else share * problem.remaining
    return sampled(lambda actions: problem.evaluate(actions).values, draw, count, count, limit)
