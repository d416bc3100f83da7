"""WQMIX: QMIX learns from an unrestricted joint value, weighted (Rashid et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.algorithms.learner import BatchTensors, ValueLearner, taken
from mast.operators import greedy_actions


class Weighted(ValueLearner):
    """Centrally (CW) or optimistically (OW) weighted QMIX.

    Q*, an unrestricted mixer with agents of its own, values QMIX's greedy joint action and gives
    the targets of both. QMIX's errors weigh 1, and ``weight_others`` where the weighting trusts
    them less: OW unless the target is above QMIX's value; CW unless the target is above Q* of the
    greedy joint action, or that is the action taken. An operator other than the maximum takes the
    target agents' values of all actions in the greedy action's place.
    """

    def worth(self, batch: BatchTensors, values: Tensor) -> Tensor:
        """See :meth:`ValueLearner.worth`; to Q*."""
        after, _ = self.targets["central_agents"](batch.obs)
        best = self.operator(after[..., 1:], values[..., 1:], batch.next_available)
        made: Tensor = self.targets["central_mixer"](best.reshape(len(best), -1), batch.next_states)
        return made

    def errors(self, batch: BatchTensors, values: Tensor, joint: Tensor, aim: Tensor) -> Tensor:
        """See :meth:`ValueLearner.errors`."""
        central, _ = self.networks["central_agents"](batch.obs)
        free = self.networks["central_mixer"](taken(central, batch.actions), batch.states)
        with torch.no_grad():
            if self.config.algorithm == "ow-qmix":
                trusted = aim > joint
            else:
                best = greedy_actions(values, batch.available).unsqueeze(0)
                greedy = (batch.actions == best)[0, ..., :-1].all(dim=0).reshape(-1)
                trusted = greedy | (aim > self._of_greedy(batch, central, best))
            weights = torch.where(trusted, 1.0, self.config.weight_others).to(aim)
        errors: Tensor = weights * (joint - aim).square() + (free - aim).square()
        return errors

    def _of_greedy(self, batch: BatchTensors, central: Tensor, best: Tensor) -> Tensor:
        """``(B * T,)`` Q* of the greedy joint actions, of the targets as in the authors' code."""
        networks = self.networks
        if self.config.cw_values == "target":
            networks = self.targets
            central, _ = networks["central_agents"](batch.obs)
        made: Tensor = networks["central_mixer"](taken(central, best), batch.states)
        return made
