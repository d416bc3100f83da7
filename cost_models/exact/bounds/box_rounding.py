"""Cycles that outer steps lose because each of them rounds its load from DRAM up.

Where outer tiles are known and one tensor stays, the loads of the steps in which it does not move
are known too: the others' tiles, in full.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    BANDWIDTH,
    COUPLED,
    CROSS,
    DRAM_IN,
    EXTENT,
    FILTER,
    IN,
    OUT,
    PHASES,
    Floats,
    Ints,
    R,
)
from cost_models.exact.bounds.box_capacity import tensor_elements
from cost_models.exact.bounds.box_fields import OUTER_HIGH, OUTER_LOW, OUTER_STEPS, SPAN
from cost_models.exact.bounds.box_traffic import NOTHING


@shared_function
def lost(bits: float, bandwidth: float) -> float:
    """Part of a cycle that rounding a transfer up loses."""
    cycles = bits / bandwidth
    return math.ceil(cycles) - cycles


@shared_function
def full_steps(facts: Floats, flags: Ints, mask: int, work: Floats) -> float:
    """Outer steps in which the dimensions of `mask` have full tiles, the others being left out."""
    steps = 1.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (mask >> d) & 1:
            steps *= math.floor(facts[EXTENT + d] / work[SPAN, d])
    return steps


@shared_function
def reduces(flags: Ints, work: Floats) -> bool:
    """Whether an outer loop that the output does not depend on iterates."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if not (flags[COUPLED + OUT] >> d) & 1 and work[OUTER_STEPS, d] > 1:
            return True
    return False


@shared_function
def rounding(facts: Floats, flags: Ints, stays: int, work: Floats) -> float:
    """Least cycles that rounding loses where a tensor stays in L2; 0 where that is not known.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        stays: The tensor that stays, or `NOTHING`.
        work: Work table.
    """
    bandwidth = facts[BANDWIDTH + DRAM_IN]
    if not flags[PHASES] or stays == FILTER or bandwidth == math.inf:
        return 0.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if work[OUTER_LOW, d] != work[OUTER_HIGH, d]:
            return 0.0
    if max(work[OUTER_STEPS, R], work[OUTER_STEPS, R + 1]) > 1:
        return 0.0
    every = full_steps(facts, flags, -1, work)
    load = facts[CROSS + FILTER] * tensor_elements(facts, flags, FILTER, work, SPAN)
    if stays == IN:
        # partial sums may be read back too
        each = lost(load, bandwidth)
        if reduces(flags, work):
            output = facts[CROSS + OUT] * tensor_elements(facts, flags, OUT, work, SPAN)
            each = min(each, lost(load + output, bandwidth))
        return each * (every - full_steps(facts, flags, flags[COUPLED + IN], work))
    if stays == NOTHING and reduces(flags, work):
        return 0.0
    # with the loop over C innermost no partial sum ever leaves L2; the first step is a fill
    load += facts[CROSS + IN] * tensor_elements(facts, flags, IN, work, SPAN)
    return lost(load, bandwidth) * (every - 1)
