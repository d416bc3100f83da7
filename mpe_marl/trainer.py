"""The training loop: act, step, store, and every hundred samples train all agents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.checkpoint import LEARNT
from mpe_marl.clock import Clock
from mpe_marl.errors import MpeError
from mpe_marl.learners import ALGORITHMS, make_learner
from mpe_marl.policy import FINAL, POLICY, Policy
from mpe_marl.replay import Replay, Rollout, Schema, Transition, make_law
from mpe_marl.replay.buffer import under
from mpe_marl.train_config import TrainConfig
from mpe_marl.worlds import BatchEnv, BatchWorlds


def make_env(config: TrainConfig, n_worlds: int | None = None) -> BatchEnv:
    """Make the config's worlds.

    Args:
        config: The config.
        n_worlds: Another number of worlds than the config's.

    Raises:
        MpeError: The world cannot be found.
    """
    count = config.n_worlds if n_worlds is None else n_worlds
    spec = config.spec
    if spec is not None:
        if config.engine == "mpe2":
            from mpe_marl.worlds.reference import Mpe2Worlds

            return Mpe2Worlds(spec, count)
        return BatchWorlds(spec, count)
    from mpe_marl.worlds.imported import imported
    from mpe_marl.worlds.parallel import AnyWorlds

    return AnyWorlds(imported(config.world), count)


def _make_store(
    schema: Schema, config: TrainConfig, seed: int, directory: str | None
) -> Replay | Rollout:
    """What the learner learns from."""
    if config.learner.on_policy:
        return Rollout(schema, config.update_every // config.n_worlds, config.batch)
    law = make_law(config.law, config.neighbors)
    return Replay(schema, config.capacity, config.layout, law, config.batch, seed, directory)


@dataclass
class History:
    """Rewards so far.

    Attributes:
        rewards: Reward of every episode: summed over its steps, mean over agents.
        losses: Of the latest update.
        updates: Updates of all trainers done.
        samples: Transitions added.
    """

    rewards: list[float] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    updates: int = 0
    samples: int = 0

    def mean(self, episodes: int) -> float:
        """Mean reward of the latest episodes; NaN when there is none."""
        latest = self.rewards[-episodes:]
        return float(np.mean(latest)) if latest else float("nan")


class Trainer:
    """One training run.

    Args:
        config: What to train on what.
        seed: Everything follows from it.
        directory: Folder for a memory-mapped replay store when memory is short.
    """

    def __init__(self, config: TrainConfig, seed: int = 0, directory: str | None = None) -> None:
        self.config, self.seed = config, seed
        self.env = make_env(config)
        schema = Schema.of(self.env)
        self.store = _make_store(schema, config, seed, directory)
        self.learner = make_learner(schema, config.learner, seed)
        self.history = History()
        self._keeps_states = config.layout == "state"
        self._due = config.first_update
        self._obs = self.env.reset(seed).copy()
        self._returns = np.zeros(self.env.n_worlds)
        self.clock = Clock()  # last: what came before is no part of training

    @property
    def replay(self) -> Replay:
        """The replay that the learner draws from.

        Raises:
            MpeError: The algorithm has none.
        """
        if isinstance(self.store, Rollout):
            raise MpeError(
                f"algorithm {self.config.learner.algorithm!r} has no replay; expected one of "
                f"{', '.join(ALGORITHMS)}."
            )
        return self.store

    def step(self) -> None:
        """One step of every world, and the updates that have come due."""
        history = self.history
        self._play()
        while history.samples >= self._due:
            history.losses = self.learner.update(self.store, self.clock)
            history.updates += 1
            self._due += self.config.update_every

    def _play(self) -> None:
        clock, obs, none = self.clock, self._obs, _NO_STATES
        with clock("act"):
            actions = self.learner.act(obs)
        with clock("environment"):
            before = self.env.states() if self._keeps_states else none
            step = self.env.step(actions)
            after = self.env.states() if self._keeps_states else none
            next_obs = step.obs.copy()
        with clock("store"):
            self.store.add(
                Transition(
                    obs, actions, step.rewards, next_obs, step.terminated, step.ended, before, after
                )
            )
        self._returns += step.rewards.mean(axis=1)
        self.history.samples += self.env.n_worlds
        self._obs = next_obs
        if step.ended.any():
            self.history.rewards += self._returns[step.ended].tolist()
            self._returns[step.ended] = 0.0
            with clock("environment"):
                self._obs = self.env.restart(step.ended).copy()

    def run(self, episodes: int, on_step: Callable[[Trainer], None] | None = None) -> History:
        """Train until so many episodes have ended in all.

        Args:
            episodes: Episodes, those of a restored run included.
            on_step: Called after every step; raises to stop.
        """
        while len(self.history.rewards) < episodes:
            self.step()
            if on_step is not None:
                on_step(self)
        return self.history

    def act(self, obs: NDArray[np.float32], explore: bool = False) -> NDArray[Any]:
        """Choose actions as trained so far.

        Args:
            obs: ``(W, N, D)`` observations.
            explore: Sample as in training; otherwise the likeliest move, or the mean.

        Returns:
            ``(W, N)`` moves, or ``(W, N, A)`` float32 in [0, 1].
        """
        return self.learner.act(obs, explore)

    @property
    def policy(self) -> Policy:
        """A copy of the policies as trained so far, which plays without this trainer."""
        return Policy.of(self.learner, self.config)

    def keep(self, folder: Path) -> None:
        """Write what was learnt: ``final.pt``, all of it, and ``policy.safetensors``."""
        state = {"learner": self.learner.state_dict(), "config": self.config.plain()}
        LEARNT.save(folder / FINAL, {**state, "seed": self.seed})
        self.policy.save(folder / POLICY)

    def start_from(self, path: str | Path) -> None:
        """Take over what another run of the same networks learnt, kept in its ``final.pt``.

        Args:
            path: The file; a tensor goes to this trainer's device, wherever it was trained.

        Raises:
            CheckpointError: It cannot be read.
            MpeError: It is of other networks.
        """
        learner = self.learner
        LEARNT.restore(path, lambda state: learner.load_state_dict(state["learner"]))

    def state_dict(self) -> dict[str, Any]:
        """The whole run: ``learner`` as tensors, the rest (``run``) as arrays."""
        h = self.history
        tables = {
            "rewards": np.array(h.rewards),
            "counts": np.array([h.updates, h.samples, self._due], dtype=np.int64),
            "returns": self._returns,
            **{f"env.{k}": v for k, v in self.env.state_dict().items()},
            **{f"replay.{k}": v for k, v in self.store.state_dict().items()},
        }
        return {"learner": self.learner.state_dict(), "run": tables}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.learner.load_state_dict(state["learner"])
        tables, h = state["run"], self.history
        h.rewards = [float(r) for r in tables["rewards"]]
        h.updates, h.samples, self._due = (int(c) for c in tables["counts"])
        self.store.load_state_dict(under("replay.", tables))
        env = under("env.", tables)
        if env:
            self._returns[:] = tables["returns"]
            self._obs = self.env.load_state_dict(env).copy()
        else:
            self.store.cut()
            self._obs = self.env.reset(self.seed + h.samples).copy()


_NO_STATES = np.zeros((0, 0), dtype=np.float32)


def random_rewards(config: TrainConfig, episodes: int, seed: int = 0) -> NDArray[np.float64]:
    """Rewards of episodes played by uniformly random actions, what learning is measured against.

    Args:
        config: The world.
        episodes: How many.
        seed: Seeds worlds and actions.

    Returns:
        ``(episodes,)`` rewards: summed over steps, mean over agents.
    """
    env, rng = make_env(config), np.random.default_rng(seed)
    env.reset(seed)
    shape = (env.n_worlds, env.n_agents)
    rewards: list[float] = []
    returns = np.zeros(env.n_worlds)
    while len(rewards) < episodes:
        if env.continuous:
            step = env.step(rng.random((*shape, env.act_dim), dtype=np.float32))
        else:
            may = env.available()
            moves = rng.integers(0, env.act_dim, shape) if may is None else _any_of(rng, may)
            step = env.step(moves)
        returns += step.rewards.mean(axis=1)
        if step.ended.any():
            rewards += returns[step.ended].tolist()
            returns[step.ended] = 0.0
            env.restart(step.ended)
    return np.array(rewards[:episodes])


def _any_of(rng: np.random.Generator, may: NDArray[np.bool_]) -> NDArray[np.int64]:
    """``(W, N)`` a uniform choice of the ``(W, N, A)`` actions that may be chosen."""
    return np.asarray((rng.random(may.shape) * may).argmax(-1))
