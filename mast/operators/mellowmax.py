"""Soft Mellowmax: a maximum that is smooth and overestimates less (Gan et al. 2021).

``p = softmax(alpha Q)`` and ``SM = log(sum_a p_a exp(omega Q_a)) / omega``, which is
``(lse((alpha + omega) Q) - lse(alpha Q)) / omega`` with ``lse`` the logarithm of the sum of
exponentials. It lies between the mean under ``p`` and the maximum, and goes to the maximum as
``omega`` grows; with ``alpha`` 0 it is mellowmax (Asadi and Littman 2017).
"""

from __future__ import annotations

import torch
from torch import Tensor


def soft_mellowmax(
    values: Tensor, available: Tensor | None, alpha: float = 1.0, omega: float = 10.0
) -> Tensor:
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
