"""Least traffic of a box over both boundaries, by which tensor stays where it is.

A loop of the nest is not coupled to at most one tensor. So the innermost loop that iterates leaves
one tensor where it is, and moves the others in every one of its steps. That holds for the outer
loops and DRAM, and for the inner loops and the NoC.

Where buffers keep what they hold, a loop over taps moves the input by a row or two. Then the
input's traffic is that of the innermost other loop that iterates: between two of its iterations all
taps pass, and whatever order they pass in, what they touch together is brought in, but for what the
tile before them held of it. So rows are counted as if the filter were whole, and a tap loop that is
innermost is a case of its own, `TAPS`.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Final

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    COUPLED,
    EXTENT,
    FILTER,
    FREE,
    HALO,
    HALO_RETAIN,
    IN,
    LOOSE,
    OUT,
    SIZE,
    STREAMED,
    Floats,
    Ints,
    R,
    X,
    Y,
)
from cost_models.exact.bounds.box_fields import (
    FIRST_PLACES,
    HOLDERS,
    LEAD,
    OUTER_HIGH,
    OUTER_LOW,
    OUTER_STEPS,
    PLACES,
    RAGGED,
    SPAN,
    STEPS,
    UNITS,
)
from cost_models.exact.bounds.box_rows import (
    EACH,
    HELD_ROWS,
    NOC_ROWS,
    OUTER_ROWS,
    PE_ROWS,
    full_area,
    kept_area,
    least_area,
    unique_rows,
)

# rows of `flows`: elements of each tensor; `SLIDING` is the input while the window moves on
STREAM: Final = 0  # distinct elements over the NoC in every inner step
STREAM_PE: Final = 1  # what PEs receive (or give) then
KEPT: Final = 2  # distinct elements once per outer step
KEPT_PE: Final = 3
ONCE_PE: Final = 4  # every element once to each PE that ever works with it
SERVED: Final = 5  # what MACs touch, moment by moment, of a tensor that passes L1; else 0
FLOWS: Final = 6
SLIDING: Final = 3
PSUMS: Final = 4  # column: the output while taps pass
COLUMNS: Final = 5
# in place of the tensor that stays:
TAPS: Final = 3  # the output, while taps pass: then the innermost other loop is not known
NOTHING: Final = 4  # the innermost loop is coupled to all
EVERYTHING: Final = 5  # no loop iterates
TAP_LOOPS: Final = 3 << R


@shared_function
def fill_dram(
    facts: Floats, flags: Ints, taps: bool, work: Floats, rows: Floats, dram: Floats
) -> None:
    """``dram[stays, tensor]``: least elements over DRAM's boundary; `TAPS` and `NOTHING` too.

    Args:
        flags: Whole numbers of the problem.
        facts: Its numbers.
        taps: Whether outer loops over taps may iterate while buffers keep what they hold.
        work: Work table.
        rows: Input rows and columns.
        dram: Gets the traffic.
    """
    for tensor in range(3):
        times = 1.0
        for i in range(flags[ACTIVE]):
            d = flags[ACTIVE + 1 + i]
            if not (flags[COUPLED + tensor] >> d) & 1:
                times *= work[OUTER_STEPS, d]
        for stays in range(5):
            dram[stays, tensor] = facts[SIZE + tensor] * (1.0 if stays == tensor else times)
    once = facts[SIZE + IN] * unique_rows(facts, 0) * unique_rows(facts, 1)
    if flags[LOOSE]:
        dram[:, IN] = once
        return
    again = input_stays_through(flags, facts, 0, work)
    dram[IN, IN] *= kept_area(rows, OUTER_ROWS, False, taps)
    dram[FILTER, IN] *= kept_area(rows, OUTER_ROWS, again, taps)
    dram[OUT, IN] *= full_area(rows, OUTER_ROWS)
    dram[NOTHING, IN] *= full_area(rows, OUTER_ROWS)
    if taps:
        dram[IN, IN] = max(dram[IN, IN], once)
        dram[FILTER, IN] = max(dram[FILTER, IN], once)
        returns = facts[SIZE + IN] * returning_area(facts, work, rows)
        times = 1.0
        for i in range(flags[ACTIVE]):
            d = flags[ACTIVE + 1 + i]
            if not (flags[COUPLED + IN] >> d) & 1:
                times *= work[OUTER_STEPS, d]
        dram[TAPS, IN] = min(dram[IN, IN] + (times - 1) * returns, dram[FILTER, IN])
        dram[TAPS, OUT] /= work[OUTER_STEPS, R] * work[OUTER_STEPS, R + 1]


@shared_function
def channels_iterate(flags: Ints, work: Floats) -> bool:
    """Whether an outer loop over what the output is summed over, taps apart, surely iterates."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if not ((flags[COUPLED + OUT] | TAP_LOOPS) >> d) & 1 and work[OUTER_STEPS, d] > 1:
            return True
    return False


