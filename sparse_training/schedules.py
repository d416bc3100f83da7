"""How much is dropped, and how dense a network is, as training goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparse_training.errors import SparseTrainingError, check_share, check_sparsity
from sparse_training.registry import NamedParts


def cosine_drop(z: float, t: float, end: float) -> float:
    """Share of the kept weights that a topology step drops: ``z / 2 (1 + cos(pi t / end))``.

    Evci et al. 2020 (RigL), equation 1.

    Args:
        z: Share at the start, of [0, 1].
        t: Time since the start, in any unit.
        end: When the last topology step is; from then on the share is 0.
    """
    check_share("z", z)
    if t >= end:
        return 0.0
    return z / 2 * (1 + math.cos(math.pi * t / end))


class DensityLaw:
    """How the density goes from one value to another inside a phase; a subclass says how."""

    def left(self, left: float) -> float:
        """Share of the change that is left, 1 to 0.

        Args:
            left: Share of the phase that is left, 1 to 0.
        """
        raise NotImplementedError


class LinearLaw(DensityLaw):
    """Equally fast throughout."""

    def left(self, left: float) -> float:
        """See :meth:`DensityLaw.left`."""
        return left


class CubicLaw(DensityLaw):
    """Quick at first; Zhu and Gupta, To prune, or not to prune, 2017, equation 1."""

    def left(self, left: float) -> float:
        """See :meth:`DensityLaw.left`."""
        return left**3


class AtOnce(DensityLaw):
    """All at once in the middle of the phase."""

    def left(self, left: float) -> float:
        """See :meth:`DensityLaw.left`."""
        return float(left > 0.5)


LAWS: NamedParts[DensityLaw] = NamedParts(
    "schedule", DensityLaw, {"linear": LinearLaw, "cubic": CubicLaw, "step": AtOnce}
)
"""Laws of density by name."""


def density_at(law: str, start: float, end: float, share: float) -> float:
    """Density inside of a phase that goes from one density to another.

    Args:
        law: One of :data:`LAWS`, or ``"module:Class"``.
        start: Density where the phase begins.
        end: Density where it ends.
        share: Share of the phase that is over.

    Raises:
        SparseTrainingError: An unknown law, or a density or share outside of [0, 1].
    """
    for name, value in (("start", start), ("end", end), ("share", share)):
        check_share(name, value)
    return end + (start - end) * LAWS.make(law).left(1 - share)


@dataclass(frozen=True)
class MaskSchedule:
    """How masks change while an optimiser steps.

    Attributes:
        end: Update of the last topology step; until then the share that is dropped falls by a
            cosine (:func:`cosine_drop`).
        first_sparsity: Share of the weights that is left out at first; None is the aim at once.
        reach: Update at which the aim is reached; before it densities go by `kind`.
        kind: A law in :data:`LAWS` (:func:`density_at`).
    """

    end: int
    first_sparsity: float | None = None
    reach: int = 0
    kind: str = "cubic"

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            SparseTrainingError: Names the field, what it holds and what was expected.
        """
        LAWS.make(self.kind)
        ramps = self.first_sparsity is not None
        if self.first_sparsity is not None:
            check_sparsity(self.first_sparsity)
        if self.end < 1 or not ramps <= self.reach <= self.end * ramps:
            raise SparseTrainingError(
                f"end={self.end}, reach={self.reach}: expected an end from 1, and reach from 1 to "
                "the end where first_sparsity is given, else 0."
            )

    def sparsity(self, aim: float, update: int) -> float | None:
        """Share of the weights that is left out from this update on; None: as it is.

        Args:
            aim: Share in the end.
            update: Updates so far.
        """
        if self.first_sparsity is None:
            return None
        share = min(1.0, update / self.reach)
        return 1 - density_at(self.kind, 1 - self.first_sparsity, 1 - aim, share)
