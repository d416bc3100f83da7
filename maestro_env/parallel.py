"""The PettingZoo environment: several agents choose one mapping together."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from maestro_env.agents import AgentWorld, Assignment
from maestro_env.build import any_worlds
from maestro_env.checks import EnvError, check_options, check_seed
from maestro_env.render import RENDER_MODES, checked_mode, render
from marl_common import brief

Observations = dict[str, NDArray[np.float32]]
Flags = dict[str, bool]
Infos = dict[str, dict[str, Any]]
OF_TESTS = "options"
"""An option that PettingZoo's own tests pass to every environment; it says nothing."""


class MaestroParallelEnv(ParallelEnv):
    """One agent a parameter, or a list of parameters; all act at once and share the reward.

    Args:
        agents: The parameter names of each agent, as lists; None for one agent a parameter.
        episode_length: Steps of an episode; None for 16, or all layers of a network.
        render_mode: ``"ansi"``, ``"rgb_array"`` or None.
        numeric_info: Whether infos are plain numbers, the same keys at every step: ``samples`` and
            ``value`` (inf where there is none). Libraries that make tensors of infos, such as
            TorchRL's ``PettingZooWrapper``, need that.
        arguments: The other arguments of ``MaestroEnv``, or with ``layers`` those of
            ``MaestroEnvNetwork`` but for ``order``; or ``problem=`` an existing problem.

    Raises:
        EnvError: The assignment does not give every parameter to exactly one agent.
    """

    metadata = {  # noqa: RUF012 - as PettingZoo has it
        "name": "maestro_env_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        agents: Assignment | None = None,
        episode_length: int | None = None,
        render_mode: str | None = None,
        numeric_info: bool = False,
        **arguments: Any,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        if not isinstance(numeric_info, bool):
            raise EnvError(f"numeric_info: got {brief(numeric_info)}, expected True or False")
        self.numeric_info = numeric_info
        self._world = AgentWorld(any_worlds(1, **arguments), agents, episode_length)
        self.episode_length = self._world.episode_length
        self.possible_agents = list(self._world.names)
        self.agents = list(self.possible_agents)
        self.observation_spaces: dict[str, Box] = self._world.observation_spaces
        self.action_spaces: dict[str, MultiDiscrete] = self._world.action_spaces
        self.state_space = self._world.state_space()

    @property
    def assignment(self) -> dict[str, tuple[str, ...]]:
        """The parameters of each agent."""
        return dict(zip(self._world.names, self._world.group.assignment, strict=True))

    def observation_space(self, agent: str) -> Box:
        """An agent's observation space: the papers' four figures (see ``MaestroEnv``)."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> MultiDiscrete:
        """An agent's action space: one entry a parameter of the agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Start an episode; no sample is spent.

        Raises:
            EnvError: The seed is no whole number of at least 0, or there is an option: none is
                known.
        """
        if isinstance(options, dict):
            options = {name: value for name, value in options.items() if name != OF_TESTS}
        check_options(options)
        seed = check_seed(seed)
        self.agents = list(self.possible_agents)
        observations, infos = self._world.reset(recount=seed is not None)
        return observations, self._told(infos)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Observations, dict[str, float], Flags, Flags, Infos]:
        """Map the layer as the agents' actions say together; one sample.

        Raises:
            ActionError: An agent is unknown or missing, or its action is wrong.
            ResetNeededError: There was no reset, or the episode has ended; nothing was evaluated.
        """
        observations, reward, truncated, infos = self._world.step(actions)
        names = self.possible_agents
        if truncated:
            self.agents = []
        return (
            observations,
            dict.fromkeys(names, reward),
            dict.fromkeys(names, False),
            dict.fromkeys(names, truncated),
            self._told(infos),
        )

    def _told(self, infos: Infos) -> Infos:
        """Infos as `numeric_info` asks for them."""
        if not self.numeric_info:
            return infos
        return {
            name: {"samples": info["samples"], "value": info.get("value", np.inf)}
            for name, info in infos.items()
        }

    def state(self) -> NDArray[np.float32]:
        """The shared observation, then the last joint action scaled to [0, 1] (`state_space`)."""
        return self._world.state()

    def render(self) -> Any:
        """The last mapping, as ``render_mode`` says: text, or a picture of the tiling."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode")
            return None
        return render(self.render_mode, self._world.group.worlds, *self._world.shown)

    def close(self) -> None:
        """Nothing to release."""