@shared_function
def returning_area(facts: Floats, work: Floats, rows: Floats) -> float:
    """Rows times columns that come back at least when taps pass once more over the same input.

    The tile before holds what the last taps touch; what only the first ones do is gone.
    """
    area = math.inf
    for pair in range(2):
        taps = R + pair
        r, span = facts[EXTENT + taps], work[SPAN, taps]
        if span >= r:
            continue
        gone = 1.0
        if work[OUTER_LOW, taps] == work[OUTER_HIGH, taps]:
            gone = (math.ceil(r / span) - 1) * span
        strips = gone * work[OUTER_STEPS, Y + pair]
        area = min(area, strips * rows[1 - pair, OUTER_ROWS + EACH])
    return area


@shared_function
def fill_flows(
    facts: Floats,
    flags: Ints,
    still: int,
    moves: int,
    taps: bool,
    work: Floats,
    rows: Floats,
    flows: Floats,
) -> None:
    """Least elements over the NoC and into PEs, of tensors that move and of one that stays."""
    for tensor in range(3):
        flows[:, tensor] = facts[SIZE + tensor]
        for i in range(flags[ACTIVE]):
            d = flags[ACTIVE + 1 + i]
            if not (flags[COUPLED + tensor] >> d) & 1:
                flows[STREAM, tensor] *= work[STEPS, d]
                flows[STREAM_PE, tensor] *= work[PLACES, d]
                flows[KEPT, tensor] *= work[OUTER_STEPS, d]
                flows[KEPT_PE, tensor] *= work[FIRST_PLACES, d]
                flows[ONCE_PE, tensor] *= work[HOLDERS, d]
    flows[ONCE_PE, SLIDING] = flows[ONCE_PE, IN]
    flows[ONCE_PE, IN] *= unique_rows(facts, 0) * unique_rows(facts, 1)
    fill_served(facts, flags, work, flows)
    fill_psums(facts, flags, still, work, flows)
    if flags[LOOSE]:
        for row in range(ONCE_PE):
            flows[row, IN] = 0.0
            flows[row, SLIDING] = 0.0
        flows[ONCE_PE, SLIDING] = 0.0
        return
    flows[ONCE_PE, SLIDING] *= kept_area(rows, PE_ROWS, False, taps)
    again = input_stays_through(flags, facts, moves, work)
    flows[STREAM, SLIDING] = flows[STREAM, IN] * kept_area(rows, NOC_ROWS, again, taps)
    flows[STREAM_PE, SLIDING] = flows[STREAM_PE, IN] * kept_area(rows, PE_ROWS, again, taps)
    flows[STREAM, IN] *= full_area(rows, NOC_ROWS)
    flows[STREAM_PE, IN] *= full_area(rows, PE_ROWS)
    held = kept_area(rows, HELD_ROWS, input_stays_through(flags, facts, 0, work), taps)
    if work[RAGGED, Y] > 0 or work[RAGGED, X] > 0:
        # one axis may move on in full outer steps, the other in the last, smaller ones
        held = least_area(flags, rows, HELD_ROWS)
    flows[KEPT, IN] *= held
    flows[KEPT_PE, IN] *= held


