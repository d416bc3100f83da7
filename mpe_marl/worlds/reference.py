"""The same worlds stepped by mpe2 itself: the papers' baseline, and what ours are held to."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import pack_generator, unpack_generator
from mpe_marl.errors import MpeError
from mpe_marl.worlds.batch import Step, prey_moves, what_they_have
from mpe_marl.worlds.moves import ACT_DIM
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


class Mpe2Worlds:
    """mpe2's worlds behind the trainer's interface; prey are moved by our script.

    Args:
        spec: The world.
        n_worlds: How many, one after the other.
    """

    def __init__(self, spec: AnySpec, n_worlds: int = 1) -> None:
        self.envs = [mpe2_env(spec) for _ in range(n_worlds)]
        self.spec: WorldSpec | None = spec if isinstance(spec, WorldSpec) else None
        self.n_worlds, self.n_agents = n_worlds, spec.n_agents
        self.obs_dim, self.act_dim, self.continuous = spec.obs_dim, spec.act_dim, spec.continuous
        self._spec, self.act_dims = spec, spec.act_dims
        self.names: list[str] = self.envs[0].possible_agents[: spec.n_agents]
        self._obs = np.zeros((n_worlds, spec.n_agents, spec.obs_dim), dtype=np.float32)

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Start every world anew; world ``w`` with ``seed + w``."""
        for w, env in enumerate(self.envs):
            self._write(w, env.reset(seed=None if seed is None else seed + w)[0])
        return self._obs

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Start the ended worlds anew; see :class:`mpe_marl.worlds.BatchEnv`."""
        for w in np.flatnonzero(ended).tolist():
            self._write(w, self.envs[w].reset()[0])
        return self._obs

    def _write(self, w: int, obs: dict[str, Any]) -> None:
        for i, name in enumerate(self.names):
            self._obs[w, i, : len(obs[name])] = obs[name]

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance every world by one step; see :class:`mpe_marl.worlds.BatchEnv`."""
        rewards = np.zeros((self.n_worlds, self.n_agents))
        ended = np.zeros(self.n_worlds, dtype=np.bool_)
        for w, env in enumerate(self.envs):
            mine = self._own(actions[w])
            moves = dict(zip(env.possible_agents, mine + self._prey(env), strict=True))
            obs, reward, _, cut, _ = env.step(moves)
            self._write(w, obs)
            rewards[w] = [reward[name] for name in self.names]
            ended[w] = cut[self.names[0]]
        return Step(self._obs, rewards, np.zeros_like(ended), ended)

    def _own(self, actions: NDArray[Any]) -> list[Any]:
        """Each agent's own action out of the padded one."""
        sizes = self._spec.act_dims
        if self.continuous:
            return [row[:size] for row, size in zip(actions, sizes, strict=True)]
        pairs = zip(actions.tolist(), sizes, strict=True)
        return [action if action < size else 0 for action, size in pairs]

    def _prey(self, env: Any) -> list[Any]:
        if not isinstance(self._spec, WorldSpec):
            return []
        moves = prey_moves(self._spec, state_of(env))
        return list(_MOVES[moves]) if self.continuous else moves

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
            self._write(w, {name: raw.observe(name) for name in self.names})
        return self._obs


def _by_two(bodies: list[Any], *numbers: NDArray[np.float64]) -> Iterable[tuple[Any, ...]]:
    """Each body with its own two of each row of numbers."""
    return zip(bodies, *(row.reshape(-1, 2).copy() for row in numbers), strict=True)
