"""The multi-agent environment for Ray's RLlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.rllib.env.multi_agent_env import MultiAgentEnv

from maestro_env.agents import AgentWorld
from maestro_env.build import any_worlds
from maestro_env.checks import EnvError
from marl_common import brief


class RLlibMaestroEnv(MultiAgentEnv):
    """``MaestroParallelEnv`` under RLlib's names; pass it as ``config.environment(env=...)``.

    Args:
        config: ``agents``, ``episode_length`` and the other arguments of
            ``maestro_env.parallel_env``, as ``env_config``.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, Mapping):
            raise EnvError(f"config: got {brief(config)}, expected a dict of arguments, or None")
        arguments = dict(config or {})
        agents = arguments.pop("agents", None)
        length = arguments.pop("episode_length", None)
        self._world = AgentWorld(any_worlds(1, **arguments), agents, length)
        self.episode_length = self._world.episode_length
        self.possible_agents = list(self._world.names)
        self.agents = list(self._world.names)
        self.observation_spaces = self._world.observation_spaces
        self.action_spaces = self._world.action_spaces
        super().__init__()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start an episode: observations and infos by agent."""
        super().reset(seed=seed, options=options)
        observations, _ = self._world.reset(recount=seed is not None)
        return observations, {}

    def step(self, action_dict: Mapping[str, Any]) -> Any:
        """One sample: observations, rewards, terminations, truncations and infos by agent.

        Raises:
            ResetNeededError: There was no reset, or the episode has ended; nothing was evaluated.
        """
        observations, reward, truncated, infos = self._world.step(action_dict)
        names = self.possible_agents
        brief = {name: {"value": info["value"]} for name, info in infos.items()}
        return (
            observations,
            dict.fromkeys(names, reward),
            {**dict.fromkeys(names, False), "__all__": False},
            {**dict.fromkeys(names, truncated), "__all__": truncated},
            brief,
        )
