"""What a kept weight is worth: at a topology step those of the lowest scores are dropped."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from common import IntArray
from sparse_training.registry import Registry

Scores = NDArray[Any]
"""``(units,)`` floating-point scores, one a unit."""
LEAST = 1e-9
"""Added to gradients that are divided by, as MST's released code has it."""


class DropScore:
    """A score of kept weights.

    Attributes:
        by_gradient: Whether it looks at the dense gradient.
    """

    by_gradient: ClassVar[bool] = False

    def __call__(self, weights: Tensor, gradients: Tensor | None) -> Tensor:
        """Score kept weights; those of a block add up.

        Args:
            weights: The kept weights, of any shape.
            gradients: Their gradients; None unless :attr:`by_gradient`.

        Returns:
            Scores of the same shape.
        """
        raise NotImplementedError

    def flops(self, kept: int, rows: int) -> int:
        """Operations beside those of training: none, as kept weights have their gradients."""
        return 0


class Magnitude(DropScore):
    """``|w|``."""

    def __call__(self, weights: Tensor, gradients: Tensor | None) -> Tensor:
        """See :meth:`DropScore.__call__`."""
        return weights.abs()


class Mest(DropScore):
    """``|w| + factor |g|``; Yuan et al., MEST, 2021.

    Args:
        factor: What gradients count for; 0.01 is the default of MST's released code.
    """

    by_gradient = True

    def __init__(self, factor: float = 0.01) -> None:
        if not 0 <= factor < float("inf"):
            raise ValueError(f"factor {factor}, expected 0 or more")
        self._factor = factor

    def __call__(self, weights: Tensor, gradients: Tensor | None) -> Tensor:
        """See :meth:`DropScore.__call__`."""
        assert gradients is not None
        return weights.abs() + self._factor * gradients.abs()


class ReciprocalSensitivity(DropScore):
    """``|w / g|``; Nowak et al., Fantastic weights and how to find them, 2023."""

    by_gradient = True

    def __call__(self, weights: Tensor, gradients: Tensor | None) -> Tensor:
        """See :meth:`DropScore.__call__`."""
        assert gradients is not None
        return (weights / (gradients + LEAST)).abs()


SCORES: Registry[DropScore] = Registry(
    "drop score",
    DropScore,
    {"magnitude": Magnitude, "mest": Mest, "r-sensitivity": ReciprocalSensitivity},
)
"""Scores by name."""


def smallest(scores: Scores, count: int) -> IntArray:
    """Places of the ``count`` smallest scores, ascending; of equals the first."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    limit = np.partition(scores, count - 1)[count - 1]
    below = np.flatnonzero(scores < limit)
    equal = np.flatnonzero(scores == limit)[: count - len(below)]
    return np.sort(np.concatenate([below, equal]))
