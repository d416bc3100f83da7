"""RES: regularised softmax of joint values (Pan et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.algorithms.decomposed import taken
from mast.algorithms.learner import BatchTensors, ValueLearner
from mast.operators import near_greedy_value


class Regularised(ValueLearner):
    """QMIX whose target is a softmax over near-greedy joint actions, pulled to the returns.

    Its operator stays what it is under Soft Mellowmax too: there is no maximum to replace.
    """

    def loss(self, batch: BatchTensors, done: int) -> tuple[Tensor, Tensor]:
        """See :meth:`ValueLearner.loss`."""
        values, _ = self.networks["agents"](batch.obs)
        mixer = self.networks["mixer"]
        with torch.no_grad():
            aim = self.target_returns(batch, self._worth(batch, values.detach()), done)
            earned = self.returns.discounted(batch.episodes, batch.rewards)
            pull = torch.from_numpy(earned).reshape(-1).to(aim)
        joint = mixer(taken(values, batch.actions), batch.states)
        errors = (joint - aim).square() + self.config.res_weight * (joint - pull).square()
        return batch.mean(errors), joint.mean()

    def _worth(self, batch: BatchTensors, values: Tensor) -> Tensor:
        """``(B * T,)`` what each next step is worth."""
        a, n = values.shape[:2]
        after, _ = self.targets["agents"](batch.obs)
        seen = batch.next_available
        return near_greedy_value(
            after[..., 1:].reshape(a, n, -1),
            values[..., 1:].reshape(a, n, -1),
            self.targets["mixer"].weights(batch.next_states),
            self.networks["mixer"].weights(batch.next_states),
            None if seen is None else seen.reshape(a, n, -1),
            self.config.res_beta,
        )
