"""VDN and QMIX: a joint value that each agent's own best action makes best."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.algorithms.learner import BatchTensors, ValueLearner


class Decomposed(ValueLearner):
    """Squared error of the mixed values of what was done."""

    def loss(self, batch: BatchTensors, done: int) -> tuple[Tensor, Tensor]:
        """See :meth:`ValueLearner.loss`."""
        values, _ = self.networks["agents"](batch.obs)
        with torch.no_grad():
            after = self.targets["agents"](batch.obs)[0][..., 1:]
            best = self.next_values(after, values[..., 1:], batch.next_available)
            worth = self.targets["mixer"](best, batch.next_states)
            aim = self.target_returns(batch, worth, done)
        joint = self.networks["mixer"](taken(values, batch.actions), batch.states)
        return batch.mean((joint - aim).square()), joint.mean()


def taken(values: Tensor, actions: Tensor) -> Tensor:
    """Values of the actions that were taken.

    Args:
        values: ``(A, N, B, T + 1)``.
        actions: ``(1, N, B, T + 1)``.

    Returns:
        ``(N, B * T)``.
    """
    chosen = values.gather(0, actions)[0, ..., :-1]
    return chosen.reshape(len(chosen), -1)
