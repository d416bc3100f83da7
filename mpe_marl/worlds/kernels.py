"""Compiled physics, rewards and observations of the particle worlds.

The arithmetic follows mpe2 1.1.1 operation by operation (``_mpe_utils/core.py`` World.step,
``simple_tag.py`` and ``simple_spread.py`` reward), so both agree to rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

DT = 0.1  # core.py World: seconds a step
DAMPING = 0.25
CONTACT_FORCE = 1e2
CONTACT_MARGIN = 1e-3
# A gap of more than 50 margins pushes with less than 1e-22, lost in any velocity's rounding.
_REACH = 50.0 * CONTACT_MARGIN
_SIGHT = 0.3  # how far a prey sees a predator
_WALL = 0.8  # prey turn back from here; the arena's penalty starts at 0.9
_WALL_PUSH = 40.0

Float = NDArray[np.float64]
State = NDArray[np.float64]


@njit(cache=True)
def _push(state: State, a: int, b: int, reach: float, force: Float, both: bool) -> None:
    """Add the contact force between entities at columns ``a`` and ``b`` (core.py:264)."""
    dx = state[a] - state[b]
    dy = state[a + 1] - state[b + 1]
    square = dx * dx + dy * dy
    limit = reach + _REACH
    if square > limit * limit:
        return
    dist = math.sqrt(square)
    x = -(dist - reach) / CONTACT_MARGIN
    overlap = (x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))) * CONTACT_MARGIN
    fx = CONTACT_FORCE * dx / dist * overlap
    fy = CONTACT_FORCE * dy / dist * overlap
    force[a] += fx
    force[a + 1] += fy
    if both:
        force[b] -= fx
        force[b + 1] -= fy


@njit(cache=True)
def _contacts(state: State, movers: Float, n_landmarks: int, radius: float, force: Float) -> None:
    """Add every contact force, in mpe2's order of pairs."""
    n = movers.shape[0]
    for a in range(n):
        for b in range(a + 1, n):
            _push(state, 2 * a, 2 * b, movers[a, 0] + movers[b, 0], force, True)
        if radius > 0.0:
            for k in range(n_landmarks):
                _push(state, 2 * a, 4 * n + 2 * k, movers[a, 0] + radius, force, False)


@njit(cache=True)
def _integrate(state: State, movers: Float, force: Float, openai_order: bool) -> None:
    """Move every mover one step (core.py:210)."""
    n = movers.shape[0]
    for m in range(n):
        p, v = 2 * m, 2 * n + 2 * m
        if not openai_order:
            state[p] += state[v] * DT
            state[p + 1] += state[v + 1] * DT
        vx = state[v] * (1 - DAMPING) + force[p] * DT
        vy = state[v + 1] * (1 - DAMPING) + force[p + 1] * DT
        speed = math.sqrt(vx * vx + vy * vy)
        if speed > movers[m, 2]:
            vx = vx / speed * movers[m, 2]
            vy = vy / speed * movers[m, 2]
        state[v] = vx
        state[v + 1] = vy
        if openai_order:
            state[p] += vx * DT
            state[p + 1] += vy * DT


@njit(cache=True)
def flee(state: State, prey: int, n_agents: int, n_movers: int) -> int:
    """Choose a prey's move: along the larger component of the push from danger and walls.

    The nearest predator within sight pushes with 1/distance, walls with a spring from 0.8 outwards.
    A prey that nothing pushes stays where it is. Seeing only the nearest, it can be driven from
    one predator to another.

    Args:
        state: One world's state row.
        prey: Index of the prey among the movers.
        n_agents: Number of predators.
        n_movers: Number of predators and prey.

    Returns:
        mpe2's discrete action: 0 none, 1 left, 2 right, 3 down, 4 up.
    """
    x, y = state[2 * prey], state[2 * prey + 1]
    nearest, fx, fy = _SIGHT * _SIGHT, 0.0, 0.0
    for i in range(n_agents):
        dx, dy = x - state[2 * i], y - state[2 * i + 1]
        square = dx * dx + dy * dy
        if square < nearest:
            nearest = square
            fx, fy = dx / (square + 1e-6), dy / (square + 1e-6)
    if abs(x) > _WALL:
        fx -= math.copysign(abs(x) - _WALL, x) * _WALL_PUSH
    if abs(y) > _WALL:
        fy -= math.copysign(abs(y) - _WALL, y) * _WALL_PUSH
    if fx == 0.0 and fy == 0.0:
        return 0
    if abs(fx) >= abs(fy):
        return 2 if fx >= 0 else 1
    return 4 if fy >= 0 else 3


@njit(cache=True)
def _near(state: State, a: int, b: int, reach: float) -> bool:
    dx = state[a] - state[b]
    dy = state[a + 1] - state[b + 1]
    square = dx * dx + dy * dy
    if square > reach * reach * 1.0001:  # clearly apart: spare the root
        return False
    return math.sqrt(square) < reach


@njit(cache=True)
def _reward_tag(state: State, movers: Float, n_agents: int, reward: Float) -> None:
    """Every predator earns 10 for each predator-prey contact (adversary_reward)."""
    total = 0.0
    for m in range(n_agents, movers.shape[0]):
        for i in range(n_agents):
            if _near(state, 2 * m, 2 * i, movers[m, 0] + movers[i, 0]):
                total += 10.0
    reward[:] = total


