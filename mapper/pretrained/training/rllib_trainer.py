"""Policy gradient of the agents on RLlib: one RLModule a kind of parameter.

The reference of :class:`mapper.pretrained.training.trainer.PolicyTrainer`'s policy gradient, and a
way to spread it over a Ray cluster; slower, as every decision is a step of an environment.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.torch.torch_learner import TorchLearner
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.registry import register_env
from torch import Tensor, nn

from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.training.sampling import group_advantage
from mapper.pretrained.training.schedule import Schedule, falling
from mapper.pretrained.training.turn_env import MOST, OBSERVATION, UNFIT, TurnEnv
from mapper.pretrained.turns import KINDS
from mapper.pretrained.view import CHOICE_FEATURES, CONTEXT_FEATURES

ADVANTAGE = "group_advantage"
IMPOSSIBLE = -1e9
"""Score of a choice that is not legal."""
ENV = "mapper-turns"


class KindModule(TorchRLModule):
    """The network of one kind of parameter, as :mod:`mapper.pretrained.network` has it."""

    def setup(self) -> None:
        """Take the arrays of the kind from the model's config."""
        arrays = self.model_config["arrays"]
        self.arrays = nn.ParameterDict(
            {
                name.replace(".", "__"): nn.Parameter(torch.from_numpy(a))
                for name, a in arrays.items()
            }
        )

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        choices = seen[:, CONTEXT_FEATURES:].reshape(-1, MOST, CHOICE_FEATURES + 1)
        features, legal = choices[..., :-1], choices[..., -1] > 0
        hidden = torch.relu(self._layer("context1", seen[:, :CONTEXT_FEATURES]))
        hidden = torch.relu(self._layer("context2", hidden))
        inside = features @ self.arrays["choice__weight"] + self._layer("query", hidden)[:, None]
        scores = torch.relu(inside) @ self.arrays["pointer"]
        scores = scores + (features * self._layer("direct", hidden)[:, None]).sum(-1)
        return {Columns.ACTION_DIST_INPUTS: scores.masked_fill(~legal, IMPOSSIBLE)}

    def _layer(self, name: str, x: Tensor) -> Tensor:
        out: Tensor = x @ self.arrays[f"{name}__weight"] + self.arrays[f"{name}__bias"]
        return out


class GroupRewards(ConnectorV2):
    """Standardises the terminal reward over the episodes of a problem.

    Episodes come problem by problem, `samples` of each. Every step of an episode gets its
    advantage; see :func:`group_advantage`.
    """

    def __init__(self, samples: int) -> None:
        super().__init__()
        self.samples = samples

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[Any], **_: Any
    ) -> dict[str, Any]:
        """Add the column `ADVANTAGE` to the batch."""
        advantage = self.advantages([_terminal(episode) for episode in episodes])
        known = dict(zip((episode.id_ for episode in episodes), advantage, strict=True))
        for one in self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False):
            steps = [np.float32(known[one.multi_agent_episode_id])] * len(one)
            self.add_n_batch_items(batch, ADVANTAGE, steps, len(one), one)
        return batch

    def advantages(self, rewards: list[float]) -> np.ndarray:
        """``(B,)`` advantage of every episode."""
        found = np.array(rewards)
        values = np.where(found <= UNFIT, np.inf, np.exp(-np.maximum(found, -600)))
        best = values.reshape(-1, self.samples).min(axis=1)
        return group_advantage(values, self.samples, best)


def _terminal(episode: Any) -> float:
    """The reward that all agents of an episode got at its end."""
    return max(
        (float(one.get_rewards(-1)) for one in episode.agent_episodes.values() if len(one)),
        key=abs,
    )


