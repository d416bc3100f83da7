"""One topology step of one layer: which units are dropped, and which grow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparse_training.growth import Growth
from sparse_training.scores import Scores, smallest
from sparse_training.structure import Structure


class StepPlan(NamedTuple):
    """How many units a layer drops and grows.

    Attributes:
        drop: Kept units that are dropped.
        grow: Units that grow; what was just dropped may.
    """

    drop: int
    grow: int


def plan_step(now: int, then: int, units: int, fraction: float, growth: Growth) -> StepPlan:
    """Counts of a step from ``now`` kept units to ``then``.

    ``max(floor(fraction * now), now - then)`` are dropped, and as many grow as ``then`` needs.

    Args:
        now: Kept units.
        then: Kept units after the step.
        units: Kept and other units.
        fraction: Share of the kept units to drop.
        growth: The rule, which may leave units where they are.
    """
    moved = math.floor(fraction * now) if growth.moves and not now == then == units else 0
    drop = max(moved, now - then)
    return StepPlan(drop, drop + then - now)


def step_structure(
    structure: Structure,
    scores: Scores,
    gradients: Scores | None,
    plan: StepPlan,
    growth: Growth,
    generator: np.random.Generator,
) -> Structure:
    """The structure after a step.

    What was just dropped may grow again, as in the authors' code of RigL: it then stays as it is.

    Args:
        structure: The kept units before.
        scores: ``(kept,)`` scores of the kept units, in their order; the lowest are dropped.
        gradients: ``(units,)`` sums of magnitudes of the dense gradient of all units; None where
            the rule does not look at them.
        plan: How many.
        growth: Which grow.
        generator: Draws what grows at random, uniformly.
    """
    chosen = np.zeros(structure.units, dtype=np.bool_)
    chosen[structure.kept] = True
    chosen[structure.kept[smallest(scores, plan.drop)]] = False
    if plan.grow:
        chosen[growth.grow(np.flatnonzero(~chosen), gradients, plan.grow, generator)] = True
    return Structure(structure.shape, structure.unit, np.flatnonzero(chosen))