@njit(cache=True)
def _reward_spread(state: State, movers: Float, n_landmarks: int, reward: Float) -> None:
    """Half the uncovered distance, half the agent's own bumps (reward, global_reward)."""
    n = movers.shape[0]
    shared = 0.0
    for k in range(n_landmarks):
        column = 4 * n + 2 * k
        best = np.inf
        for i in range(n):
            dx = state[2 * i] - state[column]
            dy = state[2 * i + 1] - state[column + 1]
            best = min(best, dx * dx + dy * dy)
        shared -= math.sqrt(best)
    reward[:] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if _near(state, 2 * i, 2 * j, movers[i, 0] + movers[j, 0]):
                reward[i] -= 1.0
                reward[j] -= 1.0
    for i in range(n):
        reward[i] = shared * 0.5 + reward[i] * 0.5


@njit(cache=True)
def observe(state: State, terms: NDArray[np.int32], obs: NDArray[np.float32]) -> None:
    """Write every agent's observation of one world.

    Args:
        state: ``(state_dim + 1,)`` state; the last entry is zero.
        terms: ``(2, N, D')`` see :attr:`WorldSpec.observation_terms`.
        obs: ``(N, D)``, the first ``D'`` features written in place.
    """
    for i in range(obs.shape[0]):
        row, plus, minus = obs[i], terms[0, i], terms[1, i]
        for f in range(plus.shape[0]):  # unsigned, so that no index is checked for its sign
            row[f] = state[np.uintp(plus[f])] - state[np.uintp(minus[f])]


@njit(cache=True)
def observe_all(state: State, terms: NDArray[np.int32], obs: NDArray[np.float32]) -> None:
    """Write the observations of ``W`` worlds: :func:`observe` for each row."""
    for w in range(state.shape[0]):
        observe(state[w], terms, obs[w])


@njit(cache=True)
def _finish(
    state: State,
    movers: Float,
    n_landmarks: int,
    radius: float,
    n_agents: int,
    openai_order: bool,
    force: Float,
    reward: Float,
) -> None:
    """Prey, contacts, motion and rewards of one world whose agents' forces are set."""
    n = movers.shape[0]
    for m in range(n_agents, n):
        move = flee(state, m, n_agents, n)
        force[2 * m] = movers[m, 1] * ((move == 2) - (move == 1))
        force[2 * m + 1] = movers[m, 1] * ((move == 4) - (move == 3))
    _contacts(state, movers, n_landmarks, radius, force)
    _integrate(state, movers, force, openai_order)
    if n > n_agents:
        _reward_tag(state, movers, n_agents, reward)
    else:
        _reward_spread(state, movers, n_landmarks, reward)


@njit(cache=True)
def step_discrete(
    state: State,
    actions: NDArray[np.int64],
    movers: Float,
    terms: NDArray[np.int32],
    n_landmarks: int,
    radius: float,
    openai_order: bool,
    obs: NDArray[np.float32],
    rewards: Float,
) -> None:
    """Advance ``W`` worlds by one step with one of five moves for each agent.

    Args:
        state: ``(W, state_dim + 1)`` states, changed in place.
        actions: ``(W, N)`` moves 0..4: none, left, right, down, up.
        movers: ``(M, 3)`` see :attr:`WorldSpec.movers`.
        terms: ``(2, N, D')`` see :func:`observe`.
        n_landmarks: Number of landmarks.
        radius: Radius of a landmark; 0 when movers pass through.
        openai_order: Move with the new velocity.
        obs: ``(W, N, D)`` written in place.
        rewards: ``(W, N)`` written in place.
    """
    n = actions.shape[1]
    force = np.zeros(2 * movers.shape[0])
    for w in range(state.shape[0]):
        for i in range(n):
            a = actions[w, i]
            force[2 * i] = movers[i, 1] * ((a == 2) - (a == 1))
            force[2 * i + 1] = movers[i, 1] * ((a == 4) - (a == 3))
        _finish(state[w], movers, n_landmarks, radius, n, openai_order, force, rewards[w])
        observe(state[w], terms, obs[w])


@njit(cache=True)
def step_continuous(
    state: State,
    actions: NDArray[np.float32],
    movers: Float,
    terms: NDArray[np.int32],
    n_landmarks: int,
    radius: float,
    openai_order: bool,
    obs: NDArray[np.float32],
    rewards: Float,
) -> None:
    """As :func:`step_discrete`, with ``(W, N, 5)`` actions in [0, 1]: a push for each side."""
    n = actions.shape[1]
    force = np.zeros(2 * movers.shape[0])
    for w in range(state.shape[0]):
        for i in range(n):
            force[2 * i] = movers[i, 1] * (actions[w, i, 2] - actions[w, i, 1])
            force[2 * i + 1] = movers[i, 1] * (actions[w, i, 4] - actions[w, i, 3])
        _finish(state[w], movers, n_landmarks, radius, n, openai_order, force, rewards[w])
        observe(state[w], terms, obs[w])
