"""PPO by Stable-Baselines3: with its defaults, and tuned for budgets of 20,000 samples."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.extras import require
from baselines.searcher import BaseSearcher, Capabilities
from baselines.torch_threads import one_thread
from maestro_env import Problem


@dataclass(frozen=True)
class PpoConfig:
    """Options of :class:`Ppo`: the defaults of Stable-Baselines3 2.9.

    Args:
        worlds: Environments side by side.
        steps: Steps of each between two updates.
        batch: Mini-batch size.
        epochs: Passes over a rollout.
        learning_rate: Of Adam.
        discount: Gamma; 0 makes every step a problem of its own.
        entropy: Weight of the entropy bonus.
        hidden: Units of each of the two hidden layers of policy and value.
        episode_length: Steps of an episode.
        reward: ``"relative"``, ``"inverse"`` or ``"log"``, see the environment.
    """

    worlds: int = 1
    steps: int = 2048
    batch: int = 64
    epochs: int = 10
    learning_rate: float = 3e-4
    discount: float = 0.99
    entropy: float = 0.0
    hidden: int = 64
    episode_length: int = 16
    reward: str = "relative"

    def __post_init__(self) -> None:
        check_fields(
            self,
            ("worlds", "steps", "batch", "epochs", "learning_rate", "hidden", "episode_length"),
        )


@dataclass(frozen=True)
class PpoMatchedConfig(PpoConfig):
    """Options of :class:`PpoMatched`; see :class:`PpoConfig` for what each is."""

    worlds: int = 64
    steps: int = 4
    batch: int = 256
    epochs: int = 4
    learning_rate: float = 3e-3
    hidden: int = 128


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Leave the global generators, which Stable-Baselines3 seeds, and the threads as they were."""
    import torch

    # NPY002: the global generator is kept and put back, not drawn from.
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with one_thread(), torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


class Ppo(BaseSearcher):
    """One agent sets all parameters of a mapping a step, in the environment of `maestro_env`."""

    name = "ppo"
    source = "Schulman et al., Proximal policy optimization, 2017; Stable-Baselines3"
    Config = PpoConfig
    config: PpoConfig
    capabilities = Capabilities(extra="rl")

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("torch", self.name, "rl")
        require("stable_baselines3", self.name, "rl")
        seed = int(rng.integers(2**31))
        with _own_randomness():
            self._learn(problem, seed)

    def _learn(self, problem: Problem, seed: int) -> None:
        from stable_baselines3 import PPO

        import maestro_env
        from baselines.ppo_policy import BatchedPolicy

        config = self.config
        world = maestro_env.sb3_vec_env(
            config.worlds,
            episode_length=config.episode_length,
            problem=problem,
            reward=config.reward,
        )
        model = PPO(
            BatchedPolicy,
            world,
            n_steps=config.steps,
            batch_size=config.batch,
            n_epochs=config.epochs,
            learning_rate=config.learning_rate,
            gamma=config.discount,
            ent_coef=config.entropy,
            policy_kwargs={"net_arch": [config.hidden, config.hidden]},
            seed=seed,
            device="cpu",
        )
        model.learn(total_timesteps=2**62)  # the problem's budget ends it


class PpoMatched(Ppo):
    """PPO with many worlds, short rollouts and a high learning rate."""

    name = "ppo-matched"
    Config = PpoMatchedConfig
