"""RES: regularised softmax of joint values (Pan et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.algorithms.learner import BatchTensors, ValueLearner
from mast.errors import MastError
from mast.operators import NearGreedy
from mast.returns import discounted


class Regularised(ValueLearner):
    """QMIX whose target is over near-greedy joint actions, pulled to the returns.

    It is their softmax; where the configuration names an operator, that is taken over the same
    joint actions.
    """

    def worth(self, batch: BatchTensors, values: Tensor) -> Tensor:
        """See :meth:`ValueLearner.worth`."""
        mixers = self.targets["mixer"], self.networks["mixer"]
        if not all(hasattr(mixer, "weights") for mixer in mixers):
            raise MastError(
                f"algorithm 'res' with mixer {self.config.mixer_name!r}: expected one whose "
                "weights the state makes, such as qmix."
            )
        a, n = values.shape[:2]
        after, _ = self.targets["agents"](batch.obs)
        seen = batch.next_available
        near = NearGreedy.of(
            (after[..., 1:].reshape(a, n, -1), values.detach()[..., 1:].reshape(a, n, -1)),
            (mixers[0].weights(batch.next_states), mixers[1].weights(batch.next_states)),
            None if seen is None else seen.reshape(a, n, -1),
        )
        if self.config.operator is None:
            return near.softmax(self.config.res_beta)
        return near.by(self.operator)

    def errors(self, batch: BatchTensors, values: Tensor, joint: Tensor, aim: Tensor) -> Tensor:
        """See :meth:`ValueLearner.errors`."""
        earned = discounted(batch.episodes, batch.rewards, self.config.gamma)
        pull = torch.from_numpy(earned).reshape(-1).to(aim)
        return (joint - aim).square() + self.config.res_weight * (joint - pull).square()
