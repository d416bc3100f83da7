"""Compiled physics, rewards and observations of the particle worlds.

The arithmetic follows mpe2 1.1.1 operation by operation (``_mpe_utils/core.py`` World.step,
``simple_tag.py`` and ``simple_spread.py`` reward), so both agree to rounding. What is done for
every pair is written as a plain loop over contiguous numbers, which the compiler turns into vector
instructions; unsigned indices spare the check for negative ones, which would prevent that. Every
part of a step takes all worlds in turn: for small ones a call costs more than what it computes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray

from marl_common import compiled

DT = 0.1  # core.py World: seconds a step
DAMPING = 0.25
CONTACT_FORCE = 1e2
CONTACT_MARGIN = 1e-3
# Where a gap or an overlap is more than 40 margins, log(1 + exp(overlap)) is zero or the overlap
# itself, to rounding.
_MARGINS = 40.0
_SIGHT = 0.3  # how far a prey sees a predator
_WALL = 0.8  # prey turn back from here; the arena's penalty starts at 0.9
_WALL_PUSH = 40.0
_WORD = 64  # bits of a mask
_FEW = 16  # of fewer bodies a mask is not worth its while

Float = NDArray[np.float64]
State = NDArray[np.float64]
_U = np.uintp
_compiled = compiled(error_model="numpy")  # two at one place: no error, as in mpe2
_inlined = compiled(error_model="numpy", inline="always")


@_compiled
def split(state: State, n_movers: int, x: Float, y: Float) -> None:
    """Copy the (x, y) places of movers and landmarks to ``(W, E)`` arrays."""
    for w in range(state.shape[0]):
        for e in range(n_movers):
            x[w, e], y[w, e] = state[w, 2 * e], state[w, 2 * e + 1]
        for e in range(n_movers, x.shape[1]):  # velocities lie between
            at = 2 * (e + n_movers)
            x[w, e], y[w, e] = state[w, at], state[w, at + 1]


@_compiled
def _push_apart(x: Float, y: Float, radius: Float, a: int, b: int, force: Float) -> None:
    """Add the contact force between two bodies (core.py:264)."""
    dx, dy = x[a] - x[b], y[a] - y[b]
    dist = math.sqrt(dx * dx + dy * dy)
    depth = -(dist - (radius[a] + radius[b])) / CONTACT_MARGIN
    if depth <= 0.0:
        depth = math.log1p(math.exp(depth))
    elif depth < _MARGINS:
        depth += math.log1p(math.exp(-depth))
    overlap = depth * CONTACT_MARGIN
    fx = CONTACT_FORCE * dx / dist * overlap
    fy = CONTACT_FORCE * dy / dist * overlap
    force[a, 0] += fx
    force[a, 1] += fy
    force[b, 0] -= fx
    force[b, 1] -= fy


@_compiled
def _near(x: Float, y: Float, radius: Float, a: int, b: int) -> bool:
    """Whether two bodies push each other."""
    dx = x[_U(b)] - x[a]
    dy = y[_U(b)] - y[a]
    reach = radius[_U(b)] + (radius[a] + _MARGINS * CONTACT_MARGIN)
    return bool(dx * dx + dy * dy < reach * reach)


@_compiled
def contacts(xs: Float, ys: Float, radius: Float, n_movers: int, forces: Float) -> None:
    """Add every contact force, in mpe2's order of pairs.

    Args:
        xs: ``(W, E)`` places of the movers, then of the landmarks.
        ys: As ``xs``.
        radius: ``(B,)`` radii of the movers, then of the landmarks that can be bumped into.
        n_movers: Bodies that move.
        forces: ``(W, B, 2)`` changed in place.
    """
    bodies = radius.shape[0]
    for w in range(xs.shape[0]):
        x, y, force = xs[w], ys[w], forces[w]
        for a in range(n_movers):
            start = a + 1
            while bodies - start >= _FEW:
                count = min(_WORD, bodies - start)
                near = np.uint64(0)  # one bit a body: a loop without branches
                for c in range(count):
                    near |= np.uint64(_near(x, y, radius, a, start + c)) << np.uint64(c)
                while near:
                    _push_apart(x, y, radius, a, start + np.int64(trailing_zeros(near)), force)
                    near &= near - np.uint64(1)
                start += count
            for b in range(start, bodies):
                if _near(x, y, radius, a, b):
                    _push_apart(x, y, radius, a, b, force)


@_compiled
def integrate(
    state: State, movers: Float, force: Float, openai_order: bool, x: Float, y: Float
) -> None:
    """Move every mover one step (core.py:210), in the states and in the ``(W, E)`` places."""
    n = movers.shape[0]
    for w in range(state.shape[0]):
        for m in range(n):
            p, v, top = 2 * m, 2 * n + 2 * m, movers[m, 2]
            old_x, old_y = state[w, v], state[w, v + 1]
            vx = old_x * (1 - DAMPING) + force[w, m, 0] * DT
            vy = old_y * (1 - DAMPING) + force[w, m, 1] * DT
            if top < np.inf:
                speed = math.sqrt(vx * vx + vy * vy)
                if speed > top:
                    vx = vx / speed * top
                    vy = vy / speed * top
            state[w, v], state[w, v + 1] = vx, vy
            new_x = x[w, m] + (vx if openai_order else old_x) * DT
            new_y = y[w, m] + (vy if openai_order else old_y) * DT
            state[w, p], state[w, p + 1] = new_x, new_y
            x[w, m], y[w, m] = new_x, new_y


@_inlined
def _wall(at: float) -> float:
    """How hard the walls push a prey inwards along one axis."""
    return math.copysign(max(abs(at) - _WALL, 0.0), at) * _WALL_PUSH


@_inlined
def flee(x: Float, y: Float, prey: int, n_agents: int) -> int:
    """Choose a prey's move: along the larger component of the push from danger and walls.

    The nearest predator within sight pushes with 1/distance, walls with a spring from 0.8 outwards.
    A prey that nothing pushes stays where it is. Seeing only the nearest, it can be driven from
    one predator to another.

    Args:
        x: ``(M,)`` places of the movers.
        y: As ``x``.
        prey: Index of the prey among the movers.
        n_agents: Number of predators.

    Returns:
        mpe2's discrete action: 0 none, 1 left, 2 right, 3 down, 4 up.
    """
    at_x, at_y = x[prey], y[prey]
    nearest, from_x, from_y = _SIGHT * _SIGHT, 0.0, 0.0
    for i in range(n_agents):  # which one is nearest cannot be foreseen: no branches
        dx, dy = at_x - x[_U(i)], at_y - y[_U(i)]
        square = dx * dx + dy * dy
        nearer = square < nearest
        nearest = square if nearer else nearest
        from_x = dx if nearer else from_x
        from_y = dy if nearer else from_y
    fx = from_x / (nearest + 1e-6) - _wall(at_x)
    fy = from_y / (nearest + 1e-6) - _wall(at_y)
    along_x, along_y = 1 + (fx >= 0.0), 3 + (fy >= 0.0)
    move: int = along_x if abs(fx) >= abs(fy) else along_y
    return 0 if fx == 0.0 and fy == 0.0 else move


@_compiled
def _touching(x: Float, y: Float, n: int, at_x: float, at_y: float, square: float) -> int:
    """How many of the first ``n`` entities are nearer to a place than a distance."""
    count = 0
    for k in range(n):
        dx = x[_U(k)] - at_x
        dy = y[_U(k)] - at_y
        count += dx * dx + dy * dy < square
    return count


@_compiled
def _reward_tag(xs: Float, ys: Float, n_movers: int, square: float, rewards: Float) -> None:
    """Every predator earns 10 for each predator-prey contact (adversary_reward)."""
    n = rewards.shape[1]
    for w in range(xs.shape[0]):
        x, y, total = xs[w], ys[w], 0
        for m in range(n, n_movers):
            total += _touching(x, y, n, x[m], y[m], square)
        for i in range(n):
            rewards[w, i] = 10.0 * total


@_inlined
def _uncovered(x: Float, y: Float, n: int, best: Float) -> float:
    """Distance from each landmark to its nearest agent, summed in mpe2's order."""
    marks, total = best.shape[0], 0.0
    for k in range(marks):
        best[k] = np.inf
    for i in range(n):  # all landmarks at once
        at_x, at_y = x[i], y[i]
        for k in range(marks):
            dx, dy = x[_U(n + k)] - at_x, y[_U(n + k)] - at_y
            gap = dx * dx + dy * dy
            best[_U(k)] = gap if gap < best[_U(k)] else best[_U(k)]
    for k in range(marks):
        total += math.sqrt(best[k])
    return total


