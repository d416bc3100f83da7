"""Worlds as a Gymnasium vector environment: one call of the batched cost model a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cost_models import Cost
from maestro_env.action_space import ActionError, action_array
from maestro_env.batched_problem import BatchedProblem
from maestro_env.checks import (
    EnvError,
    ResetNeededError,
    check_choice,
    check_options,
    check_seed,
    mask_rows,
)
from maestro_env.info import LATER, Rows, VectorInfo
from maestro_env.render import RENDER_MODES, checked_mode, render
from maestro_env.rewards import OBSERVED
from marl_common import brief

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class VectorWorldEnv(VectorEnv):  # type: ignore[type-arg]  # any observation and action
    """Worlds as a Gymnasium vector environment; equal to that many single ones, step for step.

    ``infos`` has the keys of the single environment as arrays, each with its mask ``_key``;
    ``infos["cost"]`` and ``infos["infeasible"]`` are made, for all worlds, when somebody looks;
    :meth:`cost` makes one world's.

    Args:
        worlds: The worlds.
        autoreset_mode: ``NEXT_STEP`` (default; the step after an episode's last resets and ignores
            the action), ``SAME_STEP`` (with ``final_obs`` and ``final_info``) or ``DISABLED``
            (reset with ``options={"reset_mask": ...}``).
        render_mode: As for the single environment; `render` gives one frame a world.
    """

    def __init__(
        self, worlds: BatchedProblem, autoreset_mode: AutoresetMode | str, render_mode: str | None
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        if not isinstance(autoreset_mode, AutoresetMode):
            modes = [mode.value for mode in AutoresetMode]
            check_choice("autoreset_mode", autoreset_mode, modes)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
        }
        self.num_envs = worlds.num_worlds
        self.single_observation_space = worlds.observation_space()
        self.single_action_space = worlds.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.worlds = worlds
        self._begun = np.zeros(self.num_envs, dtype=np.bool_)
        self._ended_worlds = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations = np.zeros(self.observation_space.shape or (), dtype=np.float32)
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._actions = np.zeros(self.action_space.shape or (), dtype=np.int64)
        self._places = np.zeros(self.num_envs, dtype=np.int64)
        self._mapped = np.zeros(self.num_envs, dtype=np.bool_)
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
            EnvError: An option is unknown, the mask is not bool or names no world, or there are not
                as many whole numbers of at least 0 as worlds. Nothing was reset.
        """
        mask = check_options(options, ("reset_mask",)).get("reset_mask")
        rows = np.arange(self.num_envs) if mask is None else mask_rows(mask, self.num_envs)
        seeds = self._seeds(seed)
        infos = VectorInfo(self.num_envs)
        self._reset_rows(rows, [seeds[i] for i in rows], infos)
        self._begun[rows] = True
        return self._observations.copy(), infos.infos()

    def step(self, actions: Any) -> Step:
        """Step every world (or reset it, where its episode ended in the step before).

        Args:
            actions: ``(N, P)`` integers.

        Raises:
            ActionError: Actions of a wrong shape, type or range; nothing was evaluated.
            ResetNeededError: A world was never reset, or (mode ``DISABLED``) not since its
                episode's end; nothing was evaluated.
        """
        if not self._begun.all():
            raise ResetNeededError(
                f"step: worlds {_few(~self._begun)} have not begun, expected a reset first; call "
                "reset()"
            )
        actions = action_array(actions)
        if actions.shape != self.action_space.shape:
            raise ActionError(
                f"actions: got shape {actions.shape}, expected {self.action_space.shape}, one row "
                "a world"
            )
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended_worlds.any():
            raise ResetNeededError(
                f"step: the episodes of worlds {_few(self._ended_worlds)} have ended; reset them "
                "with options={'reset_mask': mask}"
            )
        rewards = np.zeros(self.num_envs)
        infos = VectorInfo(self.num_envs)
        stepping = np.flatnonzero(~self._ended_worlds)
        resetting = np.flatnonzero(self._ended_worlds)
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
            rows = np.flatnonzero(ended)
            infos.finish(rows, self._observations)
            self._reset_rows(rows, [None] * len(rows), infos)
        return self._observations.copy(), rewards, terminations, truncations, infos.infos()

    def render(self) -> tuple[Any, ...] | None:
        """One frame a world, or None without a ``render_mode``."""
        if self.render_mode is None:
            return None
        return tuple(
            render(self.render_mode, self.worlds, *self._shown(world))
            for world in range(self.num_envs)
        )

    def cost(self, world: int) -> Cost:
        """The cost of one world's last mapping, without making those of all.

        Raises:
            EnvError: There is no such world, or it has not mapped anything since its last reset.
        """
        if world not in range(self.num_envs):
            raise EnvError(
                f"cost: got world {brief(world)}, expected a whole number from 0 to "
                f"{self.num_envs - 1}"
            )
        position, action = self._shown(world)
        if action is None:
            raise EnvError(f"cost: world {world} has not mapped anything yet; step first")
        return self.worlds.look(position, action).cost(0)

    def _shown(self, world: int) -> tuple[int, Rows | None]:
        """The layer that a world mapped last, and how."""
        if not self._mapped[world]:
            return self.worlds.position(world), None
        return int(self._places[world]), self._actions[world]

    def _ended(self, age: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which episodes of these ages are terminated, and which are truncated."""
        raise NotImplementedError  # every environment has its own rule

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
        if isinstance(seed, str | bytes) or not isinstance(seed, Sequence | np.ndarray):
            first = check_seed(seed)
            if first is None:
                return [None] * self.num_envs
            super().reset(seed=first)
            return [first + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise EnvError(f"seed: got {len(seed)} seeds, expected {self.num_envs}, one a world")
        return [check_seed(one) for one in seed]

    def _reset_rows(self, rows: Rows, seeds: list[int | None], infos: VectorInfo) -> None:
        for world, seed in zip(rows, seeds, strict=True):
            if seed is not None:
                self._generators[world], _ = seeding.np_random(seed)
        recount = np.array([seed is not None for seed in seeds], dtype=np.bool_)
        self._observations[rows] = self.worlds.reset(rows, self._routes(rows), recount)
        self._ended_worlds[rows] = self._mapped[rows] = False
        self._put_common(infos, rows)

    def _step_rows(self, rows: Rows, actions: NDArray[Any], infos: VectorInfo) -> Any:
        everyone = len(rows) == self.num_envs
        self._places[rows] = self.worlds.positions(rows)
        observations, rewards, outcome = self.worlds.step(actions[rows], None if everyone else rows)
        self._observations[rows] = observations
        self._actions[rows] = actions[rows]
        self._mapped[rows] = True
        self._put_common(infos, rows)
        infos.put("feasible", rows, outcome.feasible)
        infos.put("reason", rows, outcome.reason)
        infos.put("value", rows, outcome.values)
        for figure in OBSERVED:
            infos.put(figure, rows, outcome.figure(figure))
        row = np.zeros(self.num_envs, dtype=np.int64)
        row[rows] = np.arange(len(rows))
        for key in LATER:
            infos.put_later(key, rows, partial(_of_world, getattr(outcome, key), row))
        return rewards

    def _put_common(self, infos: VectorInfo, rows: Rows) -> None:
        infos.put("samples", rows, self.worlds.samples[rows])
        if self._next is None or len(self.worlds.problems) > 1:
            self._next = np.empty((2, self.num_envs), dtype=object)
            for world, position in enumerate(self.worlds.positions().tolist()):
                self._next[0, world] = self.worlds.layer_names[position]
                self._next[1, world] = self.worlds.masks_at(position)
        infos.put("layer", rows, self._next[0, rows])
        infos.put("action_mask", rows, self._next[1, rows])


def _of_world(make: Callable[[int], Any], row: Rows, world: int) -> Any:
    """What an outcome makes for a world, whose row in it is ``row[world]``."""
    return make(int(row[world]))


def _few(worlds: NDArray[np.bool_]) -> str:
    """Some worlds by number, the first ten of them written out."""
    rows = np.flatnonzero(worlds).tolist()
    return f"{rows[:10]}" + (f" and {len(rows) - 10} more" if rows[10:] else "")
