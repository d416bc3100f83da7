"""RES: joint actions next to the greedy one, and what they are worth (Pan et al. 2021)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mast.mixers.mixing import MixingWeights
from mast.operators.maximum import greedy_actions
from mast.operators.operator import Operator


class NearGreedy(NamedTuple):
    """Joint values of the greedy joint action with one agent's action replaced by each other.

    The greedy one itself counts once for each agent, as in the authors' code.

    Attributes:
        worth: ``(A N, rows)`` joint values of the targets.
        known: ``(A N, rows)`` joint values of the networks that learn.
        available: ``(A N, rows)``, or None.
    """

    worth: Tensor
    known: Tensor
    available: Tensor | None

    @classmethod
    def of(
        cls, values: tuple[Tensor, Tensor], mixes: tuple[MixingWeights, MixingWeights],
        available: Tensor | None,
    ) -> NearGreedy:  # fmt: skip
        """The joint actions.

        Args:
            values: ``(A, N, rows)`` of the target agents, and of those that learn.
            mixes: The target mixer's weights at these states, and the mixer's.
            available: ``(A, N, rows)`` bool, or None.
        """
        a, n, rows = values[0].shape
        greedy = greedy_actions(values[1], available).unsqueeze(0)
        worth, known = (
            _joint_values(one, greedy, mix).reshape(a * n, rows)
            for one, mix in zip(values, mixes, strict=True)
        )
        return cls(worth, known, None if available is None else available.reshape(a * n, rows))

    def softmax(self, beta: float) -> Tensor:
        """Average the targets' joint values by a softmax of the others; returns `(rows,)`."""
        known = self.known
        if self.available is not None:
            known = known.masked_fill(~self.available, -torch.inf)
        return (torch.softmax(beta * known, dim=0) * self.worth).sum(dim=0)

    def by(self, operator: Operator) -> Tensor:
        """``(rows,)`` an operator over these joint actions in place of the softmax."""
        return operator(self.worth, self.known, self.available)


def _joint_values(values: Tensor, greedy: Tensor, mix: MixingWeights) -> Tensor:
    """``(A, N, rows)`` joint values where agent ``n`` alone plays ``a`` instead of its greedy one.

    A mixer is linear up to its hidden layer, where one agent's change adds
    ``(Q_n(a) - Q_n(greedy)) w_n``.
    """
    chosen = values.gather(0, greedy)
    base = (chosen[0].unsqueeze(1) * mix.first).sum(dim=0) + mix.bias
    change = (values - chosen).unsqueeze(2) * mix.first
    inner = torch.nn.functional.elu(base + change)  # (A, N, W, rows)
    return (inner * mix.second).sum(dim=2) + mix.offset
