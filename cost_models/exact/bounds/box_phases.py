"""Least cycles where the tensor that stays makes some steps slower than the others.

Of the steps of a level, the first ones are those in which every loop that leaves the staying tensor
alone is at its first iteration: in each of them all three tensors move, in the rest only the other
two. Compute and traffic of the first steps cannot make up for those of the rest, so that a level
takes at least the sum of both phases' longest. All of it holds where tiles are known.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    BANDWIDTH,
    BITS,
    COUPLED,
    DRAM_IN,
    EXTENT,
    FILTER,
    IN,
    NOC_IN,
    OUT,
    PHASES,
    Floats,
    Ints,
    R,
)
from cost_models.exact.bounds.box_clock import (
    FED,
    FIRST_STEP,
    LOADED,
    MACS,
    arriving_bits,
    leaving_bits,
    loaded_bits,
)
from cost_models.exact.bounds.box_fields import (
    FIRST_INNER_LEAD,
    FIRST_INNER_SPAN,
    FIRST_LEAD,
    INNER_HIGH,
    INNER_LOW,
    LEAD,
    OUTER_HIGH,
    OUTER_LOW,
    OUTER_STEPS,
    SPAN,
    STEPS,
    UNITS,
)
from cost_models.exact.bounds.box_rows import NOC_ROWS, OUTER_ROWS, flat_area, full_area
from cost_models.exact.bounds.box_traffic import KEPT, STREAM


@shared_function
def known_tiles(flags: Ints, low: int, high: int, work: Floats) -> bool:
    """Whether two rows of the work table are equal: a level's smallest and largest tiles."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if work[low, d] != work[high, d]:
            return False
    return True


@shared_function
def may_iterate(facts: Floats, flags: Ints, loops: int, work: Floats) -> bool:
    """Whether one of some outer loops may have more than one iteration."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (loops >> d) & 1 and work[OUTER_LOW, d] * work[UNITS, d] < facts[EXTENT + d]:
            return True
    return False


@shared_function
def first_share(facts: Floats, flags: Ints, stays: int, part: int, work: Floats) -> float:
    """Share of the steps' elements that fall into the first phase.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        stays: The tensor that stays.
        part: Row of the work table: elements of each dimension in the first phase.
        work: Work table.
    """
    share = 1.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if not (flags[COUPLED + stays] >> d) & 1:
            share *= work[part, d] / facts[EXTENT + d]
    return share


@shared_function
def first_compute(flags: Ints, stays: int, part: int, work: Floats) -> float:
    """Share of the busiest PE's elements that fall into the first phase; `part` as there."""
    share = 1.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if not (flags[COUPLED + stays] >> d) & 1:
            share *= work[part, d] / work[LEAD, d]
    return share


@shared_function
def two_phases(
    facts: Floats,
    stays: int,
    boundary: int,
    share: float,
    first: float,
    compute: float,
    hidden: float,
    traffic: Floats,
) -> float:
    """Cycles of both phases of a level.

    Args:
        facts: Numbers of the problem.
        stays: The tensor that stays.
        boundary: `NOC_IN` or `DRAM_IN`.
        share: Share of the elements that fall into the first phase.
        first: Cycles of compute in the first phase.
        compute: Cycles of compute.
        hidden: Cycles that the first phase's arrivals take less, because a fill comes before.
        traffic: Elements of each tensor over the boundary.
    """
    bandwidth = facts[BANDWIDTH + boundary]
    early = 0.0
    arriving = 0.0
    for tensor in range(3):
        bits = arriving_bits(facts, tensor, traffic[tensor])
        if boundary == DRAM_IN:
            bits = loaded_bits(facts, tensor, traffic[tensor])
        if tensor == stays:
            early = bits
        else:
            arriving += bits
    early += share * arriving
    late = (1 - share) * arriving
    leaving = 1.0 if stays == OUT else share
    outputs = traffic[OUT]
    out = facts[BITS + OUT] * outputs if boundary == NOC_IN else leaving_bits(facts, outputs)
    out /= facts[BANDWIDTH + boundary + 1]
    return max(first, early / bandwidth - hidden, leaving * out) + max(
        compute - first, late / bandwidth, (1 - leaving) * out
    )


@shared_function
def outer_phases(
    facts: Floats,
    flags: Ints,
    stays: int,
    dram: Floats,
    clock: Floats,
    work: Floats,
    rows: Floats,
    traffic: Floats,
) -> float:
    """Cycles after the first fills by the phases of the outer steps; 0 where tiles are not known.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        stays: The tensor that stays in L2.
        dram: Least traffic of DRAM.
        clock: Least cycles.
        work: Work table.
        rows: Input rows and columns.
        traffic: Work array, ``(3,)``.
    """
    if not flags[PHASES] or not known_tiles(flags, OUTER_LOW, OUTER_HIGH, work):
        return 0.0
    if max(work[OUTER_STEPS, R], work[OUTER_STEPS, R + 1]) > 1:
        return 0.0
    for tensor in range(3):
        traffic[tensor] = dram[stays, tensor]
    if stays == FILTER:
        # windows that move on take at least what lies beside their last place
        traffic[IN] = dram[OUT, IN] * flat_area(rows, OUTER_ROWS) / full_area(rows, OUTER_ROWS)
    share = first_share(facts, flags, stays, SPAN, work)
    first = clock[MACS] * first_compute(flags, stays, FIRST_LEAD, work)
    hidden = clock[LOADED] / facts[BANDWIDTH + DRAM_IN] - clock[FIRST_STEP]
    return two_phases(facts, stays, DRAM_IN, share, first, clock[MACS], hidden, traffic)


@shared_function
def inner_phases(
    facts: Floats,
    flags: Ints,
    stays: int,
    clock: Floats,
    flows: Floats,
    work: Floats,
    rows: Floats,
    traffic: Floats,
) -> float:
    """As `outer_phases`, of the inner steps, where no last outer step differs."""
    if not flags[PHASES] or not known_tiles(flags, INNER_LOW, INNER_HIGH, work):
        return 0.0
    if (
        not known_tiles(flags, OUTER_LOW, OUTER_HIGH, work)
        or max(work[STEPS, R], work[STEPS, R + 1]) > 1
    ):
        return 0.0
    for tensor in range(3):
        traffic[tensor] = flows[KEPT if tensor == stays else STREAM, tensor]
    if stays == FILTER:
        traffic[IN] *= flat_area(rows, NOC_ROWS) / full_area(rows, NOC_ROWS)
    share = first_share(facts, flags, stays, FIRST_INNER_SPAN, work)
    first = clock[MACS] * first_compute(flags, stays, FIRST_INNER_LEAD, work)
    hidden = clock[FED] / facts[BANDWIDTH + NOC_IN]
    return two_phases(facts, stays, NOC_IN, share, first, clock[MACS], hidden, traffic)
