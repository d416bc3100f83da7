"""Which units grow at a topology step: one class a rule."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from common import IntArray
from sparse_training.registry import Registry
from sparse_training.scores import Scores, smallest


class Growth:
    """A rule of growth; a subclass says where units grow.

    Attributes:
        moves: Whether units are dropped for others to grow while a layer's count stays.
        by_gradient: Whether :meth:`grow` looks at the dense gradient.
    """

    moves: ClassVar[bool] = True
    by_gradient: ClassVar[bool] = False

    def grow(
        self, able: IntArray, gradients: Scores | None, count: int, generator: np.random.Generator
    ) -> IntArray:
        """Choose units to grow.

        Args:
            able: ``(A,)`` units that are not kept, ascending.
            gradients: ``(units,)`` sums of magnitudes of the dense gradient of all units; None
                unless :attr:`by_gradient`.
            count: How many, at most A.
            generator: Draws what grows at random.

        Returns:
            ``(count,)`` of `able`.
        """
        raise NotImplementedError

    def flops(self, others: int, rows: int) -> int:
        """Operations of a topology step: the dense gradient of the weights that are not kept.

        Args:
            others: Weights that are not kept.
            rows: Samples of the update.
        """
        return 2 * others * rows * self.by_gradient


class AtRandom(Growth):
    """Uniformly at random; Mocanu et al. 2018 (SET)."""

    def grow(
        self, able: IntArray, gradients: Scores | None, count: int, generator: np.random.Generator
    ) -> IntArray:
        """See :meth:`Growth.grow`."""
        return generator.choice(able, count, replace=False, shuffle=False)


class Static(AtRandom):
    """No change; a layer whose count rises grows at random."""

    moves = False


class ByGradient(Growth):
    """Where the dense gradient is largest, of equals the first; Evci et al. 2020 (RigL)."""

    by_gradient = True

    def grow(
        self, able: IntArray, gradients: Scores | None, count: int, generator: np.random.Generator
    ) -> IntArray:
        """See :meth:`Growth.grow`."""
        assert gradients is not None
        return able[smallest(-gradients[able], count)]


class Mixed(Growth):
    """By gradient, and the rest at random; Mixed Sparsity Training, 2025.

    Args:
        ratio: Units that grow by gradient for one that grows at random.
    """

    by_gradient = True

    def __init__(self, ratio: float = 3.0) -> None:
        if not 0 <= ratio < math.inf:
            raise ValueError(f"ratio {ratio}, expected 0 or more")
        self._share = 1 / (1 + ratio)

    def grow(
        self, able: IntArray, gradients: Scores | None, count: int, generator: np.random.Generator
    ) -> IntArray:
        """See :meth:`Growth.grow`."""
        at_random = math.floor(self._share * count + 1e-9)
        chosen = ByGradient().grow(able, gradients, count - at_random, generator)
        rest = np.setdiff1d(able, chosen, assume_unique=True)
        if not at_random:
            return chosen
        return np.concatenate([chosen, AtRandom().grow(rest, None, at_random, generator)])


GROWTH: Registry[Growth] = Registry(
    "growth", Growth, {"static": Static, "set": AtRandom, "rigl": ByGradient, "mixed": Mixed}
)
"""Rules of growth by name."""
