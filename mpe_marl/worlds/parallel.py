"""The PettingZoo face of a particle world, and any other PettingZoo world as a BatchEnv."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from marl_common import at_least, check_name
from mpe_marl.errors import MpeError
from mpe_marl.worlds.batch import BatchWorlds
from mpe_marl.worlds.drawing import draw
from mpe_marl.worlds.rules import Step
from mpe_marl.worlds.spec import AnySpec, WorldSpec, make_spec


class ParticleWorld(ParallelEnv):
    """One compiled world as a PettingZoo ParallelEnv.

    ## Action Space
    ``Discrete(5)``: none, left, right, down, up; or ``Box(0, 1, (5,))``: a push for each. Agents
    that speak say one of their words with every move, ``move + 5 * word``, or send numbers for
    their words after the pushes; one that cannot move has its words alone.

    ## Observation Space
    ``Box(-inf, inf, (D,), float32)``: own velocity and position, landmarks and the other movers
    relative to it, then velocities of the prey (simple_tag) or silent messages (simple_spread). In
    worlds whose agents have roles, what mpe2 shows each of them.

    ## Rewards
    As mpe2: 10 for each predator-prey contact (simple_tag); half the distance of every landmark
    to its nearest agent and half a point for each bump, negative (simple_spread); the others as
    their mpe2 pages say.

    ## Starting State
    Uniform in [-1, 1] (obstacles, food and forests [-0.9, 0.9]), at rest; the same as mpe2's with
    the same seed.

    ## Episode End
    Truncated after ``spec.episode_length`` steps.

    ## Arguments
    ``spec``: the world, from :func:`mpe_marl.worlds.make_spec`. ``render_mode``: ``"rgb_array"``
    for pictures with trails, which need Pillow, or None.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["rgb_array"], "name": "particle_world_v0", "render_fps": 10,
    }  # fmt: skip

    def __init__(self, spec: AnySpec, render_mode: str | None = None) -> None:
        if render_mode is not None:
            check_name("render mode", render_mode, ["rgb_array"], MpeError)
        self.worlds = BatchWorlds(spec, 1)
        self.render_mode = render_mode
        self._spec, self._trail = spec, list[NDArray[np.float32]]()
        self.possible_agents = spec.names
        self.agents: list[str] = []
        inf = np.float32(np.inf)
        self._obs_spaces = {
            a: spaces.Box(-inf, inf, (width,), np.float32)
            for a, width in zip(self.possible_agents, spec.obs_dims, strict=True)
        }
        self._act_spaces: dict[str, spaces.Space[Any]] = {
            a: spaces.Box(0.0, 1.0, (size,)) if spec.continuous else spaces.Discrete(size)
            for a, size in zip(self.possible_agents, spec.act_dims, strict=True)
        }
        self.state_space = spaces.Box(-inf, inf, (spec.state_dim,), np.float32)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space."""
        return self._obs_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space."""
        return self._act_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Start a new episode."""
        self.agents = self.possible_agents[:]
        obs = self._own(self.worlds.reset(seed)[0])
        self._trail = []
        self._leave_trail()
        return obs, {a: {} for a in self.agents}

    def _own(self, obs: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Each agent's observation out of the padded ones."""
        rows = zip(self.agents, obs, self._spec.obs_dims, strict=True)
        return {agent: row[:width].copy() for agent, row, width in rows}

    def _padded(self, rows: list[Any]) -> NDArray[Any]:
        """``(1, N)`` or ``(1, N, A)`` actions out of each agent's own.

        Raises:
            MpeError: A move that an agent has not.
        """
        sizes = self._spec.act_dims
        if self.worlds.continuous:
            batch = np.zeros((1, len(rows), self._spec.act_dim), dtype=np.float32)
            for i, (row, size) in enumerate(zip(rows, sizes, strict=True)):
                batch[0, i, :size] = np.clip(np.asarray(row, dtype=np.float32), 0.0, 1.0)
            return batch
        moves = np.array([rows], dtype=np.int64)
        for name, move, size in zip(self.agents, moves[0].tolist(), sizes, strict=True):
            if not 0 <= move < size:
                raise MpeError(f"move {move} of {name}; expected an integer in 0..{size - 1}.")
        return moves

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Advance by one step.

        Raises:
            MpeError: An agent has no action, or the episode is over.
        """
        if not self.agents:
            raise MpeError("step() after the episode's end; expected a reset. Call reset().")
        missing = [a for a in self.agents if a not in actions]
        if missing:
            raise MpeError(f"no action for {missing}; expected one for each of {self.agents}.")
        step = self.worlds.step(self._padded([actions[a] for a in self.agents]))
        self._leave_trail()
        obs = self._own(step.obs[0])
        agents, cut = self.agents, bool(step.ended[0])
        if cut:
            self.agents = []
        return (
            obs,
            dict(zip(agents, step.rewards[0].tolist(), strict=True)),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, cut),
            {a: {} for a in agents},
        )

    def _leave_trail(self) -> None:
        if self.render_mode is not None:
            self._trail.append(self.state())

    def render(self) -> NDArray[np.uint8] | None:
        """The world as it is, with trails since the episode began.

        Returns:
            ``(400, 400, 3)`` red, green and blue; None without a render mode.

        Raises:
            MpeError: Nothing was reset yet, or Pillow is not installed.
        """
        if self.render_mode is None:
            return None
        if not self._trail:
            raise MpeError("render() before the first reset; expected a reset. Call reset().")
        return draw(self._spec, np.array(self._trail))

    def state(self) -> NDArray[np.float32]:
        """``(state_dim,)`` all there is; see :class:`mpe_marl.worlds.WorldSpec`, `RoleSpec`."""
        return self.worlds.states().reshape(-1)


class AnyWorlds:
    """``W`` copies of any ParallelEnv behind the trainer's interface.

    Observations and actions of agents that differ in width are padded to the widest with zeros;
    a padded discrete action is played as the agent's action 0. Agents that leave an episode early
    observe zeros, may choose action 0 alone and earn nothing until it ends. Action masks are taken
    where PettingZoo's worlds give them: under ``action_mask`` of a dict observation or of an
    agent's info. The state is the world's ``state()``.

    Args:
        make: Builds one environment.
        n_worlds: How many copies.
        names: The agents that learn, first among all; None: all.
    """

    def __init__(
        self, make: Callable[[], Any], n_worlds: int = 1, names: Sequence[str] | None = None
    ) -> None:
        self.envs = [make() for _ in range(at_least("n_worlds", n_worlds, 1, MpeError))]
        self.n_worlds = n_worlds
        self.names: list[str] = list(names or self.envs[0].possible_agents)
        self.n_agents = len(self.names)
        acts = [self.envs[0].action_space(a) for a in self.names]
        kinds = {type(a) for a in acts}
        if kinds not in ({spaces.Discrete}, {spaces.Box}):
            found = sorted(k.__name__ for k in kinds)
            raise MpeError(f"action spaces are {found}; expected all Discrete or all Box.")
        self.continuous = kinds == {spaces.Box}
        if self.continuous and not all(np.isfinite([a.low, a.high]).all() for a in acts):
            raise MpeError("an action space has no bounds; expected finite ones. Wrap the world.")
        self.spec: WorldSpec | None = None
        self._boxes = acts
        self._counts = [int(np.prod(a.shape)) if self.continuous else int(a.n) for a in acts]
        self.act_dim, self.act_dims = max(self._counts), tuple(self._counts)
        seen = [_seen(self.envs[0].observation_space(a)) for a in self.names]
        self.obs_dim = max(int(np.prod(space.shape or ())) for space in seen)
        self._obs = np.zeros((n_worlds, self.n_agents, self.obs_dim), dtype=np.float32)
        counts = [1 if self.continuous else count for count in self._counts]
        self._all = np.arange(max(counts)) < np.array(counts)[:, None]
        self._may = np.tile(self._all, (n_worlds, 1, 1))

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Start every world anew; world ``w`` with ``seed + w``."""
        for w, env in enumerate(self.envs):
            self._write(w, *env.reset(seed=None if seed is None else seed + w))
        return self._obs

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Start the ended worlds anew; see :class:`mpe_marl.worlds.BatchEnv`."""
        for w in np.flatnonzero(ended):
            self._write(int(w), *self.envs[w].reset())
        return self._obs

    def _write(self, w: int, obs: dict[str, Any], infos: dict[str, Any]) -> None:
        self._obs[w], self._may[w] = 0.0, self._all
        for i, name in enumerate(self.names):
            if name not in obs:
                self._may[w, i, 1:] = False
                continue
            seen, info = obs[name], infos.get(name, {})
            mask = info.get("action_mask")
            if isinstance(seen, dict):
                mask, seen = seen.get("action_mask", mask), seen["observation"]
            row = np.asarray(seen, dtype=np.float32).ravel()
            self._obs[w, i, : row.size] = row
            if mask is not None and not self.continuous:
                self._may[w, i, : self._counts[i]] = np.asarray(mask, dtype=np.bool_)

    def _action(self, i: int, action: Any) -> Any:
        """The agent's own action out of the padded one; Box actions come in [0, 1]."""
        if not self.continuous:
            return int(action) if action < self._counts[i] else 0
        box = self._boxes[i]
        unit = np.asarray(action[: self._counts[i]], dtype=np.float64).reshape(box.shape)
        return (box.low + unit * (box.high - box.low)).astype(box.dtype)

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance every world by one step; see :class:`mpe_marl.worlds.BatchEnv`."""
        rewards = np.zeros((self.n_worlds, self.n_agents))
        terminated = np.zeros(self.n_worlds, dtype=np.bool_)
        ended = np.zeros(self.n_worlds, dtype=np.bool_)
        for w, env in enumerate(self.envs):
            live = set(env.agents)
            act = {a: self._action(i, actions[w, i]) for i, a in enumerate(self.names) if a in live}
            obs, reward, term, trunc, infos = env.step(act | self._moved(env))
            self._write(w, obs, infos)
            rewards[w] = [reward.get(a, 0.0) for a in self.names]
            done = [term.get(a, False) or trunc.get(a, False) for a in act]
            ended[w] = all(done)
            terminated[w] = ended[w] and all(term.get(a, False) for a in act)
        return Step(self._obs, rewards, terminated, ended)

    def _moved(self, env: Any) -> dict[str, Any]:
        """Actions of agents that do not learn."""
        return {}

    def states(self) -> NDArray[np.float32]:
        """``(W, S)`` what the worlds' ``state()`` gives; ``(W, 0)`` where they have none."""
        try:
            rows = [np.asarray(env.state(), dtype=np.float32).ravel() for env in self.envs]
        except (NotImplementedError, AttributeError):
            return np.zeros((self.n_worlds, 0), dtype=np.float32)
        return np.array(rows)

    def available(self) -> NDArray[np.bool_] | None:
        """``(W, N, A)`` actions that agents have and may choose; None where they are continuous."""
        return None if self.continuous else self._may

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Other worlds cannot be saved: a continued run starts new episodes."""
        return {}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Start every world anew."""
        return self.reset()


def _seen(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """What an agent sees of its observation: all, or what stands beside its action mask."""
    return space["observation"] if isinstance(space, spaces.Dict) else space


def parallel_env(
    scenario: str, n_agents: int | None = None, render_mode: str | None = None, **options: Any
) -> ParticleWorld:
    """Make one world with PettingZoo's ParallelEnv face.

    Args:
        scenario: One of :data:`mpe_marl.worlds.SCENARIOS`.
        n_agents: Agents that learn; None: as many as usual.
        render_mode: ``"rgb_array"`` for pictures from ``render()``.
        options: See :func:`mpe_marl.worlds.make_spec`.

    Raises:
        MpeError: See :func:`mpe_marl.worlds.make_spec`.
    """
    return ParticleWorld(make_spec(scenario, n_agents, **options), render_mode)
