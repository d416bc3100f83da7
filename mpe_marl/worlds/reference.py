"""The same worlds stepped by mpe2 itself: the papers' baseline, and what ours are held to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import pack_generator, unpack_generator
from mpe_marl.errors import MpeError
from mpe_marl.worlds.batch import prey_moves, what_they_have
from mpe_marl.worlds.moves import ACT_DIM
from mpe_marl.worlds.parallel import AnyWorlds
from mpe_marl.worlds.role_spec import RoleSpec
from mpe_marl.worlds.spec import AnySpec, WorldSpec

_MOVES = np.eye(ACT_DIM, dtype=np.float32)


def mpe2_env(spec: AnySpec, **options: Any) -> Any:
    """mpe2's ParallelEnv of the world.

    Args:
        spec: The world.
        options: More of mpe2's arguments.

    Raises:
        MpeError: mpe2 is not installed, or the world is one it does not have.
    """
    name = f"{spec.scenario}_{_VERSIONS.get(spec.scenario, 'v3')}"
    try:
        make = import_module(f"mpe2.{name}").parallel_env
    except ImportError:
        raise MpeError("engine 'mpe2' needs mpe2; pip install 'marl-mapper[mpe]'.") from None
    if spec.velocity_order != "mpe2":
        raise MpeError("mpe2 has velocity order 'mpe2' only; use the compiled engine.")
    options |= {"continuous_actions": spec.continuous, **_sizes(spec)}
    options.setdefault("max_cycles", spec.episode_length)
    return make(**options)


_VERSIONS = {"simple_speaker_listener": "v4"}


def _sizes(spec: AnySpec) -> dict[str, int]:
    """What mpe2 calls the numbers of a world."""
    if isinstance(spec, RoleSpec):
        return {
            "simple_adversary": {"N": spec.n_good},
            "simple_world_comm": {
                "num_good": spec.n_good, "num_adversaries": spec.n_agents - spec.n_good,
            },
        }.get(spec.scenario, {})  # fmt: skip
    if spec.scenario == "simple_spread":
        return {"N": spec.n_agents}
    return {
        "num_good": spec.n_prey, "num_adversaries": spec.n_agents,
        "num_obstacles": spec.n_landmarks,
    }  # fmt: skip


def state_of(env: Any) -> NDArray[np.float64]:
    """``(state_dim,)`` state of an mpe2 environment, in our order."""
    world = env.unwrapped.world
    rows = [[a.state.p_pos for a in world.agents], [a.state.p_vel for a in world.agents]]
    rows.append([m.state.p_pos for m in world.landmarks])
    goals = [world.landmarks.index(goal) for goal in _goals(world)]
    said = [a.state.c for a in world.agents if not a.silent]
    return np.concatenate([*(np.ravel(r) for r in rows), goals, *said])


def _goals(world: Any) -> list[Any]:
    """Landmarks that are goals: one that all share, or what each agent shall bring another to."""
    seconds = [getattr(agent, "_goal_b", None) for agent in world.agents]
    shared = [getattr(agent, "_goal_a", None) for agent in world.agents[:1]]
    private = [goal for goal in seconds if goal is not None]
    return private or [goal for goal in shared if goal is not None]


def _set_goals(world: Any, numbers: list[int]) -> None:
    """Make landmarks the goals; what agents see of them by colour follows."""
    goals = [world.landmarks[k] for k in numbers]
    if getattr(world.agents[0], "_goal_b", None) is not None:
        for agent, goal in zip(world.agents, goals, strict=False):  # a listener has none
            agent.goal_b = goal
        return
    for agent in world.agents if goals else []:
        agent.goal_a = goals[0]
    if goals and hasattr(goals[0], "index"):  # simple_push: the good agent wears its goal's colour
        world.agents[1].color = np.array([0.25, 0.25, 0.25])
        world.agents[1].color[goals[0].index + 1] += 0.5


class Mpe2Worlds(AnyWorlds):
    """mpe2's worlds behind the trainer's interface; prey are moved by our script.

    Args:
        spec: The world.
        n_worlds: How many, one after the other.
    """

    def __init__(self, spec: AnySpec, n_worlds: int = 1) -> None:
        super().__init__(partial(mpe2_env, spec), n_worlds, spec.names)
        self._spec, self.spec = spec, spec if isinstance(spec, WorldSpec) else None

    def _moved(self, env: Any) -> dict[str, Any]:
        if self.spec is None:
            return {}
        moves = prey_moves(self.spec, state_of(env))
        prey = env.possible_agents[self.n_agents :]
        return dict(zip(prey, _MOVES[moves] if self.continuous else moves, strict=True))

    def states(self) -> NDArray[np.float32]:
        """``(W, state_dim)`` float32 world states."""
        return np.array([state_of(env) for env in self.envs], dtype=np.float32)

    def available(self) -> NDArray[np.bool_] | None:
        """``(W, N, A)`` the discrete actions that each agent has; None where all have all."""
        return what_they_have(self._spec, self.n_worlds)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Where every world stands, for a checkpoint."""
        raw = [env.unwrapped for env in self.envs]
        return {
            "state": np.array([state_of(env) for env in self.envs]),
            "t": np.array([world.steps for world in raw], dtype=np.int64),
            "rng": np.array([pack_generator(world.np_random) for world in raw]),
        }

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Take back what :meth:`state_dict` gave; returns the observations to act on."""
        for w, env in enumerate(self.envs):
            env.reset()
            raw = env.unwrapped
            movers, marks_end = 2 * self._spec.n_movers, 2 * self._spec.n_landmarks
            places, speeds, marks, others = np.split(
                tables["state"][w], np.cumsum([movers, movers, marks_end])
            )
            for body, place, speed in _by_two(raw.world.agents, places, speeds):
                body.state.p_pos, body.state.p_vel = place, speed
            for body, place, _ in _by_two(raw.world.landmarks, marks, marks):
                body.state.p_pos = place
            goals = len(_goals(raw.world))
            _set_goals(raw.world, others[:goals].astype(int).tolist())
            speakers = [a for a in raw.world.agents if not a.silent]
            for agent, words in zip(
                speakers, np.split(others[goals:], len(speakers) or 1), strict=False
            ):
                agent.state.c = words.copy()
            raw.steps = int(tables["t"][w])
            unpack_generator(raw.np_random, tables["rng"][w])
            self._write(w, {name: raw.observe(name) for name in self.names}, {})
        return self._obs


def _by_two(bodies: list[Any], *numbers: NDArray[np.float64]) -> Iterable[tuple[Any, ...]]:
    """Each body with its own two of each row of numbers."""
    return zip(bodies, *(row.reshape(-1, 2).copy() for row in numbers), strict=True)
