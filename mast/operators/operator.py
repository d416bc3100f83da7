"""What an operator is."""

from __future__ import annotations

from torch import Tensor

from mast.parts import LearnerPart, Registry


class Operator(LearnerPart):
    """What the next step is worth, from the values of all its actions."""

    def __call__(self, target: Tensor, online: Tensor, available: Tensor | None) -> Tensor:
        """The worth of the available actions.

        Args:
            target: ``(A, ...)`` values of the target network.
            online: ``(A, ...)`` values of the network that learns.
            available: ``(A, ...)`` bool, or None.

        Returns:
            ``(...)``.
        """
        raise NotImplementedError  # every operator has its own


OPERATORS: Registry[Operator] = Registry("operator", "mast.operators", ("__call__", "flops"))
