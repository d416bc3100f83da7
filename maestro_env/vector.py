"""The native vector environments: one layer, or the layers of a network in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from layers import Layer
from maestro_env.build import (
    DEFAULT_LAYER,
    DEFAULT_NETWORK,
    EPISODE_LENGTH,
    Arguments,
    layer_worlds,
    network_worlds,
)
from maestro_env.checks import check_choice, check_length
from maestro_env.env import LayerOrder
from maestro_env.info import Rows
from maestro_env.vector_base import VectorWorldEnv


class VectorMaestroEnv(VectorWorldEnv):
    """Many `MaestroEnv` at once; its arguments, and those of :class:`VectorWorldEnv`.

    Args:
        num_envs: How many worlds.
        max_episode_steps: Truncate after so many steps, as ``gymnasium.make`` has it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        layer: str | Layer = DEFAULT_LAYER,
        *,
        observation: str = "paper",
        episode_length: int = EPISODE_LENGTH,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **arguments: Unpack[Arguments],
    ) -> None:
        self.episode_length = check_length(episode_length)
        if max_episode_steps is not None:
            self.episode_length = min(self.episode_length, check_length(max_episode_steps))
        worlds = layer_worlds(num_envs, layer, observation=observation, **arguments)
        super().__init__(worlds, autoreset_mode, render_mode)

    def _ended(self, age: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return np.zeros(len(age), dtype=np.bool_), age >= self.episode_length


class VectorMaestroNetworkEnv(VectorWorldEnv):
    """Many `MaestroNetworkEnv` at once; its arguments, and those of :class:`VectorWorldEnv`.

    Args:
        num_envs: How many worlds.
        max_episode_steps: Truncate after so many steps, as ``gymnasium.make`` has it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        layers: str | Sequence[str | Layer] = DEFAULT_NETWORK,
        *,
        order: LayerOrder = "sequence",
        episode_length: int | None = None,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **arguments: Unpack[Arguments],
    ) -> None:
        lengths = [check_length(n) for n in (episode_length, max_episode_steps) if n is not None]
        self.episode_length = min(lengths, default=None)
        check_choice("order", order, ("sequence", "shuffled"))
        self.order = order
        super().__init__(network_worlds(num_envs, layers, **arguments), autoreset_mode, render_mode)

    def _routes(self, rows: Rows) -> Rows | None:
        if self.order == "sequence":
            return None
        count = len(self.worlds.problems)
        return np.array([self._generator(world).permutation(count) for world in rows])

    def _ended(self, age: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        terminated = age >= len(self.worlds.problems)
        if self.episode_length is None:
            return terminated, np.zeros(len(age), dtype=np.bool_)
        return terminated, (age >= self.episode_length) & ~terminated
