"""The maximum with double Q: the online network chooses, the target network values."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mast.operators.operator import OPERATORS, Operator
from mast.parts import UpdateSize


def greedy_actions(values: Tensor, available: Tensor | None) -> Tensor:
    """The best available actions.

    Args:
        values: ``(A, ...)``.
        available: ``(A, ...)`` bool, or None.

    Returns:
        ``(...)`` numbers of actions, the lowest of equals.
    """
    if available is not None:
        values = values.masked_fill(~available, -torch.inf)
    return values.argmax(dim=0)


def double_maximum(target: Tensor, online: Tensor, available: Tensor | None) -> Tensor:
    """Values of the actions that another network thinks best (van Hasselt et al. 2016).

    Args:
        target: ``(A, ...)`` values of the target network.
        online: ``(A, ...)`` values of the network that chooses.
        available: ``(A, ...)`` bool, or None.

    Returns:
        ``(...)``.
    """
    return target.gather(0, greedy_actions(online, available).unsqueeze(0))[0]


@OPERATORS.add("maximum")
@dataclass(frozen=True)
class Maximum(Operator):
    """The double maximum."""

    def __call__(self, target: Tensor, online: Tensor, available: Tensor | None) -> Tensor:
        """See :class:`Operator`."""
        return double_maximum(target, online, available)

    def flops(self, size: UpdateSize) -> int:
        """Comparisons."""
        return size.steps * size.n_agents * (size.n_actions - 1)
