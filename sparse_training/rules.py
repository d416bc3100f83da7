"""Rules of a topology step: which units are dropped, and where others grow.

A rule is a frozen dataclass whose fields are its settings. `SparsityConfig` takes one by its name
in :data:`GROWTH_RULES` or :data:`DROP_RULES`, or any object of these classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar

from numpy.typing import NDArray

from sparse_training.structure import Structure

Scores = NDArray[Any]
"""``(units,)`` floating-point scores, one a unit."""


@dataclass(frozen=True)
class GrowthRule:
    """Where units grow: by a score, at random, or both. This one: by the dense gradient.

    Attributes:
        moves: Units move even where a layer's count stays.
    """

    moves: ClassVar[bool] = True

    @property
    def random_share(self) -> float:
        """Share of what grows that is drawn uniformly; the rest has the highest scores."""
        return 0.0

    @property
    def by_gradient(self) -> bool:
        """Whether it needs the dense gradient."""
        return self.random_share < 1

    def scores(self, structure: Structure, gradients: Scores) -> Scores:
        """``(units,)`` scores of all units, kept ones too; the highest grow.

        Args:
            structure: The kept units before the step.
            gradients: ``(units,)`` sums of magnitudes of the dense gradient.
        """
        return gradients

    def flops(self, size: int, kept: int, rows: int) -> int:
        """What a topology step adds to a backward pass: the dense gradient, where it is needed.

        Args:
            size: Weights of the layer.
            kept: Those that are kept.
            rows: Samples.
        """
        return 2 * (size - kept) * rows if self.by_gradient else 0


@dataclass(frozen=True)
class RandomGrowth(GrowthRule):
    """At random (SET, Mocanu et al. 2018)."""

    @property
    def random_share(self) -> float:
        """See :class:`GrowthRule`."""
        return 1.0


@dataclass(frozen=True)
class Static(RandomGrowth):
    """No unit moves; where a layer's count changes they grow at random."""

    moves: ClassVar[bool] = False


@dataclass(frozen=True)
class GradientGrowth(GrowthRule):
    """Where the dense gradient is largest (RigL, Evci et al. 2020)."""


@dataclass(frozen=True)
class MixedGrowth(GrowthRule):
    """By gradient and at random (MST's released code).

    Attributes:
        growth_ratio: Units that grow by gradient for one that grows at random.
    """

    growth_ratio: float = 3.0

    @property
    def random_share(self) -> float:
        """See :class:`GrowthRule`."""
        return 1 / (1 + self.growth_ratio)


@dataclass(frozen=True)
class DropRule:
    """Which units are dropped: those of the lowest scores. This one: the smallest magnitudes.

    Attributes:
        by_gradient: It needs the dense gradient.
    """

    by_gradient: ClassVar[bool] = False

    def scores(self, weights: Scores, gradients: Scores | None) -> Scores:
        """``(kept,)`` scores of the kept units.

        Args:
            weights: ``(kept,)`` sums of magnitudes.
            gradients: ``(kept,)`` sums of magnitudes of the gradient; None unless `by_gradient`.
        """
        return weights

    def flops(self, size: int, kept: int, rows: int) -> int:
        """See :meth:`GrowthRule.flops`; both rules share one dense gradient."""
        return 2 * (size - kept) * rows if self.by_gradient else 0


GROWTH_RULES: Mapping[str, type[GrowthRule]] = MappingProxyType(
    {"static": Static, "set": RandomGrowth, "rigl": GradientGrowth, "mixed": MixedGrowth}
)
DROP_RULES: Mapping[str, type[DropRule]] = MappingProxyType({"magnitude": DropRule})


def growth_rule(growth: str | GrowthRule, ratio: float) -> GrowthRule:
    """The rule of a name in :data:`GROWTH_RULES`, or the rule itself."""
    if not isinstance(growth, str):
        return growth
    rule = GROWTH_RULES[growth]
    return rule(**({"growth_ratio": ratio} if fields(rule) else {}))
