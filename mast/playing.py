"""Playing a team: greedy episodes from fixed starts, and how far its values are off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import make_generator, mean_interval
from mast.episodes import TaskShape
from mast.errors import MastError
from mast.scaling import RewardScale
from mast.tasks import Task, TeamWorlds, find_task

STARTS = 1024
"""Episodes of an evaluation."""
START_SEED = 1_000_003
"""Where every evaluation starts, so that all arms and seeds play the same episodes."""


ValuesOf = Callable[[NDArray[Any], Any], tuple[NDArray[Any], Any]]
"""Values of all actions: ``(F, N, W)`` inputs and memory, to ``(A, N, W)`` and memory."""


class Team:
    """Agents that act side by side in ``W`` worlds.

    Args:
        shape: The task's.
        n_worlds: ``W``.
        numbered: Agents read their own number.
        values: What they think of their actions.
        dtype: Of what they read.
    """

    def __init__(
        self, shape: TaskShape, n_worlds: int, numbered: bool, values: ValuesOf, dtype: str
    ) -> None:
        n = shape.n_agents
        self._obs = np.zeros((shape.obs_dim + n * numbered, n, n_worlds), np.dtype(dtype))
        if numbered:
            self._obs[shape.obs_dim :] = np.eye(n)[:, :, None]
        self._width, self._values = shape.obs_dim, values
        self.hidden: Any = None

    def values(self, obs: NDArray[Any]) -> NDArray[Any]:
        """``(A, N, W)`` values for ``(W, N, D)`` observations."""
        self._obs[: self._width] = obs.transpose(2, 1, 0)
        made, self.hidden = self._values(self._obs, self.hidden)
        return made

    def greedy(self, obs: NDArray[Any], available: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """``(W, N)`` best actions, the lowest of equals."""
        return best_of(self.values(obs), available)

    def forget(self, ended: NDArray[np.bool_]) -> None:
        """Let the agents of ended worlds remember nothing."""
        for state in self.hidden or ():
            if state is not None:
                state.reshape(len(state), -1, len(ended))[:, :, ended] = 0


def best_of(values: NDArray[Any], available: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """``(W, N)`` best available actions of ``(A, N, W)`` values."""
    if available is not None:
        values = np.where(available.transpose(2, 1, 0), values, -np.inf)
    return np.ascontiguousarray(values.argmax(axis=0).T)


def evaluate(
    task: Task, team: str | None, make_team: Any, episodes: int = STARTS, seed: int = START_SEED
) -> NDArray[np.float64]:
    """Play greedy episodes.

    Args:
        task: What is played.
        team: How rewards that differ become one.
        make_team: Makes a :class:`Team` for so many worlds.
        episodes: How many; the same seed gives every team the same starts.
        seed: Seeds the starts.

    Returns:
        ``(episodes,)`` rewards, summed over steps.
    """
    at_once = min(task.at_once, episodes)
    worlds = TeamWorlds(task, at_once, team)
    returns: list[float] = []
    for chunk in range(-(-episodes // at_once)):
        worlds.reset(seed + chunk * at_once)
        returns += _first_episodes(worlds, make_team(at_once)).tolist()
    return np.array(returns[:episodes])


def _first_episodes(worlds: TeamWorlds, team: Team) -> NDArray[np.float64]:
    """``(W,)`` rewards of each world's first episode."""
    returns, playing = np.zeros(worlds.n_worlds), np.ones(worlds.n_worlds, np.bool_)
    while playing.any():
        scene = worlds.look()
        step = worlds.step(team.greedy(scene.obs, scene.available))
        returns += np.where(playing, step.rewards, 0.0)
        playing &= ~step.ended
        if step.ended.any() and playing.any():
            worlds.restart(step.ended)
            team.forget(step.ended)
    return returns


def played(policy: Any, episodes: int = STARTS) -> dict[str, Any]:
    """What a :class:`mast.exporting.SparsePolicy` earns in the task that it was trained for.

    Raises:
        MastError: The task has other shapes than the team.
    """
    config = policy.config
    task = find_task(config.task, config.episode_length)
    there = TeamWorlds(task, 1, config.team).shape
    if there != policy.shape:
        raise MastError(
            f"a team for {policy.shape}; expected one for {there}, which task {config.task!r} has. "
            "Train it for this version of the task."
        )

    def team(n_worlds: int) -> Team:
        return Team(policy.shape, n_worlds, config.share, policy.values, config.dtype)

    returns = evaluate(task, config.team, team, episodes)
    mean, half = mean_interval(returns)
    return {
        "task": config.task, "arm": config.label, "episodes": episodes, "return": float(mean),
        "interval": float(half),
    }  # fmt: skip


def random_returns(
    task: Task, team: str | None, episodes: int = STARTS, seed: int = START_SEED
) -> NDArray[np.float64]:
    """Rewards of episodes of uniformly random available actions, what a score of 0 is."""
    shape, rng = TeamWorlds(task, 1, team).shape, make_generator(seed, 7)

    def any_team(n_worlds: int) -> Team:
        size = (shape.n_actions, shape.n_agents, n_worlds)
        return Team(shape, n_worlds, False, lambda _, hidden: (rng.random(size), hidden), "float32")

    return evaluate(task, team, any_team, episodes, seed)


def q_gap(task: Task, learner: Any, scale: RewardScale, starts: int = 256) -> Iterator[float]:
    """How far joint values at starts are above what greedy play earns from there.

    Episodes go on for ``4 / (1 - gamma)`` steps instead of being cut, as values look beyond the
    cut too.

    Args:
        task: A task that can go on.
        learner: What plays, a :class:`mast.algorithms.ValueLearner`.
        scale: How the rewards were standardised that it learnt from.
        starts: How many.

    Yields:
        For each start the value minus the discounted return, in standard deviations of rewards.
    """
    config = learner.config
    steps = round(4 / (1 - config.gamma)) if config.gamma < 1 else task.length
    worlds = TeamWorlds(task, starts, config.team, steps)
    worlds.reset(START_SEED)
    shape = worlds.shape
    team = Team(shape, starts, config.share, learner.values, config.dtype)
    earned, value = np.zeros(starts), None
    for t in range(steps):
        scene = worlds.look()
        values = team.values(scene.obs)
        actions = best_of(values, scene.available)
        if value is None:
            chosen = np.take_along_axis(values, actions.T[None], axis=0)[0]
            value = learner.joint_value(np.ascontiguousarray(chosen), scene.states)
        earned += config.gamma**t * scale(worlds.step(actions).rewards)
    assert value is not None
    yield from (value - earned).tolist()
