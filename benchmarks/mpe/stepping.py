"""World steps a second: the compiled worlds against mpe2.

    python -m benchmarks mpe.stepping

Whole episodes of 25 random moves from the start that seed 0 gives, the same on both sides. Only
steps are timed: neither resets nor the choice of actions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.frame import Table
from mpe_marl.worlds import LINEAR_SCENARIOS, BatchWorlds, make_spec
from mpe_marl.worlds.reference import mpe2_env

STEPS = 25


def seconds_a_step(
    reset: Callable[[], object],
    step: Callable[[Any], object],
    moves: Sequence[Any],
    episodes: int,
    repeats: int,
) -> float:
    """Fastest mean time of a step in a run of episodes [s], processor time of this thread."""
    best = float("inf")
    for _ in range(repeats):
        seconds = 0.0
        for _ in range(episodes):
            reset()
            start = time.thread_time()
            for move in moves:
                step(move)
            seconds += time.thread_time() - start
        best = min(best, seconds / (episodes * len(moves)))
    return best


def moves_of(n: int, worlds: int) -> Any:
    """``(STEPS, worlds, n)`` random moves."""
    return np.random.default_rng(0).integers(0, 5, (STEPS, worlds, n))


def compiled(scenario: str, n: int, worlds: int, repeats: int) -> float:
    """Seconds that one world's step takes among ``worlds``."""
    batch = BatchWorlds(make_spec(scenario, n), worlds)
    moves, episodes = list(moves_of(n, worlds)), max(5, 2_000 // (n * worlds))
    return seconds_a_step(lambda: batch.reset(0), batch.step, moves, episodes, repeats) / worlds


def reference(scenario: str, n: int, repeats: int) -> float:
    """Seconds that a step of mpe2 takes; its prey move at random too."""
    env = mpe2_env(make_spec(scenario, n))
    names = env.possible_agents
    moves = [dict(zip(names, m.tolist(), strict=True)) for m in moves_of(len(names), 1)[:, 0]]
    return seconds_a_step(lambda: env.reset(seed=0), env.step, moves, 1, repeats)


def row_of(given: Any, world: str, agents: int) -> tuple[str, ...]:
    """A world's step, alone and side by side with others, and mpe2's."""
    one = compiled(world, agents, 1, given.repeats)
    many = compiled(world, agents, WORLDS, given.repeats)
    theirs = reference(world, agents, given.repeats)
    figures = (theirs * 1e6, one * 1e6, theirs / one, many * 1e6, one / many)
    return tuple(f"{figure:.5g}" for figure in figures)


WORLDS = 64
TABLE = Table(
    __doc__,
    (
        *("world", "agents", "mpe2 us", "one us", "one, times"),
        *(f"each of {WORLDS} us", "more, times"),
    ),
    lambda given: product(LINEAR_SCENARIOS, given.agents),
    row_of,
    "mpe-stepping.csv",
    {"agents": [3, 12, 48], "repeats": 7},
    {"repeats": 1},
)
