"""PPO for agents that act in some worlds of a batch and hold still in others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from baselines import Adam
from maestro_env import Problem
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites
from mapper.marl.head_logs import HeadLogs
from mapper.marl.policies import Mixture, Policies

MAX_GRADIENT = 5.0
LARGEST_WEIGHT = 4.0
"""Importance weights above it are cut, as in Espeholt et al. 2018 (IMPALA): less variance for a
small bias. One choice weighs at most 1 / the policies' share."""


class Transitions(NamedTuple):
    """Samples of the agents' choices.

    Args:
        observation: ``(B, I)`` float32.
        current: ``(B, P)`` choices before.
        chosen: ``(B, P)`` choices after.
        acting: ``(B, P)`` bool, which parameters an agent chose anew.
        free: ``(B,)`` bool, worlds in which every agent drew from its policy alone.
        reward: ``(B,)`` shared by all agents.
    """

    observation: NDArray[np.float32]
    current: NDArray[np.int64]
    chosen: NDArray[np.int64]
    acting: NDArray[np.bool_]
    free: NDArray[np.bool_]
    reward: NDArray[np.float64]

    @classmethod
    def join(cls, parts: list[Transitions]) -> Transitions:
        """Concatenate."""
        return cls(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


class PPO:
    """Clipped policy updates, each agent by its own advantage; no central critic.

    Args:
        policies: The agents' networks.
        mixture: What acting agents draw from; what they learn is weighted for it.
        config: Learning rate, epochs, clip and so on.
    """

    def __init__(self, policies: Policies, mixture: Mixture, config: MarlConfig) -> None:
        self.policies, self.mixture, self.config = policies, mixture, config
        self.optimizer = Adam(list(policies.parameters()), config.learning_rate)
        agents = int(policies.owner.max()) + 1
        owner = torch.nn.functional.one_hot(policies.owner, agents)
        self._of_agent = owner.T.to(torch.float32)

    def update(self, batch: Transitions, entropy: float, elites: Elites) -> None:
        """Learn from one batch.

        Args:
            batch: The samples.
            entropy: Weight of the entropy bonus, which counts the heads that were asked.
            elites: Mappings to imitate, as far as the config says.
        """
        config = self.config
        asked = _Asked.of(batch)
        likely, values, logs = self._forward(asked)
        before = self._by_agent(asked, likely.detach())
        acts = self._weights(asked, likely.detach())
        advantage = asked.reward - values.detach()
        if config.normalise:
            advantage = _normalised(advantage, acts)
        for epoch in range(config.epochs):
            if epoch:
                likely, values, logs = self._forward(asked)
            ratio = (self._by_agent(asked, likely) - before).clamp(-5.0, 5.0).exp()
            clipped = ratio.clamp(1.0 - config.clip, 1.0 + config.clip)
            gain = torch.minimum(ratio * advantage, clipped * advantage) * acts
            error = (asked.reward - values) ** 2 * acts
            loss = (0.5 * error - gain).sum() / len(asked.reward)
            if entropy:
                share = asked.valid / asked.valid.sum(dim=1, keepdim=True).clamp_min(1.0)
                loss = loss + entropy * (logs.negative_entropy() * share).sum()
            if config.self_imitation and len(elites.values):
                loss = loss - config.self_imitation * self._likelihood(elites)
            self._step(loss)

    def _forward(self, asked: _Asked) -> tuple[Tensor, Tensor, HeadLogs]:
        """``(P, M)`` log-likelihoods of the choices, ``(A, B)`` values, and the heads' logs."""
        logs, values = self.policies(asked.observation, asked.worlds, asked.batch.chosen)
        likely = self.mixture.log_policy(logs, asked.chosen, asked.current, asked.free)
        return likely, values, logs

    def _by_agent(self, asked: _Asked, logs: Tensor) -> Tensor:
        """``(A, B)`` sums over each agent's parameters of ``(P, M)`` logs."""
        empty = torch.zeros(len(asked.worlds), len(asked.reward))
        return self._of_agent @ empty.scatter_add(1, asked.worlds, logs * asked.valid)

    def _weights(self, asked: _Asked, likely: Tensor) -> Tensor:
        """``(A, B)`` importance weights of the agents' choices, 0 where an agent held still."""
        acting = torch.from_numpy(asked.batch.acting.T.astype(np.float32))
        acts = ((self._of_agent @ acting) > 0).float()
        found = self.mixture.log_weight(likely, asked.chosen, asked.current, asked.free)
        return acts * self._by_agent(asked, found).exp().clamp(max=LARGEST_WEIGHT)

    def _step(self, loss: Tensor) -> None:
        """Move the policies down a loss, by gradients of bounded norm."""
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policies.parameters(), MAX_GRADIENT)
        self.optimizer.step()

    def _likelihood(self, elites: Elites) -> Tensor:
        """Mean log-likelihood of the elites' choices where an agent observes them, a parameter."""
        seen = self.policies.observe(elites.figures, elites.actions)
        count, width = elites.actions.shape
        rows = torch.arange(count).expand(width, count)
        logs, _ = self.policies(torch.from_numpy(seen), rows, elites.actions)
        likely: Tensor = logs.of(elites.actions.T).mean(dim=1).sum()
        return likely


class _Asked(NamedTuple):
    """What the heads are asked for a batch: of each parameter the worlds in which it acted.

    Args:
        batch: The samples.
        observation: ``(B, I)``.
        reward: ``(B,)``.
        worlds: ``(P, M)`` rows of the batch in which a parameter acted, padded to the most.
        valid: ``(P, M)`` 1.0 where one is no padding.
        chosen: ``(P, M)`` choices after.
        current: ``(P, M)`` choices before.
        free: ``(P, M)`` whether every agent drew from its policy alone.
    """

    batch: Transitions
    observation: Tensor
    reward: Tensor
    worlds: Tensor
    valid: Tensor
    chosen: NDArray[np.int64]
    current: NDArray[np.int64]
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, batch: Transitions) -> _Asked:
        """Find the worlds in which each parameter acted."""
        acting = batch.acting.T
        most = max(1, int(acting.sum(axis=1).max()))
        rows = np.argsort(~acting, axis=1, kind="stable")[:, :most]
        valid = np.take_along_axis(acting, rows, axis=1)
        parameter = np.arange(len(rows))[:, None]
        return cls(
            batch,
            torch.from_numpy(batch.observation),
            torch.from_numpy(batch.reward).to(torch.float32),
            torch.from_numpy(rows),
            torch.from_numpy(valid.astype(np.float32)),
            batch.chosen[rows, parameter],
            batch.current[rows, parameter],
            batch.free[rows],
        )


def entropy_left(problem: Problem, config: MarlConfig) -> float:
    """Weight of the entropy bonus now: it falls linearly to 0 with the budget."""
    left = 1.0 if problem.budget is None else 1.0 - problem.samples / problem.budget
    return config.entropy * left


def _normalised(advantage: Tensor, acts: Tensor) -> Tensor:
    """``(A, B)``: each agent's advantages over its worlds, as they weigh: mean 0, deviation 1."""
    count = acts.sum(dim=1, keepdim=True).clamp_min(1.0)
    centred = advantage - (advantage * acts).sum(dim=1, keepdim=True) / count
    deviation = ((centred**2 * acts).sum(dim=1, keepdim=True) / count).sqrt()
    return centred / (deviation + 1e-3)