class GroupLearner(TorchLearner):
    """Gain by the group's advantage, and an entropy bonus; no critic."""

    bonus = 0.0

    def anneal(self, rate: float, bonus: float) -> None:
        """Set Adam's step and the weight of the entropy bonus."""
        self.bonus = bonus
        for _, optimiser in self.get_optimizers_for_module():
            for group in optimiser.param_groups:
                group["lr"] = rate

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: Mapping[str, Tensor], fwd_out: Any
    ) -> Tensor:
        """Mean over a kind's decisions."""
        drawn = torch.distributions.Categorical(logits=fwd_out[Columns.ACTION_DIST_INPUTS])
        likely: Tensor = drawn.log_prob(batch[Columns.ACTIONS])  # type: ignore[no-untyped-call]
        entropy = drawn.entropy().mean()  # type: ignore[no-untyped-call]
        loss: Tensor = -(batch[ADVANTAGE] * likely).mean() - self.bonus * entropy
        return loss


class _GroupAlgorithm(PPO):
    """One update on whole groups of episodes."""

    def training_step(self) -> None:
        episodes = self.env_runner.sample(num_episodes=self.config.env_config["episodes"])
        results = self.learner_group.update(episodes=episodes, num_epochs=1)
        changed = set(results[0]) - {"__all_modules__"}
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group, policies=changed, inference_only=True
        )


class RllibTrainer:
    """Trains agents by policy gradient alone, on RLlib; :meth:`step` does one update.

    Args:
        cost_model: Name of the cost model whose mappings are learnt.
        schedule: Its first stage, policy gradient from untrained agents; every step has fresh
            problems (`blocks` and `visits` are 1).
        seed: Seeds everything; the first networks are those of `PolicyTrainer` with it.

    Needs a Ray session (``runs.ray_session``).
    """

    def __init__(self, cost_model: str, schedule: Schedule, seed: int) -> None:
        for name in ("ray", "ray.rllib", "ray.tune"):
            logging.getLogger(name).setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module="ray")
        self.first = fresh(np.random.default_rng(seed), schedule.hidden)
        register_env(ENV, TurnEnv)
        self.schedule, self.done = schedule, 0
        self.algorithm = self._config(cost_model, schedule, seed).build_algo()

    def step(self) -> None:
        """One update on `problems` fresh problems of `samples` mappings each."""
        plan = self.schedule
        share = self.done / plan.explore_steps
        rate = falling(plan.learning_rate, share)
        bonus = plan.entropy + (plan.entropy_floor - plan.entropy) * share
        self.algorithm.learner_group.foreach_learner(lambda one: one.anneal(rate, bonus))
        self.algorithm.train()
        self.done += 1

    def weights(self) -> Weights:
        """The networks as they are now; the judge is untrained."""
        found = dict(self.first)
        for kind in KINDS:
            for name, array in self.algorithm.get_module(kind).arrays.items():
                found[f"{kind}.{name.replace('__', '.')}"] = array.detach().numpy().copy()
        return found

    def stop(self) -> None:
        """End RLlib's actors."""
        self.algorithm.stop()

    def _config(self, cost_model: str, plan: Schedule, seed: int) -> Any:
        space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATION,), np.float32)
        specs = {kind: self._spec(kind, space) for kind in KINDS}
        env = {"cost_model": cost_model, "samples": plan.samples, "seed": seed}
        return (
            PPOConfig(algo_class=_GroupAlgorithm)
            .environment(
                ENV,
                env_config={**env, "episodes": plan.problems * plan.samples},
                disable_env_checking=True,
            )
            .env_runners(num_env_runners=0, batch_mode="complete_episodes")
            .learners(num_learners=0)
            .multi_agent(policies=list(KINDS), policy_mapping_fn=lambda agent, *_, **__: agent)
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=specs))
            .training(
                learner_class=GroupLearner,
                learner_connector=lambda *_: GroupRewards(plan.samples),
                lr=plan.learning_rate,
                grad_clip=1.0,
                num_epochs=1,
                minibatch_size=None,
            )
            .reporting(min_time_s_per_iteration=0)
            .debugging(seed=seed, log_level="ERROR")
        )

    def _spec(self, kind: str, space: Any) -> RLModuleSpec:
        start = f"{kind}."
        arrays = {n[len(start) :]: a for n, a in self.first.items() if n.startswith(start)}
        return RLModuleSpec(
            module_class=KindModule,
            observation_space=space,
            action_space=gymnasium.spaces.Discrete(MOST),
            model_config={"arrays": arrays},
        )
