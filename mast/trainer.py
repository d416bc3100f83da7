"""The training loop: play, keep whole episodes, learn, change the topology, evaluate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import make_generator, pack_generator, unpack_generator
from mast.algorithms import make_value_learner
from mast.buffers import BUFFERS
from mast.config import MastConfig
from mast.episodes import Episode, EpisodeStore
from mast.playing import Team, best_of, evaluate
from mast.recorder import Recorder
from mast.scaling import RewardScale, RunningMoments
from mast.tasks import TeamWorlds, find_task
from sparse_training import cosine_drop

EVALUATIONS = 10
"""Evaluations of a run, evenly spaced; the last three make its score."""


@dataclass
class RunStanding:
    """How far a run is.

    Attributes:
        steps: Steps of the environment, of all worlds together.
        episodes: Episodes that have ended.
        updates: Updates.
        evaluations: Steps, and mean return of greedy episodes then.
        cpu_s: Processor time of training alone at each evaluation [s].
        latest: Figures of the latest update and topology step.
    """

    steps: int = 0
    episodes: int = 0
    updates: int = 0
    evaluations: list[tuple[int, float]] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    latest: dict[str, Any] = field(default_factory=dict)

    @property
    def evaluated(self) -> bool:
        """Whether an evaluation was part of the latest step."""
        return bool(self.evaluations) and self.evaluations[-1][0] == self.steps


class MastTrainer:
    """One training run.

    Args:
        config: What is learnt how.
        total: Steps of the environment, of all worlds together.
        seed: Everything follows from it.
        episodes: Episodes of an evaluation.
    """

    def __init__(self, config: MastConfig, total: int, seed: int = 0, episodes: int = 1024) -> None:
        self.config, self.total, self.seed, self._episodes = config, total, seed, episodes
        self.task = find_task(config.task, config.episode_length)
        self.worlds = TeamWorlds(self.task, config.worlds, config.team)
        self.worlds.reset(seed)
        shape = self.worlds.shape
        self.learner = make_value_learner(config, shape, total, seed)
        buffer = BUFFERS.make(config.part_names()["buffer"], config)
        self.store = EpisodeStore(
            shape, config.capacity, config.batch, buffer.law(),
            numbered=config.share, dtype=config.dtype, seed=seed,
        )  # fmt: skip
        self._recorder = Recorder(shape, config.worlds, config.dtype)
        self._team = self.team(config.worlds)
        self._explore = make_generator(seed, 6)
        self.moments = RunningMoments()
        self.progress = RunStanding()
        self._cpu = time.process_time()

    def team(self, n_worlds: int) -> Team:
        """The agents as they are now, and go on to be, in so many worlds."""
        config = self.config
        return Team(self.worlds.shape, n_worlds, config.share, self.learner.values, config.dtype)

    @property
    def scale(self) -> RewardScale:
        """How rewards are standardised now."""
        if not self.config.standardise:
            return RewardScale()
        mean = self.moments.mean if self.task.endless is not None else 0.0
        return RewardScale(mean, self.moments.deviation)

    def run(self, on_step: Callable[[MastTrainer], None] | None = None) -> RunStanding:
        """Train to the end.

        Args:
            on_step: Called after every step of all worlds; raises to stop.
        """
        while self.progress.steps < self.total:
            self.step()
            if on_step is not None:
                on_step(self)
        return self.progress

    def step(self) -> None:
        """One step of every world, and what has come due."""
        scene = self.worlds.look()
        self._recorder.see(*scene)
        actions = self._actions(scene.obs, scene.available)
        step = self.worlds.step(actions)
        self._recorder.act(actions, step.rewards)
        self.moments.add(step.rewards)
        self.progress.steps += self.config.worlds
        if step.ended.any():
            self._recorder.see(*self.worlds.look())
            for episode in self._recorder.ended(step.ended, step.terminated):
                self._finish(episode)
            self.worlds.restart(step.ended)
            self._team.forget(step.ended)
        self._evaluate_if_due()

    @property
    def exploration(self) -> float:
        """Share of random actions now."""
        config = self.config
        over = min(1.0, self.progress.steps / max(1, config.explore_steps))
        return 1.0 + over * (config.explore_end - 1.0)

    def _actions(self, obs: NDArray[Any], available: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        actions = self._team.greedy(obs, available)
        rng, shape = self._explore, self.worlds.shape
        wild = rng.random(actions.shape) < self.exploration
        chances = rng.random((shape.n_actions, shape.n_agents, len(actions)))
        return np.where(wild, best_of(chances, available), actions)

    def _finish(self, episode: Episode) -> None:
        """Keep an episode, and do what its end makes due."""
        config, progress = self.config, self.progress
        self.store.add(episode)
        progress.episodes += 1
        if progress.episodes % config.update_every or len(self.store) < config.batch:
            return
        progress.updates += 1
        counted = progress.episodes if config.counted == "episodes" else progress.updates
        fraction = cosine_drop(
            config.drop, progress.steps, max(1.0, config.topology_end * self.total)
        )
        moves = counted % config.topology_every == 0 and fraction > 0
        batch = self.store.sample()
        progress.latest |= self.learner.update(batch, self.scale, progress.steps, topology=moves)
        if moves:
            progress.latest |= self.learner.change_topology(fraction)
        if counted % config.target_every == 0:
            self.learner.copy_targets()

    def _evaluate_if_due(self) -> None:
        progress = self.progress
        due = (len(progress.evaluations) + 1) * self.total / EVALUATIONS
        if progress.steps >= due:
            progress.cpu_s.append(self.cpu_s)
            returns = evaluate(self.task, self.config.team, self.team, self._episodes)
            progress.evaluations.append((progress.steps, float(returns.mean())))
            self._cpu = time.process_time()

    @property
    def cpu_s(self) -> float:
        """Processor time of training so far, evaluations apart [s]."""
        before = self.progress.cpu_s[-1] if self.progress.cpu_s else 0.0
        return before + time.process_time() - self._cpu

    def state_dict(self) -> dict[str, Any]:
        """The whole run."""
        progress = self.progress
        return {
            "learner": self.learner.state_dict(),
            "store": self.store.state_dict(),
            "recorder": self._recorder.state_dict(),
            "worlds": self.worlds.state_dict(),
            "hidden": list(self._team.hidden or []),
            "moments": self.moments.state(),
            "explore": pack_generator(self._explore),
            "counts": [progress.steps, progress.episodes, progress.updates],
            "evaluations": [list(one) for one in progress.evaluations],
            "cpu_s": list(progress.cpu_s),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave.

        Worlds that cannot be saved begin new episodes; those under way are lost.
        """
        progress = self.progress
        self.learner.load_state_dict(state["learner"])
        self.store.load_state_dict(state["store"])
        self.moments.load(state["moments"])
        unpack_generator(self._explore, state["explore"])
        progress.steps, progress.episodes, progress.updates = state["counts"]
        progress.evaluations = [(int(at), float(value)) for at, value in state["evaluations"]]
        progress.cpu_s = list(state["cpu_s"])
        if state["worlds"]:
            self.worlds.load_state_dict(state["worlds"])
            self._recorder.load_state_dict(state["recorder"])
            self._team.hidden = state["hidden"] or None
        else:
            self.worlds.reset(self.seed + progress.steps)
        self._cpu = time.process_time()