@_compiled
def _reward_spread(xs: Float, ys: Float, square: float, rewards: Float) -> None:
    """Half the uncovered distance, half the agent's own bumps (reward, global_reward).

    Places are of agents, then of landmarks.
    """
    n = rewards.shape[1]
    best = np.empty(xs.shape[1] - n)
    for w in range(xs.shape[0]):
        x, y = xs[w], ys[w]
        shared = -_uncovered(x, y, n, best)
        for i in range(n):
            bumps = _touching(x, y, n, x[i], y[i], square) - 1  # it touches itself
            rewards[w, i] = shared * 0.5 - bumps * 0.5


@_compiled
def observe(
    states: NDArray[Any], n_movers: int, n_landmarks: int, obs: NDArray[np.float32]
) -> None:
    """Write every agent's observation (both scenarios' ``observation``).

    Own velocity and place, landmarks and other movers relative to it, velocities of the prey; what
    follows (silent messages) is left as it is. See :attr:`WorldSpec.observation_terms`.

    Args:
        states: ``(W, state_dim)`` states.
        n_movers: Agents and prey.
        n_landmarks: Landmarks.
        obs: ``(W, N, D)`` written in place.
    """
    n, speeds, marks = obs.shape[1], 2 * n_movers, 4 * n_movers
    others = 4 + 2 * n_landmarks
    prey = others + speeds - 2
    for w in range(states.shape[0]):
        for i in range(n):
            own = 2 * i
            x, y = states[w, own], states[w, own + 1]
            obs[w, i, 0], obs[w, i, 1] = states[w, speeds + own], states[w, speeds + own + 1]
            obs[w, i, 2], obs[w, i, 3] = x, y
            for k in range(2 * n_landmarks):
                obs[w, i, _U(4 + k)] = states[w, _U(marks + k)] - (y if k & 1 else x)
            for k in range(own):
                obs[w, i, _U(others + k)] = states[w, _U(k)] - (y if k & 1 else x)
            for k in range(own, speeds - 2):
                obs[w, i, _U(others + k)] = states[w, _U(k + 2)] - (y if k & 1 else x)
            for k in range(speeds - 2 * n):
                obs[w, i, _U(prey + k)] = states[w, _U(speeds + 2 * n + k)]


