"""Update modes `shared` and `folded`: one batch for all trainers, one product for all critics."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from mpe_marl.clock import Clock
from mpe_marl.errors import MpeError
from mpe_marl.learners import nets
from mpe_marl.learners.base import losses_of, report_errors
from mpe_marl.learners.fold import Fold
from mpe_marl.learners.products import product
from mpe_marl.learners.stacked import StackedLearner, critic_loss
from mpe_marl.learners.values import value_of
from mpe_marl.replay import Replay, ReplayBatch


class SharedLearner(StackedLearner):
    """Target actions once, and the critics' first layers as one matrix on the shared batch."""

    wide = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for bank in (self.actors, self.critics):
            bank.split([slice(0, bank.count)], self.config.lr, self.config.clip)

    def _shift(self, critics: nets.Layers) -> Tensor | None:
        """``(N * twins, hidden)`` what each agent adds to the critics' first layers, if any."""
        return None

    def update(self, replay: Replay, clock: Clock) -> dict[str, float]:
        """See :meth:`Learner.update`.

        Raises:
            MpeError: The law gives every trainer a batch of its own.
        """
        if not replay.law.shared:
            raise MpeError(
                f"update mode {self.config.mode!r} needs one batch for all trainers, law "
                f"{replay.law.name!r} draws one each; use law 'shared' or mode 'batched'."
            )
        with clock("sample"):
            batch = replay.sample(states_only=self.config.mode == "folded")
        with clock("target_q"), torch.no_grad():
            data = self._columns(batch)
            target = self._shared_target(data)
        with clock("q_loss"):
            part, twins = self.critics.parts[0], self.config.twins
            h, shift = self._critic_first(part.leaves, data), self._shift(part.leaves)
            q = nets.rest(part.leaves, h, shift)
            loss, errors = critic_loss(q.view(len(target), twins, -1), target, data.get("weights"))
            part.step(loss * self._scale)
            report_errors(replay, batch, errors.mean(0))
        with clock("p_loss"):
            turn = self._policies_turn()
            p_loss = self._train_all_policies(data) if turn else loss.new_zeros(())
        if turn:
            with clock("target_update"), torch.no_grad():
                self.follow()
        n = self.schema.n_agents
        return losses_of(loss.detach() / n, p_loss / n, target.mean())

    def _shared_target(self, data: dict[str, Tensor]) -> Tensor:
        """``(N, B)`` targets of all agents."""
        n, twins, size = self.schema.n_agents, self.config.twins, len(data["done"])
        noise = self.target_noise(size)
        output = self._policy(self.actors.target, data, "next_")
        actions = self.head.act(output, noise)
        flat = actions.transpose(0, 1).flatten(1)
        h = self._joint_first(self.critics.target, data, "next_", flat)
        value = nets.rest(self.critics.target, h, self._shift(self.critics.target))
        value = value.view(n, twins, size).amin(1)
        value = value + self.head.bonus(output, noise)
        return data["rewards"].t() + self.config.gamma * (1 - data["done"]) * value

    def _policy(self, layers: nets.Layers, data: dict[str, Tensor], when: str) -> Tensor:
        """``(N, B, out)`` outputs of all policies on their observations."""
        return nets.own(layers, data[f"{when}obs"].transpose(0, 1))

    def _first_layer(self, layers: nets.Layers) -> tuple[Tensor, Tensor]:
        """Weights ``(in, M, hidden)`` for observations and actions, and biases."""
        return layers[0], layers[1]

    def _joint_first(
        self, layers: nets.Layers, data: dict[str, Tensor], when: str, actions: Tensor
    ) -> Tensor:
        """``(M, B, hidden)`` critics' first layer on observations and ``(B, N * A)`` actions."""
        weight, bias = self._first_layer(layers)
        if not when:
            return nets.first_wide(weight, bias, data["obs_actions"])
        obs = data[f"{when}obs"].flatten(1)
        width = obs.shape[1]
        h = nets.first_wide(weight[:width], bias, obs)
        more = product(actions, weight[width:].flatten(1))
        return h + more.view(len(actions), *bias.shape).transpose(0, 1)

    def _action_rows(self, critics: nets.Layers) -> Tensor:
        """``(N, twins, A, hidden)`` rows of the critics' first layers for one's own action."""
        n, a = self.schema.n_agents, self.schema.act_dim
        rows = critics[0][n * self.schema.obs_dim :]
        return (
            rows.view(n, a, n, self.config.twins, -1).diagonal(dim1=0, dim2=2).permute(3, 1, 0, 2)
        )

    def _critic_first(self, layers: nets.Layers, data: dict[str, Tensor]) -> Tensor:
        """The same on what was stored."""
        return self._joint_first(layers, data, "", data["actions"].flatten(1))

    def _train_all_policies(self, data: dict[str, Tensor]) -> Tensor:
        part = self.actors.parts[0]
        critics = [leaf.detach() for leaf in self.critics.parts[0].leaves]
        with torch.no_grad():
            h = self._critic_first(critics, data)
        output = self._policy(part.leaves, data, "")
        shift, columns = self._shift(critics), self._action_rows(critics)
        values = partial(value_of, h=h, shift=shift, columns=columns, layers=critics)
        actions = data["actions"].transpose(0, 1)
        return self._climb(part, output, actions, values, data.get("weights"))


class FoldedLearner(SharedLearner):
    """The shared update computed from the world state; see :class:`Fold`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.schema.spec is None:
            raise MpeError(
                "update mode 'folded' needs a world whose observations are a linear map of its "
                "state (simple_tag, simple_spread); use mode 'shared' for others."
            )
        self._fold = Fold(self.schema.spec, self.device)

    def _columns(self, batch: ReplayBatch) -> dict[str, Tensor]:
        if batch.states is None:
            raise MpeError("update mode 'folded' needs states; use replay layout 'state'.")
        return super()._columns(batch)

    def _policy(self, layers: nets.Layers, data: dict[str, Tensor], when: str) -> Tensor:
        return nets.rest(layers, self._own_first(layers[0], layers[1], data, when))

    def _own_first(
        self, weight: Tensor, bias: Tensor, data: dict[str, Tensor], when: str
    ) -> Tensor:
        """``(N, B, hidden)`` first layer, ``(N, D, hidden)``, of each agent's observations."""
        return nets.first_wide(self._fold.each(weight), bias, data[f"{when}states"])

    def _joint_first(
        self, layers: nets.Layers, data: dict[str, Tensor], when: str, actions: Tensor
    ) -> Tensor:
        weight, bias = self._first_layer(layers)
        x = torch.cat([data[f"{when}states"], actions], dim=1)
        return nets.first_wide(self._fold.all(weight), bias, x)
