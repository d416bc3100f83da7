"""Soft Mellowmax: a maximum that is smooth and overestimates less (Gan et al. 2021).

``p = softmax(alpha Q)`` and ``SM = log(sum_a p_a exp(omega Q_a)) / omega``, which is
``(lse((alpha + omega) Q) - lse(alpha Q)) / omega`` with ``lse`` the logarithm of the sum of
exponentials. It lies between the mean under ``p`` and the maximum, and goes to the maximum as
``omega`` grows; with ``alpha`` 0 it is mellowmax (Asadi and Littman 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mast.operators.operator import OPERATORS, Operator
from mast.parts import UpdateSize


def soft_mellowmax(values: Tensor, available: Tensor | None, alpha: float, omega: float) -> Tensor:
    """Soft Mellowmax over the available actions.

    Args:
        values: ``(A, ...)``.
        available: ``(A, ...)`` bool, or None.
        alpha: Inverse temperature of the weights.
        omega: How close it is to the maximum; above 0.

    Returns:
        ``(...)``.
    """
    if available is not None:
        values = values.masked_fill(~available, -torch.inf)
    top = values.amax(dim=0)
    below = values - top
    weights, total = (alpha * below).exp_(), ((alpha + omega) * below).exp_()
    if available is not None:
        weights = weights.masked_fill(~available, 0.0)  # with alpha 0 they would be NaN
    return top + (total.sum(dim=0) / weights.sum(dim=0)).log_() / omega


@OPERATORS.add("soft-mellowmax")
@dataclass(frozen=True)
class SoftMellowmax(Operator):
    """Soft Mellowmax of the target's values.

    Attributes:
        alpha: Inverse temperature of the weights.
        omega: How close it is to the maximum; above 0.
    """

    alpha: float
    omega: float

    def __call__(self, target: Tensor, online: Tensor, available: Tensor | None) -> Tensor:
        """See :class:`Operator`."""
        return soft_mellowmax(target, available, self.alpha, self.omega)

    def flops(self, size: UpdateSize) -> int:
        """The largest, its distance, and two exponentials and sums an action; three at the end."""
        return size.steps * size.n_agents * (8 * size.n_actions + 3)
