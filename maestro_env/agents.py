"""Several agents on one problem: each chooses some of the parameters, all share the reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray

from maestro_env.action_space import ActionError, action_array
from maestro_env.batched_problem import BatchedProblem
from maestro_env.build import steps_of
from maestro_env.checks import EnvError, EpisodeGate
from maestro_env.info import reset_info, step_info
from maestro_env.masks import Masks
from maestro_env.step_result import StepResult
from marl_common import FloatArray, IntArray, brief, suggest

Assignment = Sequence[Sequence[str]]
"""One list of parameter names an agent."""


class AgentWorlds:
    """Worlds whose action is put together from several agents' parts; numpy in, numpy out.

    All agents of a world see the same observation and get the same reward, so both are given once
    a world.

    Args:
        worlds: `B` worlds with `P` parameters.
        agents: The parameters of each agent, by name; None for one agent a parameter.

    Attributes:
        names: Names of the agents, ``agent_0`` and on.
        columns: The columns of an action that each agent chooses.
        nvecs: The choices of each agent's parameters.

    Raises:
        EnvError: The assignment does not give every parameter to exactly one agent.
    """

    def __init__(self, worlds: BatchedProblem, agents: Assignment | None = None) -> None:
        self.worlds = worlds
        if agents is None:
            agents = [[name] for name in worlds.names]
        self.assignment = _listed(getattr(agents, "agents", agents))
        self.columns = _columns(self.assignment, worlds.names)
        self.names = tuple(f"agent_{i}" for i in range(len(self.columns)))
        self.nvecs = tuple(worlds.nvec[columns] for columns in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def observation_space(self) -> Box:
        """The space of any agent's observation."""
        return self.worlds.observation_space()

    def action_spaces(self) -> dict[str, MultiDiscrete]:
        """Each agent's action space, by its name."""
        return {
            name: MultiDiscrete(nvec) for name, nvec in zip(self.names, self.nvecs, strict=True)
        }

    def join(self, actions: Sequence[NDArray[Any]]) -> IntArray:
        """Put the agents' actions together.

        Args:
            actions: ``(B, parameters of the agent)`` integers of each agent, in order.

        Returns:
            ``(B, P)`` int64.

        Raises:
            ActionError: An agent's action is missing, is not of its shape, or holds no integers.
        """
        if len(actions) != len(self):
            raise ActionError(f"actions: got {len(actions)}, expected one for each of {len(self)}")
        joined = np.empty((self.worlds.num_worlds, len(self.worlds.nvec)), dtype=np.int64)
        for name, columns, own in zip(self.names, self.columns, actions, strict=True):
            own = action_array(own)
            expected = (len(joined), len(columns))
            if own.shape != expected or own.dtype.kind not in "iu":
                raise ActionError(
                    f"actions of {name}: got {own.dtype} of shape {own.shape}, expected integers "
                    f"of shape {expected}"
                )
            joined[:, columns] = own
        return joined

    def split(self, actions: IntArray) -> list[IntArray]:
        """Each agent's part ``(B, parameters of the agent)`` of actions ``(B, P)``."""
        return [actions[:, columns] for columns in self.columns]

    def reset(self) -> NDArray[np.float32]:
        """Start new episodes in all worlds: ``(B, observation)``; no sample is spent."""
        return self.worlds.reset()

    def step(
        self, actions: IntArray | Sequence[NDArray[Any]]
    ) -> tuple[NDArray[np.float32], FloatArray, StepResult]:
        """One sample in every world.

        Args:
            actions: ``(B, P)`` integers, or each agent's own as :meth:`join` takes them.

        Returns:
            Observations ``(B, observation)``, rewards ``(B,)`` and the outcome.

        Raises:
            ActionError: Actions of a wrong shape, type or range; nothing was evaluated.
            BudgetExhausted: The problem's budget does not suffice.
        """
        if not isinstance(actions, np.ndarray):
            actions = self.join(actions)
        return self.worlds.step(actions)

    def masks(self, world: int = 0) -> dict[str, Masks]:
        """Each agent's action masks in a world, by its name."""
        masks = self.worlds.masks(world)
        return {
            name: tuple(masks[column] for column in columns)
            for name, columns in zip(self.names, self.columns, strict=True)
        }


