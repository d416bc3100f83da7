"""Worlds as a team sees them: observations, states, available actions, one reward."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mast.episodes import TaskShape
from mast.errors import MastError
from mast.tasks.task import Task


class Scene(NamedTuple):
    """What ``W`` worlds show.

    Attributes:
        obs: ``(W, N, D)``.
        states: ``(W, S)``; where the worlds have none, all observations side by side.
        available: ``(W, N, A)``, or None where every action always is.
    """

    obs: NDArray[np.float32]
    states: NDArray[np.float32]
    available: NDArray[np.bool_] | None


class TeamStep(NamedTuple):
    """What a step of ``W`` worlds gave.

    Attributes:
        rewards: ``(W,)`` of the team.
        ended: ``(W,)``.
        terminated: ``(W,)``: ended, and not merely cut.
    """

    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]
    terminated: NDArray[np.bool_]


class TeamWorlds:
    """``W`` worlds of a task.

    Args:
        task: The task.
        n_worlds: ``W``.
        team: How rewards that differ become one; None: as the task says.
        steps: Cut episodes after so many steps instead of the task's.

    Raises:
        MastError: The worlds have continuous actions, or cannot go on.
    """

    def __init__(
        self, task: Task, n_worlds: int, team: str | None = None, steps: int | None = None
    ) -> None:
        self.env = task.make(n_worlds) if steps is None else _endless(task, n_worlds, steps)
        self.n_worlds, self.team = n_worlds, team or task.team
        self._length = steps or task.length
        if self.env.continuous:
            raise MastError(
                f"task {task.name!r} has continuous actions; expected discrete ones, of which "
                "each has a value. Wrap the world."
            )
        self._obs = self.env.reset(0)
        self._t = np.zeros(n_worlds, np.int64)
        scene = self.look()
        self.shape = TaskShape(
            self.env.n_agents, self.env.obs_dim, scene.states.shape[1], self.env.act_dim,
            self._length, scene.available is not None,
        )  # fmt: skip

    def reset(self, seed: int) -> None:
        """Start every world anew."""
        self._obs = self.env.reset(seed)
        self._t[:] = 0

    def look(self) -> Scene:
        """What the worlds show now.

        Raises:
            MastError: An agent has no available action.
        """
        available = self.env.available()
        check_available(available)
        states = self.env.states()
        if states.shape[1] == 0:
            states = self._obs.reshape(self.n_worlds, -1)
        return Scene(self._obs, states, available)

    def step(self, actions: NDArray[np.int64]) -> TeamStep:
        """Advance every world; those that ended must be restarted.

        Raises:
            MastError: Rewards differ and nothing says how they become one.
        """
        step = self.env.step(actions)
        self._obs = step.obs
        self._t += 1
        ended = step.ended | (self._t >= self._length)
        return TeamStep(team_reward(step.rewards, self.team), ended, step.terminated)

    def restart(self, ended: NDArray[np.bool_]) -> None:
        """Start the ended worlds anew."""
        self._obs = self.env.restart(ended)
        self._t[ended] = 0

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Where every world stands; empty where that cannot be saved."""
        inner = self.env.state_dict()
        return {**inner, "steps_in": self._t} if inner else {}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self._obs = self.env.load_state_dict(tables)
        self._t[:] = tables["steps_in"]


def _endless(task: Task, n_worlds: int, steps: int) -> Any:
    if task.endless is None:
        raise MastError(
            f"task {task.name!r} cannot go on beyond its end; expected spread-N or tag-N."
        )
    return task.endless(n_worlds, steps)


def team_reward(rewards: NDArray[np.float64], team: str | None) -> NDArray[np.float64]:
    """One reward for all agents.

    Args:
        rewards: ``(W, N)``.
        team: ``"mean"``, ``"sum"``, or None where all agents must earn the same.

    Returns:
        ``(W,)``.

    Raises:
        MastError: They differ and nothing says how they become one.
    """
    if team == "sum":
        return np.asarray(rewards.sum(axis=1))
    if team is None and (rewards != rewards[:, :1]).any():
        wrong = int(np.flatnonzero((rewards != rewards[:, :1]).any(axis=1))[0])
        raise MastError(
            f"world {wrong}: rewards {rewards[wrong].tolist()} differ between agents; expected "
            "one reward for the team. Say `--team mean` or `--team sum`."
        )
    return np.asarray(rewards.mean(axis=1))


def check_available(available: NDArray[np.bool_] | None) -> None:
    """Make sure that every agent has an action that it may choose.

    Args:
        available: ``(W, N, A)``, or None.

    Raises:
        MastError: An agent has none.
    """
    if available is None or available.any(axis=2).all():
        return
    world, agent = np.argwhere(~available.any(axis=2))[0].tolist()
    raise MastError(
        f"world {world}, agent {agent}: no action is available; expected at least one of "
        f"{available.shape[2]}. Mend the world's action mask."
    )