@shared_function
def reductions(flags: Ints, still: int) -> int:
    """Inner loops, but those over taps, that leave the output alone and surely iterate, as bits."""
    found = 0
    for i in range(flags[ACTIVE]):
        found |= 1 << flags[ACTIVE + 1 + i]
    return found & ~flags[COUPLED + OUT] & ~TAP_LOOPS & ~still


@shared_function
def fill_psums(facts: Floats, flags: Ints, still: int, work: Floats, flows: Floats) -> None:
    """Outputs while taps pass: they stay, unless a loop within a reduction moves them."""
    flows[KEPT, PSUMS] = flows[KEPT, OUT]
    flows[KEPT_PE, PSUMS] = flows[KEPT_PE, OUT]
    if reductions(flags, still) == 0:
        return
    flows[KEPT, PSUMS] = flows[STREAM, OUT] / (work[STEPS, R] * work[STEPS, R + 1])
    flows[KEPT_PE, PSUMS] = flows[STREAM_PE, OUT] / (work[PLACES, R] * work[PLACES, R + 1])


@shared_function
def fill_served(facts: Floats, flags: Ints, work: Floats, flows: Floats) -> None:
    """What L2 serves to MACs of tensors that pass L1: at a moment, each element once."""
    for tensor in range(3):
        flows[SERVED, tensor] = 0.0
        if not (flags[STREAMED] >> tensor) & 1:
            continue
        served = facts[SIZE + tensor]
        for i in range(flags[ACTIVE]):
            d = flags[ACTIVE + 1 + i]
            if not (flags[COUPLED + tensor] >> d) & 1:
                served *= work[LEAD, d]
        if tensor == IN and flags[FREE]:
            served *= unique_rows(facts, 0) * unique_rows(facts, 1)
        elif tensor == IN:
            for pair in range(2):
                axis, taps = Y + pair, R + pair
                # PEs at different outputs, or at different taps, touch different rows
                of_outputs = facts[EXTENT + axis] * work[LEAD, taps]
                served *= max(of_outputs, work[LEAD, axis] * facts[EXTENT + taps])
        flows[SERVED, tensor] = served


@shared_function
def input_stays_through(flags: Ints, facts: Floats, moves: int, work: Floats) -> bool:
    """Whether a loop that leaves the input alone may iterate: an outer one, or one of `moves`."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if not (flags[COUPLED + IN] >> d) & 1:
            single = work[OUTER_LOW, d] * work[UNITS, d] >= facts[EXTENT + d]
            if not single or (moves >> d) & 1:
                return True
    return False


@shared_function
def taps_apart(flags: Ints) -> bool:
    """Whether a loop over taps moves the input by less than a tile."""
    return flags[HALO] == HALO_RETAIN and not flags[LOOSE]


@shared_function
def taps_iterate(facts: Floats, flags: Ints, work: Floats) -> bool:
    """Whether outer loops over taps may iterate while buffers keep what they hold."""
    rows = work[OUTER_LOW, R] * work[UNITS, R] < facts[EXTENT + R]
    columns = work[OUTER_LOW, R + 1] * work[UNITS, R + 1] < facts[EXTENT + R + 1]
    return taps_apart(flags) and (rows or columns)


@shared_function
def loops_beside(flags: Ints, stays: int) -> int:
    """The loops that leave a tensor alone, as bits; see `TAPS` and `NOTHING`."""
    if stays == TAPS:
        return TAP_LOOPS if taps_apart(flags) else 0
    if stays == NOTHING:
        return flags[COUPLED + IN] & flags[COUPLED + FILTER] & flags[COUPLED + OUT]
    loops = ~flags[COUPLED + stays]
    return loops & ~TAP_LOOPS if taps_apart(flags) else loops
