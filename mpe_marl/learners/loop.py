"""Update mode `loop`: one network after the other, as the papers' code does."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mpe_marl.clock import Clock
from mpe_marl.learners import nets
from mpe_marl.learners.bank import Part
from mpe_marl.learners.base import Learner, losses_of, report_errors
from mpe_marl.replay import Replay


class LoopLearner(Learner[Replay]):
    """Every trainer draws, computes all agents' target actions and trains its own networks.

    Follows openai/maddpg ``MADDPGAgentTrainer.update``: trainer ``i`` runs the target policies of
    all ``N`` agents on its batch, one after the other.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        config = self.config
        self.actors.split(range(self.actors.count), config.lr, config.clip)
        self.critics.split(range(self.critics.count), config.lr, config.clip)

    def _outputs(self, obs: NDArray[np.float32]) -> NDArray[Any]:
        """One network call for each agent, as the papers' code does."""
        with torch.inference_mode():
            x = torch.from_numpy(obs).to(self.device, self.dtype)
            outputs = [nets.plain(p.leaves, x[:, i]) for i, p in enumerate(self.actors.parts)]
            result: NDArray[Any] = torch.stack(outputs, dim=1).cpu().numpy()
        return result

    def update(self, replay: Replay, clock: Clock) -> dict[str, float]:
        """See :meth:`Learner.update`."""
        totals = torch.zeros(3, dtype=torch.float64)
        batch = noise = None
        turn = self._policies_turn()
        for i in range(self.schema.n_agents):
            if batch is None or not replay.law.shared:
                with clock("sample"):
                    batch = replay.sample()
                noise = None
            with clock("target_q"):
                joined = batch.joined()
                data = {
                    name: self.tensor(getattr(joined, name))
                    for name in ("obs", "actions", "rewards", "next_obs", "done")
                }
                weights = None if batch.weights is None else self.tensor(batch.weights)
                if noise is None:
                    noise = self.target_noise(len(joined.rows))
                with torch.no_grad():
                    target = self._target(i, data, noise)
            with clock("q_loss"):
                q_loss, errors = self._train_critics(i, data, target, weights)
                report_errors(replay, batch, errors)
            with clock("p_loss"):
                p_loss = self._train_policy(i, data, weights) if turn else q_loss.new_zeros(())
            totals += torch.stack([q_loss, p_loss, target.mean()]).double().cpu()
        if turn:
            with clock("target_update"), torch.no_grad():
                self.follow()
        return losses_of(*(totals / self.schema.n_agents))

    def _critics_of(self, i: int) -> list[Part]:
        twins = self.config.twins
        return self.critics.parts[i * twins : (i + 1) * twins]

    def _target(self, i: int, data: dict[str, Tensor], noise: Tensor) -> Tensor:
        """``(B,)`` what the critics of agent ``i`` are drawn to."""
        after, actions, bonus = data["next_obs"], [], noise.new_zeros(noise.shape[1])
        for j, part in enumerate(self.actors.parts):
            output = nets.plain(part.targets, after[:, j])
            actions.append(self.head.act(output, noise[j]))
            if j == i:
                bonus = self.head.bonus(output, noise[j])
        x = torch.cat([after.flatten(1), *actions], dim=1)
        values = [nets.plain(part.targets, x).squeeze(-1) for part in self._critics_of(i)]
        value = torch.stack(values).amin(0) + bonus
        return data["rewards"][:, i] + self.config.gamma * (1 - data["done"]) * value

    def _train_critics(
        self, i: int, data: dict[str, Tensor], target: Tensor, weights: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        x = torch.cat([data["obs"].flatten(1), data["actions"].flatten(1)], dim=1)
        total, largest = target.new_zeros(()), torch.zeros_like(target)
        for part in self._critics_of(i):
            error = nets.plain(part.leaves, x).squeeze(-1) - target
            square = error.square()
            loss = (square if weights is None else square * weights).mean()
            part.step(loss)
            total, largest = total + loss.detach(), largest + error.detach().abs()
        return total, largest / self.config.twins

    def _train_policy(self, i: int, data: dict[str, Tensor], weights: Tensor | None) -> Tensor:
        part = self.actors.parts[i]
        output = nets.plain(part.leaves, data["obs"][:, i])
        noise = self.policy_noise(len(output))
        actions = list(data["actions"].unbind(1))
        actions[i] = self.head.act(output, noise)
        x = torch.cat([data["obs"].flatten(1), *actions], dim=1)
        frozen = [[leaf.detach() for leaf in critic.leaves] for critic in self._critics_of(i)]
        value = self.worth(torch.stack([nets.plain(f, x).squeeze(-1) for f in frozen]), 0)
        gain = value + self.head.bonus(output, noise) - self.head.penalty(output)
        loss = -(gain if weights is None else gain * weights).mean()
        part.step(loss)
        return loss.detach()
