"""WQMIX: QMIX learns from an unrestricted joint value, weighted (Rashid et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.algorithms.decomposed import taken
from mast.algorithms.learner import BatchTensors, ValueLearner
from mast.operators import greedy_actions, soft_mellowmax


class Weighted(ValueLearner):
    """Centrally (CW) or optimistically (OW) weighted QMIX.

    Q*, an unrestricted mixer with agents of its own, values QMIX's greedy joint action and gives
    the targets of both. QMIX's errors weigh 1, and ``weight_others`` where the weighting trusts
    them less: OW unless the target is above QMIX's value; CW unless the target is above Q* of the
    greedy joint action, or that is the action taken. With Soft Mellowmax the target agents' values
    of all actions take the greedy action's place.
    """

    def loss(self, batch: BatchTensors, done: int) -> tuple[Tensor, Tensor]:
        """See :meth:`ValueLearner.loss`."""
        values, _ = self.networks["agents"](batch.obs)
        central, _ = self.networks["central_agents"](batch.obs)
        best = greedy_actions(values.detach(), batch.available).unsqueeze(0)
        with torch.no_grad():
            worth = self._worth(batch, best)
            aim = self.target_returns(batch, worth, done)
        joint = self.networks["mixer"](taken(values, batch.actions), batch.states)
        mixer = self.networks["central_mixer"]
        free = mixer(taken(central, batch.actions), batch.states)
        with torch.no_grad():
            if self.config.algorithm == "ow-qmix":
                trusted = aim > joint
            else:
                greedy = (batch.actions == best)[0, ..., :-1].all(dim=0).reshape(-1)
                trusted = greedy | (aim > mixer(taken(central, best), batch.states))
            weights = torch.where(trusted, 1.0, self.config.weight_others).to(aim)
        errors = weights * (joint - aim).square() + (free - aim).square()
        return batch.mean(errors), joint.mean()

    def _worth(self, batch: BatchTensors, best: Tensor) -> Tensor:
        """``(B * T,)`` what each next step is worth to Q*."""
        after, _ = self.targets["central_agents"](batch.obs)
        if self.soft:
            config = self.config
            soft = soft_mellowmax(after[..., 1:], batch.next_available, config.alpha, config.omega)
            values = soft.reshape(len(soft), -1)
        else:
            chosen = after.gather(0, best)[0, ..., 1:]
            values = chosen.reshape(len(chosen), -1)
        made: Tensor = self.targets["central_mixer"](values, batch.next_states)
        return made
