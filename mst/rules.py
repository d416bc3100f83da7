"""Rules of growth and drop scores by name: those of :mod:`sparse_training`, and the authors'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from sparse_training import DROP_RULES, GROWTH_RULES, DropRule, GrowthRule, NamedParts

Scores = NDArray[Any]
LEAST = 1e-9
"""Added to gradients that are divided by, as MST's released code has it."""


@dataclass(frozen=True)
class Mest(DropRule):
    """``|w| + factor |g|``; Yuan et al., MEST, 2021.

    Attributes:
        factor: What gradients count for; 0.01 is the default of MST's released code.
    """

    by_gradient: ClassVar[bool] = True
    factor: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.factor < float("inf"):
            raise ValueError(f"factor {self.factor}, expected 0 or more")

    def scores(self, weights: Scores, gradients: Scores | None) -> Scores:
        """See :meth:`DropRule.scores`."""
        assert gradients is not None
        return weights + self.factor * gradients


@dataclass(frozen=True)
class ReciprocalSensitivity(DropRule):
    """``|w| / |g|``; Nowak et al., Fantastic weights and how to find them, 2023."""

    by_gradient: ClassVar[bool] = True

    def scores(self, weights: Scores, gradients: Scores | None) -> Scores:
        """See :meth:`DropRule.scores`."""
        assert gradients is not None
        return weights / (gradients + LEAST)


GROWTH: NamedParts[GrowthRule] = NamedParts("growth", GrowthRule, GROWTH_RULES)
SCORES: NamedParts[DropRule] = NamedParts(
    "drop score", DropRule, {**DROP_RULES, "mest": Mest, "r-sensitivity": ReciprocalSensitivity}
)
