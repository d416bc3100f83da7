"""One topology step of one layer: which units are dropped, and which grow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marl_common import IntArray
from sparse_training.rules import GROWTH_RULES, GrowthRule, Scores, growth_rule
from sparse_training.structure import Structure

GROWTH = tuple(GROWTH_RULES)
"""Names of growth rules."""


class StepPlan(NamedTuple):
    """How many units a layer drops and grows.

    Attributes:
        drop: Kept units that are dropped.
        by_gradient: Units that grow where the gradient is largest.
        at_random: Units that grow at random.
    """

    drop: int
    by_gradient: int
    at_random: int


def plan_step(
    now: int, then: int, units: int, fraction: float, growth: str | GrowthRule, ratio: float
) -> StepPlan:
    """Counts of a step from ``now`` kept units to ``then``.

    ``max(floor(fraction * now), now - then)`` are dropped, and as many grow as ``then`` needs.

    Args:
        now: Kept units.
        then: Kept units after the step.
        units: Kept and other units.
        fraction: Share of the kept units to drop.
        growth: One of `GROWTH`, or a rule; a ``static`` layer whose count changes grows at random.
        ratio: With ``mixed``: units that grow by gradient for one that grows at random.
    """
    rule = growth_rule(growth, ratio)
    moved = 0 if not rule.moves or now == then == units else math.floor(fraction * now)
    drop = max(moved, now - then)
    grow = drop + then - now
    at_random = math.floor(rule.random_share * grow + 1e-9)
    return StepPlan(drop, grow - at_random, at_random)


def step_structure(
    structure: Structure,
    weights: Scores,
    gradients: Scores | None,
    plan: StepPlan,
    generator: np.random.Generator,
) -> Structure:
    """The structure after a step.

    What was just dropped may grow again, as in the authors' code of RigL: it then stays as it is.

    Args:
        structure: The kept units before.
        weights: ``(kept,)`` scores of the kept units, in their order; the lowest are dropped.
        gradients: ``(units,)`` scores of all units, of which the highest grow; None where the plan
            grows none by gradient.
        plan: How many.
        generator: Draws what grows at random, uniformly.
    """
    chosen = structure.chosen
    chosen[structure.kept[smallest(weights, plan.drop)]] = False
    if plan.by_gradient and gradients is not None:
        able = np.flatnonzero(~chosen)
        chosen[able[smallest(-gradients[able], plan.by_gradient)]] = True
    if plan.at_random:
        able = np.flatnonzero(~chosen)
        chosen[generator.choice(able, plan.at_random, replace=False, shuffle=False)] = True
    return Structure(structure.shape, structure.unit, np.flatnonzero(chosen))


def smallest(scores: Scores, count: int) -> IntArray:
    """Places of the ``count`` smallest scores, ascending; of equals the first."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    limit = np.partition(scores, count - 1)[count - 1]
    chosen = scores < limit
    equal = np.flatnonzero(scores == limit)
    chosen[equal[: count - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)