@_inlined
def _steer(movers: Float, force: Float, w: int, mover: int, move: int) -> None:
    """Set the force of one discrete move."""
    force[w, mover, 0] = movers[mover, 1] * ((move == 2) - (move == 1))
    force[w, mover, 1] = movers[mover, 1] * ((move == 4) - (move == 3))


@_compiled
def _aim(actions: NDArray[Any], movers: Float, force: Float) -> None:
    """Set the forces of agents from ``(W, N)`` moves or ``(W, N, 5)`` pushes in [0, 1]."""
    for w in range(actions.shape[0]):
        for i in range(actions.shape[1]):
            if actions.ndim == 2:
                _steer(movers, force, w, i, actions[w, i])
            else:
                force[w, i, 0] = movers[i, 1] * (actions[w, i, 2] - actions[w, i, 1])
                force[w, i, 1] = movers[i, 1] * (actions[w, i, 4] - actions[w, i, 3])


@_compiled
def _scatter(x: Float, y: Float, n_agents: int, movers: Float, force: Float) -> None:
    """Set the forces of the prey."""
    for w in range(x.shape[0]):
        for m in range(n_agents, movers.shape[0]):
            _steer(movers, force, w, m, flee(x[w], y[w], m, n_agents))


@_compiled
def step(
    state: State,
    movers: Float,
    n_landmarks: int,
    landmark_radius: float,
    touch_square: float,
    openai_order: bool,
    length: int,
    t: NDArray[np.int64],
    obs: NDArray[np.float32],
    rewards: Float,
    ended: NDArray[np.bool_],
    actions: NDArray[Any],
) -> None:
    """Advance ``W`` worlds by one step.

    Args:
        state: ``(W, state_dim)`` states, changed in place.
        movers: ``(M, 3)`` see :attr:`WorldSpec.movers`.
        n_landmarks: Number of landmarks.
        landmark_radius: Radius of a landmark; 0 when movers pass through.
        touch_square: See :attr:`WorldSpec.touch_square`.
        openai_order: Move with the new velocity.
        length: Steps of an episode.
        t: ``(W,)`` steps of the episodes, counted up in place.
        obs: ``(W, N, D)`` written in place.
        rewards: ``(W, N)`` written in place.
        ended: ``(W,)`` written in place.
        actions: ``(W, N)`` moves 0..4: none, left, right, down, up; or ``(W, N, 5)`` pushes.
    """
    worlds, n, n_movers = state.shape[0], actions.shape[1], movers.shape[0]
    entities = n_movers + n_landmarks
    bodies = entities if landmark_radius > 0.0 else n_movers  # what pushes
    places = np.empty((2, worlds, entities))
    x, y = places[0], places[1]
    radius, force = np.full(bodies, landmark_radius), np.zeros((worlds, bodies, 2))
    for m in range(n_movers):
        radius[m] = movers[m, 0]
    split(state, n_movers, x, y)
    _aim(actions, movers, force)
    if n_movers > n:
        _scatter(x, y, n, movers, force)
    contacts(x, y, radius, n_movers, force)
    integrate(state, movers, force, openai_order, x, y)
    if n_movers > n:
        _reward_tag(x, y, n_movers, touch_square, rewards)
    else:
        _reward_spread(x, y, touch_square, rewards)
    observe(state, n_movers, n_landmarks, obs)
    for w in range(worlds):
        t[w] += 1
        ended[w] = t[w] >= length
