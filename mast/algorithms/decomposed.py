"""VDN and QMIX: a joint value that each agent's own best action makes best."""

from __future__ import annotations

from torch import Tensor

from mast.algorithms.learner import BatchTensors, ValueLearner


class Decomposed(ValueLearner):
    """Squared error of the mixed values of what was done."""

    def worth(self, batch: BatchTensors, values: Tensor) -> Tensor:
        """See :meth:`ValueLearner.worth`."""
        after, _ = self.targets["agents"](batch.obs)
        best = self.operator(after[..., 1:], values[..., 1:], batch.next_available)
        made: Tensor = self.targets["mixer"](best.reshape(len(best), -1), batch.next_states)
        return made
