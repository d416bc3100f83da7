"""Compiled step of the worlds whose agents have roles: some move, some speak, some do both.

What pushes and how bodies move is :mod:`mpe_marl.worlds.physics`; what agents see and earn is
:mod:`mpe_marl.worlds.goals` and :mod:`mpe_marl.worlds.forests`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled
from mpe_marl.worlds import physics
from mpe_marl.worlds.moves import ACT_DIM
from mpe_marl.worlds.physics import Float, State

Ints = NDArray[np.int64]
_compiled = compiled(error_model="numpy")


@_compiled
def _choose(state: State, moves: Ints, movers: Float, words: Ints, force: Float) -> None:
    """Set forces and words from ``(W, N)`` discrete actions; one that an agent lacks is its 0.

    mpe2's simple_env.py: the action is the move plus five times the word, or the word alone.
    """
    for w in range(moves.shape[0]):
        for i in range(moves.shape[1]):
            can_move, count = movers[i, 1] > 0.0, words[i, 1]
            span = ACT_DIM if can_move else 1
            action = moves[w, i] if moves[w, i] < span * max(count, 1) else 0
            if can_move:
                move = action % ACT_DIM
                force[w, i, 0] = movers[i, 1] * ((move == 2) - (move == 1))
                force[w, i, 1] = movers[i, 1] * ((move == 4) - (move == 3))
            for c in range(count):
                state[w, words[i, 0] + c] = 1.0 if c == action // span else 0.0


@_compiled
def _push(
    state: State, pushes: NDArray[np.float32], movers: Float, words: Ints, force: Float
) -> None:
    """Set forces and words from ``(W, N, A)`` numbers in [0, 1]: five pushes, then words."""
    for w in range(pushes.shape[0]):
        for i in range(pushes.shape[1]):
            first = 0
            if movers[i, 1] > 0.0:
                first = ACT_DIM
                force[w, i, 0] = movers[i, 1] * (pushes[w, i, 2] - pushes[w, i, 1])
                force[w, i, 1] = movers[i, 1] * (pushes[w, i, 4] - pushes[w, i, 3])
            for c in range(words[i, 1]):
                state[w, words[i, 0] + c] = pushes[w, i, first + c]


@_compiled
def advance(
    state: State,
    movers: Float,
    bodies: Float,
    n_landmarks: int,
    words: Ints,
    openai_order: bool,
    length: int,
    t: Ints,
    ended: NDArray[np.bool_],
    actions: NDArray[Any],
) -> None:
    """Advance ``W`` worlds by one step, all but what is seen and earned.

    Args:
        state: ``(W, state_dim)`` states, changed in place.
        movers: ``(N, 3)`` radius, acceleration (0: does not move) and top speed.
        bodies: ``(B,)`` radii of what pushes; empty where nothing does.
        n_landmarks: Number of landmarks.
        words: ``(N, 2)`` first state column of an agent's words, and how many.
        openai_order: Move with the new velocity.
        length: Steps of an episode.
        t: ``(W,)`` steps of the episodes, counted up in place.
        ended: ``(W,)`` written in place.
        actions: ``(W, N)`` discrete actions, or ``(W, N, A)`` numbers.
    """
    worlds, n = state.shape[0], movers.shape[0]
    places = np.empty((2, worlds, n + n_landmarks))
    x, y = places[0], places[1]
    force = np.zeros((worlds, max(n, bodies.shape[0]), 2))
    physics.split(state, n, x, y)
    if actions.ndim == 2:
        _choose(state, actions, movers, words, force)
    else:
        _push(state, actions, movers, words, force)
    if bodies.shape[0] > 0:
        physics.contacts(x, y, bodies, n, force)
    physics.integrate(state, movers, force, openai_order, x, y)
    for w in range(worlds):
        t[w] += 1
        ended[w] = t[w] >= length
