"""How worlds of a spec start, go on and are seen: compiled functions bound to a batch's tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpe_marl.worlds import forests, goals, physics, roles
from mpe_marl.worlds.role_spec import RoleSpec
from mpe_marl.worlds.spec import AnySpec, WorldSpec

_LOOKS = {
    "simple_adversary": goals.adversary,
    "simple_push": goals.push,
    "simple_speaker_listener": goals.speaker_listener,
    "simple_reference": goals.referral,
    "simple_world_comm": forests.world_comm,
}


@dataclass(slots=True)
class Step:
    """What one step of ``W`` worlds gave.

    Attributes:
        obs: ``(W, N, D)`` float32 observations after the step, before any restart.
        rewards: ``(W, N)`` float64.
        terminated: ``(W,)`` bool: the future is worth nothing (bootstrapping stops).
        ended: ``(W,)`` bool: terminated or cut; :meth:`BatchEnv.restart` goes on.
    """

    obs: NDArray[np.float32]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    ended: NDArray[np.bool_]


class WorldTables(NamedTuple):
    """What ``W`` worlds write in place.

    Attributes:
        state: ``(W, state_dim)`` float64.
        t: ``(W,)`` steps of the episodes.
        step: What the latest step gave.
    """

    state: NDArray[np.float64]
    t: NDArray[np.int64]
    step: Step


class WorldRules(NamedTuple):
    """A spec's functions.

    Attributes:
        start: ``(generator, count)`` to ``(count, state_dim)`` states of new episodes.
        advance: One step with actions, written to the tables.
        look: Writes what agents see.
    """

    start: Callable[[np.random.Generator, int], NDArray[np.float64]]
    advance: Callable[[NDArray[Any]], None]
    look: Callable[[], None]


def rules_of(spec: AnySpec, tables: WorldTables) -> WorldRules:
    """The rules of a spec, bound to tables."""
    return _linear(spec, tables) if isinstance(spec, WorldSpec) else _roles(spec, tables)


def _linear(spec: WorldSpec, tables: WorldTables) -> WorldRules:
    extent, movers, gave = spec.start_extent, 2 * spec.n_movers, tables.step

    def start(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        places = _anywhere(rng, extent, count)
        states = np.zeros((count, spec.state_dim))
        states[:, :movers], states[:, 2 * movers :] = places[:, :movers], places[:, movers:]
        return states

    advance = partial(
        physics.step, tables.state, spec.movers, spec.n_landmarks, spec.landmark_radius,
        spec.touch_square, spec.velocity_order == "openai", spec.episode_length,
        tables.t, gave.obs, gave.rewards, gave.ended,
    )  # fmt: skip
    look = partial(physics.observe, tables.state, spec.n_movers, spec.n_landmarks, gave.obs)
    return WorldRules(start, advance, look)


def _anywhere(
    rng: np.random.Generator, extent: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """``(count, 2 E)`` places of ``E`` entities, each in its square of half width ``(E, 1)``."""
    places: NDArray[np.float64] = -extent + 2 * extent * rng.random((count, len(extent), 2))
    return places.reshape(count, -1)


def _roles(spec: RoleSpec, tables: WorldTables) -> WorldRules:
    n, marks, gave = spec.n_agents, spec.n_landmarks, tables.step
    again = [place for place, mark in enumerate(spec.marks) if mark.redrawn]
    wide = [1.0] * n + [mark.extent for mark in spec.marks]
    wide += [spec.marks[place].extent for place in again]
    extent = np.array(wide)[:, None]
    kept = [place for place in range(n + marks) if place - n not in again]
    kept += range(n + marks, n + marks + len(again))  # what was drawn last counts

    def start(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        states = np.zeros((count, spec.state_dim))
        first_goal = 4 * n + 2 * marks
        states[:, first_goal : first_goal + spec.goals] = rng.integers(
            marks, size=(count, spec.goals)
        )
        places = _anywhere(rng, extent, count).reshape(count, -1, 2)[:, kept].reshape(count, -1)
        states[:, : 2 * n], states[:, 4 * n : first_goal] = places[:, : 2 * n], places[:, 2 * n :]
        return states

    move = partial(
        roles.advance, tables.state, spec.movers, spec.body_radii, marks, spec.word_columns,
        spec.velocity_order == "openai", spec.episode_length, tables.t, gave.ended,
    )  # fmt: skip
    look = _LOOKS[spec.scenario]
    earn = partial(look, tables.state, n, marks, gave.obs, gave.rewards)

    def advance(actions: NDArray[Any]) -> None:
        move(actions)
        earn()

    nobody = np.zeros_like(gave.rewards)  # a look alone pays nothing
    return WorldRules(start, advance, partial(look, tables.state, n, marks, gave.obs, nobody))
