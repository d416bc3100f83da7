"""How much is dropped, and how dense a network is, as training goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sparse_training.errors import check_name, check_share


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


def density_at(kind: str, start: float, end: float, share: float) -> float:
    """Density inside of a phase that goes from one density to another.

    Args:
        kind: ``"linear"``; ``"cubic"``, quick at first (Zhu and Gupta 2017); or ``"step"``, all at
            once in the middle of the phase.
        start: Density where the phase begins.
        end: Density where it ends.
        share: Share of the phase that is over.

    Raises:
        SparseTrainingError: An unknown kind, or a density or share outside of [0, 1].
    """
    for name, value in (("start", start), ("end", end), ("share", share)):
        check_share(name, value)
    return end + (start - end) * DENSITIES[check_name("schedule", kind, DENSITIES)](1 - share)


DENSITIES: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "linear": lambda left: left,
        "cubic": lambda left: left**3,
        "step": lambda left: float(left > 0.5),
    }
)
"""Schedules: share of the phase that is left, to the share of the change that is left."""
