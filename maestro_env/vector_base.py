"""Worlds as a Gymnasium vector environment: one call of the batched cost model a step."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cost_models import Cost, Infeasible
from maestro_env.feedback import OBSERVED, EnvError, check_choice
from maestro_env.map_space import ActionError
from maestro_env.outcome import Outcome
from maestro_env.render import RENDER_MODES, render
from maestro_env.worlds import Worlds

Rows = NDArray[np.int64]
Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class OutcomeView:
    """Something of every world's last step, made when it is asked for; None where there is none.

    Args:
        outcome: Of the step.
        row: ``(N,)`` row of each world in it; -1 where the world did not step.
        field: ``"cost"`` or ``"infeasible"``.
    """

    def __init__(self, outcome: Outcome, row: Rows, field: str) -> None:
        self._outcome, self._row, self._field = outcome, row, field

    def __len__(self) -> int:
        return len(self._row)

    def __getitem__(self, world: int) -> Cost | Infeasible | None:
        row = int(self._row[world])
        if row < 0:
            return None
        result: Cost | Infeasible | None = getattr(self._outcome, self._field)(row)
        return result


class VectorWorldEnv(VectorEnv):  # type: ignore[type-arg]
    """Worlds as a Gymnasium vector environment; equal to that many single ones, step for step.

    ``infos`` has the keys of the single environment as arrays, each with its mask ``_key``;
    ``infos["cost"][i]`` and ``infos["infeasible"][i]`` are made when they are asked for.

    Args:
        worlds: The worlds.
        autoreset_mode: ``NEXT_STEP`` (default; the step after an episode's last resets and ignores
            the action), ``SAME_STEP`` (with ``final_obs`` and ``final_info``) or ``DISABLED``
            (reset with ``options={"reset_mask": ...}``).
        render_mode: As for the single environment; `render` gives one frame a world.
    """

    def __init__(
        self, worlds: Worlds, autoreset_mode: AutoresetMode | str, render_mode: str | None
    ) -> None:
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        if not isinstance(autoreset_mode, AutoresetMode):
            modes = [mode.value for mode in AutoresetMode]
            check_choice("autoreset_mode", autoreset_mode, modes)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = render_mode
        self.num_envs = worlds.num_worlds
        self.single_observation_space = worlds.observation_space()
        self.single_action_space = worlds.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.worlds = worlds
        self._ended_worlds = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations = np.zeros(self.observation_space.shape or (), dtype=np.float32)
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._shown: list[tuple[int, Any]] = [(0, None)] * self.num_envs
        self._next: NDArray[np.object_] | None = None  # names and masks of the layers to map next

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start episodes in all worlds, or in those of ``options["reset_mask"]``.

        Args:
            seed: World i gets ``seed + i``, or the i-th of a sequence.
            options: ``{"reset_mask": (N,) bool}`` or nothing.

        Raises:
            EnvError: As many seeds as worlds are needed, and a bool mask with one world at least.
        """
        seeds = self._seeds(seed)
        mask = (options or {}).get("reset_mask")
        rows = np.arange(self.num_envs) if mask is None else _masked(mask, self.num_envs)
        infos: dict[str, Any] = {}
        self._reset_rows(rows, [seeds[i] for i in rows], infos)
        for world in rows:
            self._shown[world] = (self.worlds.position(world), None)
        return self._observations.copy(), infos

    def step(self, actions: Any) -> Step:
        """Step every world (or reset it, where its episode ended in the step before).

        Args:
            actions: ``(N, P)`` integers.

        Raises:
            ActionError: Actions of a wrong shape, type or range; nothing was evaluated.
        """
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise ActionError(
                f"actions: got shape {actions.shape}, expected {self.action_space.shape}, one row "
                "a world"
            )
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended_worlds.any():
            raise EnvError(
                f"step: the episodes of worlds {np.flatnonzero(self._ended_worlds).tolist()} have "
                "ended; reset them with options={'reset_mask': mask}"
            )
        rewards = np.zeros(self.num_envs)
        infos: dict[str, Any] = {}
        stepping, resetting = (
            np.flatnonzero(~self._ended_worlds),
            np.flatnonzero(self._ended_worlds),
        )
        terminations = np.zeros(self.num_envs, dtype=np.bool_)
        truncations = np.zeros(self.num_envs, dtype=np.bool_)
        if len(stepping):
            rewards[stepping] = self._step_rows(stepping, actions, infos)
            age = self.worlds.age[stepping]
            terminations[stepping], truncations[stepping] = self._ended(age)
        if len(resetting):
            self._reset_rows(resetting, [None] * len(resetting), infos)
        ended = terminations | truncations
        self._ended_worlds = ended
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            self._finish(np.flatnonzero(ended), infos)
        return self._observations.copy(), rewards, terminations, truncations, infos

    def render(self) -> tuple[Any, ...] | None:
        """One frame a world, or None without a ``render_mode``."""
        if self.render_mode is None:
            return None
        frames = [render(self.render_mode, self.worlds, *shown) for shown in self._shown]
        return tuple(frames)

    def _ended(self, age: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which episodes of these ages are terminated, and which are truncated."""
        raise NotImplementedError

    def _routes(self, rows: Rows) -> Rows | None:
        """Order of the layers in the next episodes of some worlds; None keeps it."""
        return None

    def _generator(self, world: int) -> np.random.Generator:
        generator = self._generators[world]
        if generator is None:
            generator, _ = seeding.np_random()
            self._generators[world] = generator
        return generator

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise EnvError(f"seed: got {len(seed)} seeds, expected {self.num_envs}, one a world")
        return list(seed)

    def _reset_rows(self, rows: Rows, seeds: list[int | None], infos: dict[str, Any]) -> None:
        for world, seed in zip(rows, seeds, strict=True):
            if seed is not None:
                self._generators[world], _ = seeding.np_random(seed)
        recount = np.array([seed is not None for seed in seeds], dtype=np.bool_)
        self._observations[rows] = self.worlds.reset(rows, self._routes(rows), recount)
        self._ended_worlds[rows] = False
        self._put_common(infos, rows)

    def _step_rows(self, rows: Rows, actions: NDArray[Any], infos: dict[str, Any]) -> Any:
        everyone = len(rows) == self.num_envs
        if self.render_mode is not None:
            for world in rows:
                self._shown[world] = (self.worlds.position(world), actions[world].copy())
        chosen = None if everyone else rows
        observations, rewards, outcome = self.worlds.step(actions[rows], chosen)
        self._observations[rows] = observations
        row = np.full(self.num_envs, -1)
        row[rows] = np.arange(len(rows))
        self._put_common(infos, rows)
        feasible = outcome.feasible
        self._put(infos, "feasible", rows, feasible)
        self._put(infos, "reason", rows, outcome.reason)
        self._put(infos, "value", rows, outcome.values)
        for figure in OBSERVED:
            self._put(infos, figure, rows, outcome.figure(figure))
        stepped = row >= 0
        for field in ("cost", "infeasible"):
            infos[field], infos[f"_{field}"] = OutcomeView(outcome, row, field), stepped
        return rewards

    def _finish(self, rows: Rows, infos: dict[str, Any]) -> None:
        """Reset the worlds whose episode ended in this step, and keep what it ended with."""
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[rows] = True
        final_obs = np.full(self.num_envs, None, dtype=object)
        for world in rows:
            final_obs[world] = self._observations[world].copy()
        final_info: dict[str, Any] = {}
        for key in [key for key in infos if not key.startswith("_")]:
            final_info[key], final_info[f"_{key}"] = infos[key], infos[f"_{key}"] & ended
            running = infos.pop(f"_{key}") & ~ended
            values = infos.pop(key)
            if running.any():
                infos[key], infos[f"_{key}"] = copy(values), running
        infos["final_obs"], infos["_final_obs"] = final_obs, ended
        infos["final_info"], infos["_final_info"] = final_info, ended.copy()
        self._reset_rows(rows, [None] * len(rows), infos)

    def _put_common(self, infos: dict[str, Any], rows: Rows) -> None:
        self._put(infos, "samples", rows, self.worlds.samples[rows])
        if self._next is None or len(self.worlds.problems) > 1:
            self._next = np.empty((2, self.num_envs), dtype=object)
            for world in range(self.num_envs):
                self._next[0, world] = self.worlds.layer_name(world)
                self._next[1, world] = self.worlds.masks(world)
        self._put(infos, "layer", rows, self._next[0, rows])
        self._put(infos, "action_mask", rows, self._next[1, rows])

    def _put(self, infos: dict[str, Any], key: str, rows: Rows, values: NDArray[Any]) -> None:
        """Set an info of some worlds, as Gymnasium's own vector environments do."""
        if key not in infos:
            infos[key] = np.zeros(self.num_envs, dtype=values.dtype)
            if values.dtype == object:
                infos[key].fill(None)
            infos[f"_{key}"] = np.zeros(self.num_envs, dtype=np.bool_)
        infos[key][rows] = values
        infos[f"_{key}"][rows] = True


def _masked(mask: Any, count: int) -> Rows:
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (count,) or not array.any():
        raise EnvError(
            f"options['reset_mask']: got {array.dtype} of shape {array.shape}, expected ({count},) "
            "bool with one world to reset at least"
        )
    return np.flatnonzero(array)