class AgentWorld:
    """One world for several agents, with everything keyed by the agents' names.

    The PettingZoo environment and RLlib's are this one under their libraries' names.

    Args:
        worlds: A single world.
        agents: See :class:`AgentWorlds`.
        episode_length: Steps after which an episode is truncated; None for 16, or all layers.

    Attributes:
        shown: The last mapping: its layer's place in the sequence, and its action.
    """

    def __init__(
        self, worlds: BatchedProblem, agents: Assignment | None, episode_length: int | None
    ) -> None:
        self.group = AgentWorlds(worlds, agents)
        self.episode_length = steps_of(episode_length, worlds)
        self.names = self.group.names
        self.observation_spaces = {name: self.group.observation_space() for name in self.names}
        self.action_spaces = self.group.action_spaces()
        self.shown: tuple[int, IntArray | None] = (worlds.position(0), None)
        self._last = np.zeros(len(worlds.nvec), dtype=np.int64)
        self._observation = np.zeros(worlds.observation_size, dtype=np.float32)
        self._gate = EpisodeGate()

    def state_space(self) -> Box:
        """The space of :meth:`state`."""
        observed = self.group.worlds.observation_space().high
        high = np.concatenate([observed, np.ones(len(self._last), np.float32)])
        return Box(np.zeros_like(high), high, dtype=np.float32)

    def state(self) -> NDArray[np.float32]:
        """The shared observation, then the last joint action scaled to [0, 1]."""
        scaled = self._last / np.maximum(self.group.worlds.nvec - 1, 1)
        return np.concatenate([self._observation, scaled.astype(np.float32)])

    def reset(
        self, recount: bool
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Start an episode (see :meth:`BatchedProblem.reset`): observations and infos."""
        worlds = self.group.worlds
        self._observation = worlds.reset(recount=recount)[0]
        self._gate.begin()
        self._last[:] = 0
        self.shown = (worlds.position(0), None)
        return self._observations(), self._infos(reset_info(worlds, 0))

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, NDArray[np.float32]], float, bool, dict[str, dict[str, Any]]]:
        """One sample: observations, the shared reward, whether it is truncated, and infos.

        Args:
            actions: Each agent's integers, one a parameter of the agent.

        Raises:
            ActionError: An agent is unknown or missing, or its action is wrong.
            ResetNeededError: There was no reset, or the episode has ended; nothing was evaluated.
        """
        self._gate.check()
        joint = self._joint(actions)
        position = self.group.worlds.position(0)
        observations, rewards, outcome = self.group.worlds.step(joint)
        self._observation, self._last, self.shown = observations[0], joint[0], (position, joint[0])
        info = step_info(self.group.worlds, 0, outcome, 0)
        truncated = bool(self.group.worlds.age[0] >= self.episode_length)
        self._gate.end(truncated)
        return self._observations(), float(rewards[0]), truncated, self._infos(info)

    def _joint(self, actions: Mapping[str, Any]) -> IntArray:
        if not isinstance(actions, Mapping):
            raise ActionError(
                f"actions: got {brief(actions)}, expected a dict of each agent's action by its name"
            )
        for name in actions:
            if name not in self.action_spaces:
                raise ActionError(
                    f"actions: unknown agent {name!r}; expected {', '.join(self.names)}"
                )
        missing = [name for name in self.names if name not in actions]
        if missing:
            raise ActionError(f"actions: no action for {', '.join(missing)}; every agent acts")
        return self.group.join([action_array(actions[name])[np.newaxis] for name in self.names])

    def _observations(self) -> dict[str, NDArray[np.float32]]:
        return {name: self._observation.copy() for name in self.names}

    def _infos(self, shared: dict[str, Any]) -> dict[str, dict[str, Any]]:
        masks = self.group.masks()
        return {name: {**shared, "action_mask": masks[name]} for name in self.names}


def _listed(agents: Any) -> tuple[tuple[str, ...], ...]:
    """The assignment as tuples.

    Raises:
        EnvError: It is no list of lists.
    """
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        raise EnvError(
            f"agents: got {brief(agents)}, expected a list of each agent's parameter names"
        )
    for agent, own in enumerate(agents):
        if isinstance(own, str) or not isinstance(own, Sequence):
            raise EnvError(f"agents[{agent}]: got {brief(own)}, expected a list of parameter names")
    return tuple(tuple(own) for own in agents)


def _columns(assignment: Assignment, names: Sequence[str]) -> tuple[IntArray, ...]:
    """The columns of each agent's parameters."""
    owner: dict[str, int] = {}
    for agent, own in enumerate(assignment):
        if len(own) == 0:
            raise EnvError(f"agents[{agent}]: got no parameters, expected at least one")
        for name in own:
            if name not in names:
                hint = suggest(str(name), names)
                raise EnvError(
                    f"agents[{agent}]: unknown parameter {name!r}; expected names of "
                    f"{', '.join(names)}.{hint}"
                )
            if name in owner:
                raise EnvError(
                    f"agents[{agent}]: parameter {name!r} is agent {owner[name]}'s already; "
                    "give every parameter to one agent"
                )
            owner[name] = agent
    missing = [name for name in names if name not in owner]
    if missing:
        raise EnvError(f"agents: no agent has {', '.join(missing)}; give every parameter to one")
    places = {name: column for column, name in enumerate(names)}
    return tuple(np.array([places[name] for name in own], dtype=np.int64) for own in assignment)
