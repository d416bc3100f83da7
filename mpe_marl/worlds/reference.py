"""The same worlds stepped by mpe2 itself: the papers' baseline, and what ours are held to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError
from mpe_marl.worlds.batch import Step, prey_moves
from mpe_marl.worlds.spec import ACT_DIM, WorldSpec
from runs import pack_generator, unpack_generator

_MOVES = np.eye(ACT_DIM, dtype=np.float32)


def mpe2_env(spec: WorldSpec, **options: Any) -> Any:
    """mpe2's ParallelEnv of the world.

    Args:
        spec: The world.
        options: More of mpe2's arguments.

    Raises:
        MpeError: mpe2 is not installed, or the world is one it does not have.
    """
    try:
        from mpe2 import simple_spread_v3, simple_tag_v3
    except ImportError:
        raise MpeError("engine 'mpe2' needs mpe2; pip install 'marl-mapper[mpe]'.") from None
    if spec.velocity_order != "mpe2":
        raise MpeError("mpe2 has velocity order 'mpe2' only; use the compiled engine.")
    options |= {"continuous_actions": spec.continuous}
    options.setdefault("max_cycles", spec.episode_length)
    if spec.scenario == "simple_tag":
        return simple_tag_v3.parallel_env(
            num_good=spec.n_prey,
            num_adversaries=spec.n_agents,
            num_obstacles=spec.n_landmarks,
            **options,
        )
    return simple_spread_v3.parallel_env(N=spec.n_agents, **options)


def state_of(env: Any) -> NDArray[np.float64]:
    """``(state_dim,)`` state of an mpe2 environment, in our order."""
    world = env.unwrapped.world
    rows = [[a.state.p_pos for a in world.agents], [a.state.p_vel for a in world.agents]]
    rows.append([m.state.p_pos for m in world.landmarks])
    return np.concatenate([np.ravel(r) for r in rows])


class Mpe2Worlds:
    """mpe2's worlds behind the trainer's interface; prey are moved by our script.

    Args:
        spec: The world.
        n_worlds: How many, one after the other.
    """

    def __init__(self, spec: WorldSpec, n_worlds: int = 1) -> None:
        self.envs = [mpe2_env(spec) for _ in range(n_worlds)]
        self.spec: WorldSpec | None = spec
        self.n_worlds, self.n_agents = n_worlds, spec.n_agents
        self.obs_dim, self.act_dim, self.continuous = spec.obs_dim, ACT_DIM, spec.continuous
        self._spec = spec
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
            self._obs[w, i] = obs[name]

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance every world by one step; see :class:`mpe_marl.worlds.BatchEnv`."""
        rewards = np.zeros((self.n_worlds, self.n_agents))
        ended = np.zeros(self.n_worlds, dtype=np.bool_)
        for w, env in enumerate(self.envs):
            mine = list(actions[w]) if self.continuous else actions[w].tolist()
            moves = dict(zip(env.possible_agents, mine + self._prey(env), strict=True))
            obs, reward, _, cut, _ = env.step(moves)
            self._write(w, obs)
            rewards[w] = [reward[name] for name in self.names]
            ended[w] = cut[self.names[0]]
        return Step(self._obs, rewards, np.zeros_like(ended), ended)

    def _prey(self, env: Any) -> list[Any]:
        moves = prey_moves(self._spec, state_of(env))
        return list(_MOVES[moves]) if self.continuous else moves

    def states(self) -> NDArray[np.float32]:
        """``(W, state_dim)`` float32 world states."""
        return np.array([state_of(env) for env in self.envs], dtype=np.float32)

    def available(self) -> None:
        """Every move may be made."""

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
            movers = 2 * self._spec.n_movers
            places, speeds, marks = np.split(tables["state"][w], [movers, 2 * movers])
            for body, place, speed in _by_two(raw.world.agents, places, speeds):
                body.state.p_pos, body.state.p_vel = place, speed
            for body, place, _ in _by_two(raw.world.landmarks, marks, marks):
                body.state.p_pos = place
            raw.steps = int(tables["t"][w])
            unpack_generator(raw.np_random, tables["rng"][w])
            self._write(w, {name: raw.observe(name) for name in self.names})
        return self._obs


def _by_two(bodies: list[Any], *numbers: NDArray[np.float64]) -> Iterable[tuple[Any, ...]]:
    """Each body with its own two of each row of numbers."""
    return zip(bodies, *(row.reshape(-1, 2).copy() for row in numbers), strict=True)
