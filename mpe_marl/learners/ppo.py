"""IPPO and MAPPO: policies that climb the advantage of what they just did, in small steps.

Schulman et al., 2017 (clipped ratios); de Witt et al., 2020 (IPPO: each agent values what it sees
itself); Yu et al., 2022 (MAPPO: it values what all agents see).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mpe_marl.clock import Clock
from mpe_marl.learners import nets
from mpe_marl.learners.advantages import advantages
from mpe_marl.learners.bank import Bank
from mpe_marl.learners.base import Learner, losses_of
from mpe_marl.replay import Rollout

_TINY = 1e-6  # keeps actions away from the ends of [0, 1], where their push is infinite
_SPREAD = 1e-8  # keeps an advantage that never varies finite


class PpoLearner(Learner[Rollout]):
    """``N`` policies and ``N`` critics, all in stacked products; each agent its own ratio."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        everyone = [slice(0, self.schema.n_agents)]
        for bank in (self.actors, self.critics):
            bank.split(everyone, self.config.lr, self.config.clip)

    def _make_banks(self, *place: Any) -> tuple[Bank, Bank]:
        n, obs, hidden = self.schema.n_agents, self.schema.obs_dim, self.config.hidden
        seen = obs if self.config.algorithm == "ippo" else n * obs
        return Bank(n, (obs, hidden, self.head.out_dim), *place), Bank(n, (seen, hidden, 1), *place)

    def update(self, replay: Rollout, clock: Clock) -> dict[str, float]:
        """Train every agent on what was played since the last update, then forget it.

        Returns:
            Means over mini-batches: ``q_loss`` of the critics, ``p_loss`` of the policies, and
            ``target_q``, the mean return that critics are drawn to.
        """
        with clock("sample"):
            played = replay.played()
            obs, after = (self._rows(played[k]) for k in ("obs", "next_obs"))
            actions = self._rows(played["actions"])
        with clock("target_q"), torch.no_grad():
            value, later = (self._values(self.critics.online, x) for x in (obs, after))
            shape = played["rewards"].shape
            gains = advantages(
                played["rewards"], self._back(value, shape), self._back(later, shape),
                played["terminated"], played["ended"], self.config.gamma, self.config.trace,
            )  # fmt: skip
            gain = self._rows(gains)
            returns = gain + value
            spread = gain.std(1, keepdim=True) if gain.shape[1] > 1 else gain.new_zeros(())
            gain = (gain - gain.mean(1, keepdim=True)) / (spread + _SPREAD)
            before, _ = self._log_chances(self.actors.online, obs, actions)
        totals, rounds = torch.zeros(2, dtype=torch.float64), 0
        size = obs.shape[1]
        for _ in range(self.config.epochs):
            order = torch.randperm(size, generator=self._policy_noise, device=self.device)
            for rows in torch.split(order, replay.batch):
                with clock("q_loss"):
                    q_loss = self._train_critics(obs[:, rows], returns[:, rows])
                with clock("p_loss"):
                    p_loss = self._train_policies(
                        obs[:, rows], actions[:, rows], gain[:, rows], before[:, rows]
                    )
                totals += torch.stack([q_loss, p_loss]).double().cpu()
                rounds += 1
        replay.clear()
        q_loss, p_loss = totals / rounds / self.schema.n_agents
        return losses_of(q_loss, p_loss, returns.mean())

    def _rows(self, table: Any) -> Tensor:
        """``(T, W, N, ...)`` as ``(N, T * W, ...)``, moves as whole numbers."""
        tensor = torch.from_numpy(table).flatten(0, 1).transpose(0, 1).to(self.device)
        return tensor if tensor.dtype == torch.int64 else tensor.to(self.dtype)

    def _back(self, values: Tensor, shape: tuple[int, ...]) -> Any:
        """``(N, T * W)`` as a ``(T, W, N)`` array."""
        return values.t().reshape(shape).double().cpu().numpy()

    def _values(self, layers: nets.Layers, obs: Tensor) -> Tensor:
        """``(N, B)`` what every critic says of ``(N, B, D)`` observations."""
        if self.config.algorithm == "mappo":  # all see the same: everything
            seen = obs.transpose(0, 1).flatten(1)
            obs = seen.expand(len(obs), *seen.shape)
        return nets.own(layers, obs).squeeze(2)

    def _log_chances(
        self, layers: nets.Layers, obs: Tensor, actions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """``(N, B)`` logarithms of the actions' chances, but for a constant, and entropies."""
        output = nets.own(layers, obs)
        if self.schema.discrete:
            log_p = torch.log_softmax(output, dim=-1)
            chosen = log_p.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
            return chosen, -(log_p.exp() * log_p).sum(-1)
        mean, log_std = self.head.gaussian(output)
        pushed = torch.logit(actions, _TINY)  # before the sigmoid, whose slope cancels in a ratio
        square = ((pushed - mean) / log_std.exp()).square()
        return -(0.5 * square + log_std).sum(-1), log_std.sum(-1)

    def _train_critics(self, obs: Tensor, returns: Tensor) -> Tensor:
        part = self.critics.parts[0]
        loss = (self._values(part.leaves, obs) - returns).square().mean(1).sum()
        part.step(loss)
        return loss.detach()

    def _train_policies(self, obs: Tensor, actions: Tensor, gain: Tensor, before: Tensor) -> Tensor:
        """One step up the clipped ratio times the advantage, and up the entropy."""
        part, reach = self.actors.parts[0], self.config.ratio_clip
        now, entropy = self._log_chances(part.leaves, obs, actions)
        ratio = (now - before).exp()
        near = ratio.clamp(1 - reach, 1 + reach)
        climbed = torch.minimum(ratio * gain, near * gain) + self.config.entropy * entropy
        loss = -climbed.mean(1).sum()
        part.step(loss)
        return loss.detach()
