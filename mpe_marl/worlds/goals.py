"""What agents see and earn in the worlds with goals that not all of them know.

mpe2 1.1.1, ``observation`` and ``reward`` of simple_adversary, simple_push,
simple_speaker_listener and simple_reference. Each function writes both for ``W`` worlds:
``state (W, S)`` as :class:`mpe_marl.worlds.RoleSpec` describes it, the numbers of agents and
landmarks, ``obs (W, N, D)`` (what is beyond an agent's own width is left as it is) and
``rewards (W, N)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled
from mpe_marl.worlds.physics import Float, State

Obs = NDArray[np.float32]
_compiled = compiled(error_model="numpy")
_inlined = compiled(error_model="numpy", inline="always")


@_inlined
def _goal(row: Any, n: int, marks: int, which: int) -> int:
    """State column of the place of a goal."""
    return 4 * n + 2 * int(row[4 * n + 2 * marks + which])


@_inlined
def apart(row: Any, a: int, b: int) -> float:
    """Distance of two places, given by their state columns."""
    dx, dy = row[a] - row[b], row[a + 1] - row[b + 1]
    return math.sqrt(dx * dx + dy * dy)


@_inlined
def see_velocity(row: Any, n: int, i: int, seen: Any, at: int) -> int:
    """Write an agent's own velocity; returns the next column."""
    seen[at], seen[at + 1] = row[2 * n + 2 * i], row[2 * n + 2 * i + 1]
    return at + 2


@_inlined
def see_place(row: Any, place: int, i: int, seen: Any, at: int) -> int:
    """Write a place, given by its state column, as agent ``i`` sees it; returns the next column."""
    seen[at], seen[at + 1] = row[place] - row[2 * i], row[place + 1] - row[2 * i + 1]
    return at + 2


@_inlined
def see_marks(row: Any, n: int, marks: int, i: int, seen: Any, at: int) -> int:
    """Write every landmark as agent ``i`` sees it; returns the next column."""
    for k in range(marks):
        at = see_place(row, 4 * n + 2 * k, i, seen, at)
    return at


@_inlined
def _see_others(row: Any, n: int, i: int, seen: Any, at: int) -> int:
    """Write every other agent's place as agent ``i`` sees it; returns the next column."""
    for m in range(n):
        if m != i:
            at = see_place(row, 2 * m, i, seen, at)
    return at


@_inlined
def _see_colour(low: float, high: float, which: int, seen: Any, at: int) -> int:
    """Write three shades of which one is high; returns the next column."""
    for c in range(3):
        seen[at + c] = high if c == which else low
    return at + 3


@_compiled
def adversary(state: State, n: int, marks: int, obs: Obs, rewards: Float) -> None:
    """simple_adversary: agent 0 does not know which landmark the others gather at."""
    for w in range(state.shape[0]):
        row, goal = state[w], _goal(state[w], n, marks, 0)
        nearest, hidden = np.inf, apart(row, 0, goal)
        for i in range(1, n):
            nearest = min(nearest, apart(row, 2 * i, goal))
        for i in range(n):
            seen, at = obs[w, i], 0
            if i > 0:
                at = see_place(row, goal, i, seen, at)
            at = see_marks(row, n, marks, i, seen, at)
            _see_others(row, n, i, seen, at)
            rewards[w, i] = -nearest + hidden if i > 0 else -hidden


@_compiled
def push(state: State, n: int, marks: int, obs: Obs, rewards: Float) -> None:
    """simple_push: agent 0 keeps the other one, who knows the goal, away from it."""
    for w in range(state.shape[0]):
        row, goal = state[w], _goal(state[w], n, marks, 0)
        gap = apart(row, 2, goal)
        rewards[w, 0], rewards[w, 1] = gap - apart(row, 0, goal), -gap
        for i in range(n):
            seen = obs[w, i]
            at = see_velocity(row, n, i, seen, 0)
            if i > 0:
                at = see_place(row, goal, i, seen, at)
                at = _see_colour(0.25, 0.75, (goal - 4 * n) // 2 + 1, seen, at)
            at = see_marks(row, n, marks, i, seen, at)
            if i > 0:
                for k in range(marks):
                    at = _see_colour(0.1, 0.1 + 0.8, k + 1, seen, at)
            _see_others(row, n, i, seen, at)


@_compiled
def speaker_listener(state: State, n: int, marks: int, obs: Obs, rewards: Float) -> None:
    """simple_speaker_listener: agent 0 sees which landmark agent 1 shall go to, and tells it."""
    said = 4 * n + 2 * marks + 1
    for w in range(state.shape[0]):
        row, goal = state[w], _goal(state[w], n, marks, 0)
        dx, dy = row[2] - row[goal], row[3] - row[goal + 1]
        rewards[w, 0] = rewards[w, 1] = -(dx * dx + dy * dy)
        _see_colour(0.15, 0.65, (goal - 4 * n) // 2, obs[w, 0], 0)
        seen = obs[w, 1]
        at = see_velocity(row, n, 1, seen, 0)
        at = see_marks(row, n, marks, 1, seen, at)
        for c in range(3):
            seen[at + c] = row[said + c]


@_compiled
def referral(state: State, n: int, marks: int, obs: Obs, rewards: Float) -> None:
    """simple_reference: each agent knows where the other one shall go."""
    words = (state.shape[1] - 4 * n - 2 * marks - n) // n
    said = 4 * n + 2 * marks + n
    for w in range(state.shape[0]):
        row, total = state[w], 0.0
        for i in range(n):
            goal = _goal(row, n, marks, i)
            rewards[w, i] = -apart(row, 2 * (1 - i), goal)
            total += rewards[w, i]
            seen = obs[w, i]
            at = see_velocity(row, n, i, seen, 0)
            at = see_marks(row, n, marks, i, seen, at)
            at = _see_colour(0.25, 0.75, (goal - 4 * n) // 2, seen, at)
            for c in range(words):
                seen[at + c] = row[said + words * (1 - i) + c]
        for i in range(n):  # half its own, half the mean of both (mpe2's local_ratio 0.5)
            rewards[w, i] = total / n * 0.5 + rewards[w, i] * 0.5
