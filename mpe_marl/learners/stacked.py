"""Update mode `batched`: all networks in stacked products, each trainer its own batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mpe_marl.clock import Clock
from mpe_marl.learners import nets
from mpe_marl.learners.bank import Part
from mpe_marl.learners.base import Learner, losses_of, report_errors
from mpe_marl.learners.values import value_of
from mpe_marl.replay import Replay, ReplayBatch

_GROUP_BYTES = 256 * 2**20  # of mini-batches held at once
COLUMNS = ("obs", "actions", "rewards", "next_obs", "done", "weights", "obs_actions", "states",
           "next_states")  # fmt: skip

Values = Callable[[Tensor], Tensor]


class StackedLearner(Learner[Replay]):
    """The arithmetic of mode `loop`, several trainers at a time.

    Trainers go in groups whose batches fit in 256 MiB together.
    """

    _scale = 1.0
    """Factor of the summed losses, of which gradients are taken."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._groups: list[slice] = []

    def _split(self, batch: int) -> None:
        """Group the trainers, once the size of a batch is known."""
        n, twins, config = self.schema.n_agents, self.config.twins, self.config
        size = max(1, min(n, _GROUP_BYTES // (4 * batch * self.schema.record_width)))
        self._groups = [slice(a, min(a + size, n)) for a in range(0, n, size)]
        self.actors.split(self._groups, config.lr, config.clip)
        pairs = [slice(g.start * twins, g.stop * twins) for g in self._groups]
        self.critics.split(pairs, config.lr, config.clip)

    def update(self, replay: Replay, clock: Clock) -> dict[str, float]:
        """See :meth:`Learner.update`."""
        if not self._groups:
            self._split(replay.batch)
        totals = torch.zeros(3, dtype=torch.float64)
        one = replay.law.shared  # batch for all trainers
        batch = targets = None
        turn = self._policies_turn()
        for k, group in enumerate(self._groups):
            count = group.stop - group.start
            with clock("sample"):
                if batch is None or not one:
                    batch = replay.sample(draws=1 if one else count)
            with clock("target_q"), torch.no_grad():
                data = self._data(batch, count, replay.batch)
                if targets is None or not one:
                    batches = data["next_obs"][: 1 if one else count]
                    targets = [self._next_actions(after) for after in batches]
                target = self._target(group, data, targets)
            with clock("q_loss"):
                q_loss, errors = self._train_critics(k, data, target)
                report_errors(replay, batch, errors.mean(0) if one else errors.reshape(-1))
            with clock("p_loss"):
                p_loss = self._train_policies(k, group, data) if turn else q_loss.new_zeros(())
            totals += torch.stack([q_loss, p_loss, target.mean(-1).sum()]).double().cpu()
        if turn:
            with clock("target_update"), torch.no_grad():
                self.follow()
        return losses_of(*(totals / self.schema.n_agents))

    def _data(self, batch: ReplayBatch, count: int, size: int) -> dict[str, Tensor]:
        """Columns ``(G, B, ...)`` for a group of ``G`` trainers; a shared batch is expanded."""
        return {
            name: column.unflatten(0, (-1, size)).expand(count, *[-1] * column.dim())
            for name, column in self._columns(batch).items()
        }

    def _columns(self, batch: ReplayBatch) -> dict[str, Tensor]:
        """The batch's columns ``(B, ...)`` as tensors."""
        drawn = batch.joined()
        arrays = {name: getattr(drawn, name) for name in COLUMNS}
        data = {k: self.tensor(a) for k, a in arrays.items() if a is not None and a.size}
        if "obs" in data and "obs_actions" not in data:
            parts = [data["obs"].flatten(1), data["actions"].flatten(1)]
            data["obs_actions"] = torch.cat(parts, dim=1)
        return data

    def _next_actions(self, after: Tensor) -> tuple[Tensor, Tensor]:
        """Target actions of all agents on one batch.

        Args:
            after: ``(B, N, D)`` observations.

        Returns:
            ``(B, N * A)`` actions, and ``(N, B)`` what each agent's value gains beside them.
        """
        noise = self.target_noise(len(after))
        output = nets.own(self.actors.target, after.transpose(0, 1))
        actions = self.head.act(output, noise)
        return actions.transpose(0, 1).flatten(1), self.head.bonus(output, noise)

    def _target(
        self, group: slice, data: dict[str, Tensor], targets: list[tuple[Tensor, Tensor]]
    ) -> Tensor:
        """``(G, B)`` targets, from what :meth:`_next_actions` gave for each batch."""
        twins, count = self.config.twins, group.stop - group.start
        after = data["next_obs"].flatten(2)
        width, size = after.shape[2], after.shape[1]
        actions = torch.stack([moves for moves, _ in targets]).expand(count, -1, -1)
        own = range(group.start, group.stop)
        bonus = torch.stack([targets[k % len(targets)][1][i] for k, i in enumerate(own)])
        weight, *others = (p[group.start * twins : group.stop * twins] for p in self.critics.target)
        layers = [weight[:, :width], *others]
        h = nets.first(layers, self._twice(after)).baddbmm_(self._twice(actions), weight[:, width:])
        value = nets.rest(layers, h).view(count, twins, size).amin(1)
        rewards = data["rewards"][torch.arange(count), :, torch.arange(group.start, group.stop)]
        return rewards + self.config.gamma * (1 - data["done"]) * (value + bonus)

    def _twice(self, x: Tensor) -> Tensor:
        """``(G, ...)`` rows for each of an agent's critics, ``(G * twins, ...)``."""
        return x if self.config.twins == 1 else x.repeat_interleave(self.config.twins, 0)

    def _train_critics(
        self, k: int, data: dict[str, Tensor], target: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Returns the summed loss and the ``(G, B)`` absolute errors."""
        part, twins = self.critics.parts[k], self.config.twins
        q = nets.own(part.leaves, self._twice(data["obs_actions"])).view(len(target), twins, -1)
        loss, errors = critic_loss(q, target, data.get("weights"))
        part.step(loss)
        return loss.detach(), errors

    def _train_policies(self, k: int, group: slice, data: dict[str, Tensor]) -> Tensor:
        part, twins, n = self.actors.parts[k], self.config.twins, self.schema.n_agents
        count = group.stop - group.start
        mine, own = torch.arange(count), torch.arange(group.start, group.stop)
        output = nets.own(part.leaves, data["obs"][mine, :, own])
        critics = [leaf.detach() for leaf in self.critics.parts[k].leaves]
        with torch.no_grad():
            h = nets.first(critics, self._twice(data["obs_actions"]))
        weight = critics[0].view(count, twins, -1, self.config.hidden)
        act = weight[:, :, n * self.schema.obs_dim :]
        act = act.reshape(count, twins, n, self.schema.act_dim, -1)
        columns = act[mine, :, own]  # (G, twins, A, hidden)
        values = partial(value_of, h=h, shift=None, columns=columns, layers=critics)
        actions = data["actions"][mine, :, own]
        return self._climb(part, output, actions, values, data.get("weights"))

    def _climb(
        self, part: Part, output: Tensor, actions: Tensor, values: Values, weights: Tensor | None
    ) -> Tensor:
        """Let ``G`` policies climb the values of their own actions; returns the summed loss.

        Args:
            part: The policies.
            output: ``(G, B, out)`` of theirs.
            actions: ``(G, B, A)`` what was stored.
            values: ``(G, twins, B)`` values of changes of what was stored.
            weights: ``(G, B)`` or ``(B,)``; None where all are 1.
        """
        noise = torch.stack([self.policy_noise(output.shape[1]) for _ in range(len(output))])
        value = self.worth(values(self.head.act(output, noise) - actions), 1)
        gain = value + self.head.bonus(output, noise) - self.head.penalty(output)
        loss = -(gain if weights is None else gain * weights).mean(-1).sum()
        part.step(loss * self._scale)
        return loss.detach()


def critic_loss(q: Tensor, target: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
    """Squared error of ``(G, twins, B)`` values, a mean a critic, summed; and ``(G, B)`` errors."""
    error = q - target.unsqueeze(1)
    square = error.square()
    loss = (square if weights is None else square * weights.unsqueeze(1)).mean(-1).sum()
    return loss, error.detach().abs().mean(1)
