"""PPO for agents that act in some worlds of a batch and hold still in others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mapper.marl.adam import Adam
from mapper.marl.config import MarlConfig
from mapper.marl.policies import Mixture, Policies

MAX_GRADIENT = 5.0


class Transitions(NamedTuple):
    """Samples of the agents' choices.

    Args:
        observation: ``(B, OBSERVATION)`` float32.
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
    """Clipped policy updates, each agent by its own advantage; discount 0, no central critic.

    Args:
        policies: The agents' networks.
        mixture: What acting agents draw from.
        config: Learning rate, epochs, clip and so on.
    """

    def __init__(self, policies: Policies, mixture: Mixture, config: MarlConfig) -> None:
        self.policies, self.mixture, self.config = policies, mixture, config
        self.optimizer = Adam(list(policies.parameters()), config.learning_rate)
        agents = int(policies.owner.max()) + 1
        owner = torch.nn.functional.one_hot(policies.owner, agents)
        self._of_agent = owner.T.to(torch.float32)

    def update(self, batch: Transitions, entropy: float, elites: NDArray[np.int64]) -> None:
        """Learn from one batch.

        Args:
            batch: The samples.
            entropy: Weight of the entropy bonus.
            elites: ``(E, P)`` choices to imitate, as far as the config says.
        """
        observation = torch.from_numpy(batch.observation)
        current = torch.from_numpy(np.ascontiguousarray(batch.current.T))
        chosen = torch.from_numpy(np.ascontiguousarray(batch.chosen.T))
        acting = torch.from_numpy(np.ascontiguousarray(batch.acting.T)).to(torch.float32)
        free = torch.from_numpy(batch.free)
        reward = torch.from_numpy(batch.reward).to(torch.float32)
        acts = ((self._of_agent @ acting) > 0).to(torch.float32)
        imitated = torch.from_numpy(np.ascontiguousarray(elites.T))

        def forward() -> tuple[Tensor, Tensor, Tensor]:
            log_probabilities, values = self.policies(observation, current)
            density = self.mixture.log_density(log_probabilities, chosen, current, free)
            return self._of_agent @ (density * acting), values, log_probabilities

        with torch.no_grad():
            before, values, _ = forward()
            advantage = _normalised(reward - values, acts)
        for _ in range(self.config.epochs):
            after, values, log_probabilities = forward()
            ratio = (after - before).clamp(-5.0, 5.0).exp()
            clipped = ratio.clamp(1.0 - self.config.clip, 1.0 + self.config.clip)
            gain = torch.minimum(ratio * advantage, clipped * advantage) * acts
            error = (reward - values) ** 2 * acts
            loss = (0.5 * error - gain).sum() / len(reward)
            bits = log_probabilities.exp() * log_probabilities.clamp_min(-30.0)
            loss = loss + entropy * bits.sum(dim=2).mean(dim=1).sum()
            if self.config.self_imitation and len(elites):
                likely = log_probabilities.mean(dim=1).gather(1, imitated)
                loss = loss - self.config.self_imitation * likely.mean(dim=1).sum()
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.policies.parameters(), MAX_GRADIENT)
            self.optimizer.step()


def _normalised(advantage: Tensor, acts: Tensor) -> Tensor:
    """``(A, B)``: each agent's advantages over the worlds it acted in, mean 0, deviation 1."""
    count = acts.sum(dim=1, keepdim=True).clamp_min(1.0)
    centred = advantage - (advantage * acts).sum(dim=1, keepdim=True) / count
    deviation = ((centred**2 * acts).sum(dim=1, keepdim=True) / count).sqrt()
    return centred / (deviation + 1e-3)
