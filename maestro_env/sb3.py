"""The vector environment for Stable-Baselines3, on the batched cost model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from maestro_env.action_space import action_array
from maestro_env.build import any_worlds, steps_of
from maestro_env.checks import EpisodeGate
from maestro_env.masks import flat
from maestro_env.render import checked_mode, render


class SB3MaestroEnv(VecEnv):
    """``MaestroEnv`` as a ``VecEnv``: a step is one call of the batched model for all worlds.

    A world resets in the step that ends its episode; ``infos`` then hold
    ``terminal_observation``, ``TimeLimit.truncated`` and ``episode`` (as ``VecMonitor`` gives it).

    Args:
        num_envs: How many worlds.
        episode_length: Steps of an episode; None for 16, or all layers of a network.
        render_mode: ``"ansi"``, ``"rgb_array"`` or None.
        arguments: The other arguments of ``MaestroEnv``, or with ``layers`` those of
            ``MaestroEnvNetwork`` but for ``order``; or ``problem=`` an existing problem, whose
            budget then ends the training with ``BudgetExhausted``.
    """

    def __init__(
        self,
        num_envs: int = 1,
        episode_length: int | None = None,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        self.worlds = any_worlds(num_envs, **arguments)
        self.episode_length = steps_of(episode_length, self.worlds)
        self._actions: NDArray[Any] = np.zeros((num_envs, len(self.worlds.nvec)), dtype=np.int64)
        self._returns = np.zeros(num_envs)
        self._shown: list[tuple[int, Any]] = [(0, None)] * num_envs
        self._gate = EpisodeGate()
        self._start = time.perf_counter()
        super().__init__(num_envs, self.worlds.observation_space(), self.worlds.action_space())

    def reset(self) -> NDArray[np.float32]:
        """Start episodes in all worlds."""
        self._returns[:] = 0.0
        self._gate.begin()
        recount = np.array([seed is not None for seed in self._seeds])
        self._reset_seeds()
        self._reset_options()
        self._shown = [(0, None)] * self.num_envs
        return self.worlds.reset(recount=recount)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions of the next :meth:`step_wait`.

        Raises:
            ActionError: They are no array.
            ResetNeededError: There was no reset.
        """
        self._gate.check()
        self._actions = np.atleast_1d(action_array(actions))

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Any, Any]:
        """Step all worlds: observations, rewards, dones and infos.

        Raises:
            ActionError: Actions of a wrong shape, type or range; nothing was evaluated.
            BudgetExhausted: The problem's budget does not suffice.
        """
        if self.render_mode is not None:
            positions = [self.worlds.position(world) for world in range(self.num_envs)]
            self._shown = list(zip(positions, np.array(self._actions), strict=True))
        observations, rewards, outcome = self.worlds.step(self._actions)
        self._returns += rewards
        feasible, values = outcome.feasible.tolist(), outcome.values.tolist()
        infos: list[dict[str, Any]] = [
            {"feasible": fits, "value": value, "TimeLimit.truncated": False}
            for fits, value in zip(feasible, values, strict=True)
        ]
        dones = self.worlds.age >= self.episode_length
        if dones.any():
            self._finish(np.flatnonzero(dones), observations, infos)
        return observations, rewards.astype(np.float32), dones, infos

    def _finish(
        self, rows: NDArray[np.int64], observations: NDArray[np.float32], infos: list[Any]
    ) -> None:
        elapsed = round(time.perf_counter() - self._start, 6)
        for row in rows:
            infos[row]["TimeLimit.truncated"] = True
            infos[row]["terminal_observation"] = observations[row].copy()
            infos[row]["episode"] = {
                "r": float(self._returns[row]),
                "l": int(self.worlds.age[row]),
                "t": elapsed,
            }
        self._returns[rows] = 0.0
        observations[rows] = self.worlds.reset(rows)

    def close(self) -> None:
        """Nothing to release."""

    def action_masks(self, world: int) -> NDArray[np.bool_]:
        """A world's action masks in one array, as sb3-contrib's MaskablePPO asks for them."""
        return flat(self.worlds.masks(world))

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of every world's last mapping (``render_mode="rgb_array"``)."""
        return [self._render(world) for world in range(self.num_envs)]

    def _render(self, world: int) -> Any:
        return render(self.render_mode or "ansi", self.worlds, *self._shown[world])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of some worlds."""
        worlds = list(self._get_indices(indices))
        if attr_name == "action_masks":
            return [partial(self.action_masks, world) for world in worlds]
        if attr_name == "render":
            return [partial(self._render, world) for world in worlds]
        return [getattr(self, attr_name)] * len(worlds)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: the worlds share their attributes.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(
            f"{attr_name}: the worlds of this environment share their attributes; "
            "set it on the environment, or make a new one"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call ``action_masks`` or ``render`` of some worlds."""
        methods = self.get_attr(method_name, indices)
        return [method(*method_args, **method_kwargs) for method in methods]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No world is wrapped, but returns and lengths are given as ``Monitor`` gives them."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))
