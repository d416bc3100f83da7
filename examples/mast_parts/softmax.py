"""An operator: the softmax of the target's values, weighted by itself (Song et al. 2019).

mast train --set operator=softmax:Softmax --set beta=5
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from mast import LearnerPart, UpdateSize


@dataclass(frozen=True)
class Softmax(LearnerPart):
    """The mean of the available values under their own softmax.

    Attributes:
        beta: Inverse temperature.
    """

    beta: float = 5.0

    def __call__(self, target: Tensor, online: Tensor, available: Tensor | None) -> Tensor:
        """``(A, ...)`` values of the target agents to ``(...)``."""
        if available is not None:
            target = target.masked_fill(~available, -torch.inf)
        weights = torch.softmax(self.beta * target, dim=0)
        return (weights * target.nan_to_num(neginf=0.0)).sum(dim=0)

    def flops(self, size: UpdateSize) -> int:
        """A product, an exponential and two sums an action, and a division."""
        return size.steps * size.n_agents * (5 * size.n_actions + 1)
