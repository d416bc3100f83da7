"""What agents see and earn in simple_world_comm, where forests hide who is inside.

mpe2 1.1.1, ``simple_world_comm.py`` ``observation`` and ``reward``: a leader that sees all and
speaks, its followers, and good agents that look for food.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled, inner_function
from mpe_marl.worlds.goals import Obs, apart, see_marks, see_velocity
from mpe_marl.worlds.physics import Float, State

_FOOD = _FORESTS = 2
_HUNTER, _GOOD, _FOREST, _BITE = 0.075, 0.045, 0.3, 0.03  # radii
_CAUGHT = 5.0
_inner = inner_function(error_model="numpy")


@_inner
def _edge(at: float) -> float:
    """What it costs to be near or beyond the edge along one axis (``bound``)."""
    if at < 0.9:
        return 0.0
    if at < 1.0:
        return (at - 0.9) * 10
    return min(math.exp(2 * at - 2), 10.0)


@_inner
def _hide(row: Any, n: int, hunters: int, forests: int, hidden: NDArray[np.bool_]) -> None:
    """Write which agents are in which forest: ``hidden (N, 2)``."""
    for m in range(n):
        reach = (_HUNTER if m < hunters else _GOOD) + _FOREST
        for f in range(_FORESTS):
            hidden[m, f] = apart(row, 2 * m, forests + 2 * f) < reach


@_inner
def _visible(hidden: NDArray[np.bool_], a: int, b: int) -> bool:
    """Whether an agent sees another: both in one forest, both outside, or it leads."""
    inside = False
    for f in range(_FORESTS):
        if hidden[a, f] and hidden[b, f]:
            return True
        inside |= bool(hidden[a, f]) or bool(hidden[b, f])
    return a == 0 or not inside


@_inner
def _see_places(row: Any, hidden: NDArray[np.bool_], i: int, seen: Any, at: int) -> int:
    """Write where the others are, zeros of those out of sight; returns the next column."""
    for m in range(hidden.shape[0]):
        if m != i:
            sight = 1.0 if _visible(hidden, i, m) else 0.0
            seen[at] = (row[2 * m] - row[2 * i]) * sight
            seen[at + 1] = (row[2 * m + 1] - row[2 * i + 1]) * sight
            at += 2
    return at


@_inner
def _see_speeds(
    row: Any, hidden: NDArray[np.bool_], hunters: int, i: int, seen: Any, at: int
) -> int:
    """Write velocities of the good agents in the same way; returns the next column."""
    n = hidden.shape[0]
    for m in range(hunters, n):
        if m != i:
            sight = 1.0 if _visible(hidden, i, m) else 0.0
            seen[at] = row[2 * n + 2 * m] * sight
            seen[at + 1] = row[2 * n + 2 * m + 1] * sight
            at += 2
    return at


@_inner
def _look(
    row: Any, n: int, marks: int, hunters: int, hidden: NDArray[np.bool_], i: int, seen: Any
) -> None:
    """Write one agent's observation."""
    at = see_velocity(row, n, i, seen, 0)
    seen[at], seen[at + 1] = row[2 * i], row[2 * i + 1]
    at = see_marks(row, n, marks, i, seen, at + 2)
    at = _see_places(row, hidden, i, seen, at)
    if i < hunters:
        at = _see_speeds(row, hidden, hunters, i, seen, at)
    for f in range(_FORESTS):
        seen[at + f] = 1.0 if hidden[i, f] else -1.0
    at += _FORESTS
    if i >= hunters:
        _see_speeds(row, hidden, hunters, i, seen, at)
        return
    said = 4 * n + 2 * marks
    for c in range(row.shape[0] - said):
        seen[at + c] = row[said + c]


@_inner
def _earn_good(row: Any, hunters: int, food: int, i: int) -> float:
    """Reward of a good agent (``agent_reward``)."""
    reward, nearest = 0.0, np.inf
    for a in range(hunters):
        if apart(row, 2 * a, 2 * i) < _HUNTER + _GOOD:
            reward -= _CAUGHT
    for axis in range(2):
        reward -= 2 * _edge(abs(row[2 * i + axis]))
    for k in range(_FOOD):
        gap = apart(row, 2 * i, food + 2 * k)
        nearest = min(nearest, gap)
        if gap < _GOOD + _BITE:
            reward += 2
    return reward - 0.05 * nearest


@_inner
def _earn_hunters(row: Any, n: int, hunters: int, rewards: Any) -> None:
    """Rewards of the leader and its followers (``adversary_reward``)."""
    caught = 0.0
    for g in range(hunters, n):
        for a in range(hunters):
            if apart(row, 2 * g, 2 * a) < _HUNTER + _GOOD:
                caught += _CAUGHT
    for a in range(hunters):
        nearest = np.inf
        for g in range(hunters, n):
            nearest = min(nearest, apart(row, 2 * g, 2 * a))
        rewards[a] = caught - 0.1 * nearest


@compiled(error_model="numpy")
def world_comm(state: State, n: int, marks: int, obs: Obs, rewards: Float) -> None:
    """simple_world_comm; see :mod:`mpe_marl.worlds.goals` for what is given."""
    hunters = n - max(1, n // 3)
    food = 4 * n + 2 * (marks - _FOOD - _FORESTS)
    hidden = np.empty((n, _FORESTS), dtype=np.bool_)
    for w in range(state.shape[0]):
        row = state[w]
        _hide(row, n, hunters, food + 2 * _FOOD, hidden)
        for i in range(n):
            _look(row, n, marks, hunters, hidden, i, obs[w, i])
        for i in range(hunters, n):
            rewards[w, i] = _earn_good(row, hunters, food, i)
        _earn_hunters(row, n, hunters, rewards[w])
