"""Playing a trained policy: what its agents earn, and what is seen of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import mean_interval
from mpe_marl.errors import MpeError
from mpe_marl.policy import Policy
from mpe_marl.trainer import make_env
from mpe_marl.worlds import SCENARIOS, BatchEnv
from mpe_marl.worlds.drawing import draw

Act = Callable[[NDArray[np.float32]], NDArray[Any]]


def episodes(env: BatchEnv, act: Act, count: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Play episodes one after the other, each from the start that its own seed gives.

    Yields:
        ``(T, N)`` rewards of an episode.
    """
    for episode in range(count):
        obs, rewards = env.reset(seed + episode), []
        while True:
            step = env.step(act(obs))
            rewards.append(step.rewards[0].copy())
            if step.ended[0]:
                break
            obs = step.obs
        yield np.array(rewards)


@dataclass(frozen=True)
class PlayedEpisodes:
    """What episodes of a policy earned.

    Attributes:
        names: ``N`` agents.
        returns: ``(E, N)`` rewards, summed over the steps of an episode.
    """

    names: list[str]
    returns: NDArray[np.float64]

    def rows(self) -> list[dict[str, Any]]:
        """Mean return an agent with its 95 % interval, for each team and for all agents."""
        teams: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            teams.setdefault(name.rpartition("_")[0] or name, []).append(place)
        groups = {**teams, **({"all": list(range(len(self.names)))} if len(teams) > 1 else {})}
        rows = []
        for team, places in groups.items():
            mean, half = mean_interval(self.returns[:, places].mean(1))
            rows.append(
                {
                    "team": team, "agents": len(places), "episodes": len(self.returns),
                    "mean_return": float(mean), "interval": float(half),
                }
            )  # fmt: skip
        return rows


def evaluate(policy: Policy, count: int, seed: int = 0, explore: bool = True) -> PlayedEpisodes:
    """Play a policy in the world it was trained in.

    Args:
        policy: What plays.
        count: Episodes; the same seed gives every policy the same starts.
        seed: Seeds starts and exploration.
        explore: Sample actions as in training, so that the return is what training reports.
    """
    env = make_env(policy.config, n_worlds=1)
    policy.seed(seed)
    played = episodes(env, lambda obs: policy.act(obs, explore), count, seed)
    return PlayedEpisodes(list(env.names), np.array([rewards.sum(0) for rewards in played]))


def watch(policy: Policy, count: int, seed: int = 0) -> list[NDArray[np.uint8]]:
    """Play a policy's likeliest moves and draw every step.

    Args:
        policy: What plays, in a world of this package.
        count: Episodes.
        seed: Seeds the starts, as in :func:`evaluate`.

    Returns:
        ``(H, W, 3)`` pictures, with trails from each episode's start.

    Raises:
        MpeError: The world is not one of this package, or Pillow is not installed.
    """
    env, spec = make_env(policy.config, n_worlds=1), policy.config.spec
    if spec is None:
        raise MpeError(
            f"world {policy.config.world!r} has no picture here; expected one of "
            f"{', '.join(SCENARIOS)}. Draw it with its own render()."
        )
    frames, trail = list[NDArray[np.uint8]](), list[NDArray[np.float32]]()

    def act(obs: NDArray[np.float32]) -> NDArray[Any]:
        trail.append(env.states()[0])
        frames.append(draw(spec, np.array(trail)))
        return policy.act(obs)

    for _ in episodes(env, act, count, seed):
        trail.append(env.states()[0])
        frames.append(draw(spec, np.array(trail)))
        trail.clear()
    return frames
