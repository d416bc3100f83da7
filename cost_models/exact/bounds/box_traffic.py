"""Least traffic of a box over both boundaries, by which tensor stays where it is.

A loop of the nest is not coupled to at most one tensor. So the innermost loop that iterates leaves
one tensor where it is, and moves the others in every one of its steps. That holds for the outer
loops and DRAM, and for the inner loops and the NoC.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    COUPLED,
    EXTENT,
    FILTER,
    FREE,
    HALO,
    IN,
    LOOSE,
    OUT,
    SIZE,
    STREAMED,
    Floats,
    Ints,
)
from cost_models.exact.bounds.box_fields import (
    FIRST_PLACES,
    HOLDERS,
    LEAD,
    OUTER_LOW,
    OUTER_STEPS,
    PLACES,
    RAGGED,
    STEPS,
    UNITS,
)
from cost_models.exact.bounds.box_rows import (
    HELD_ROWS,
    NOC_ROWS,
    OUTER_ROWS,
    PE_ROWS,
    full_area,
    kept_area,
    least_area,
    unique_rows,
)
from cost_models.exact.layout import HALO_RETAIN, R, X, Y

# rows of `flows`: elements of each tensor; column 3 is the input while the window moves on
STREAM: Final = 0  # distinct elements over the NoC in every inner step
STREAM_PE: Final = 1  # what PEs receive (or give) then
KEPT: Final = 2  # distinct elements once per outer step
KEPT_PE: Final = 3
ONCE_PE: Final = 4  # every element once to each PE that ever works with it
SERVED: Final = 5  # what MACs touch, moment by moment, of a tensor that passes L1; else 0
FLOWS: Final = 6
SLIDING: Final = 3
NOTHING: Final = 3  # in place of the tensor that stays: the innermost loop is coupled to all
EVERYTHING: Final = 4  # no loop iterates


@shared_function
def fill_dram(
    facts: Floats, flags: Ints, taps_move: bool, work: Floats, rows: Floats, dram: Floats
) -> None:
    """``dram[stays, tensor]``: least elements over DRAM's boundary; `NOTHING` may stay too.

    Args:
        flags: Whole numbers of the problem.
        facts: Its numbers.
        taps_move: Whether loops over R or S may iterate while buffers keep what they hold: then an
            input tile may differ little from the one before, whatever moves.
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
        for stays in range(4):
            dram[stays, tensor] = facts[SIZE + tensor] * (1.0 if stays == tensor else times)
    if taps_move:
        dram[:, IN] = facts[SIZE + IN] * unique_rows(facts, 0) * unique_rows(facts, 1)
        return
    again = input_stays_through(flags, facts, 0, work)
    dram[IN, IN] *= kept_area(rows, OUTER_ROWS, False)
    dram[FILTER, IN] *= kept_area(rows, OUTER_ROWS, again)
    dram[OUT, IN] *= full_area(rows, OUTER_ROWS)
    dram[NOTHING, IN] *= full_area(rows, OUTER_ROWS)


@shared_function
def fill_flows(
    facts: Floats,
    flags: Ints,
    moves: int,
    taps_move: bool,
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
    if taps_move:
        for row in range(ONCE_PE):
            flows[row, IN] = 0.0
            flows[row, SLIDING] = 0.0
        flows[ONCE_PE, SLIDING] = 0.0
        return
    flows[ONCE_PE, SLIDING] *= kept_area(rows, PE_ROWS, False)
    again = input_stays_through(flags, facts, moves, work)
    flows[STREAM, SLIDING] = flows[STREAM, IN] * kept_area(rows, NOC_ROWS, again)
    flows[STREAM_PE, SLIDING] = flows[STREAM_PE, IN] * kept_area(rows, PE_ROWS, again)
    flows[STREAM, IN] *= full_area(rows, NOC_ROWS)
    flows[STREAM_PE, IN] *= full_area(rows, PE_ROWS)
    held = kept_area(rows, HELD_ROWS, input_stays_through(flags, facts, 0, work))
    if work[RAGGED, Y] > 0 or work[RAGGED, X] > 0:
        # one axis may move on in full outer steps, the other in the last, smaller ones
        held = least_area(flags, rows, HELD_ROWS)
    flows[KEPT, IN] *= held
    flows[KEPT_PE, IN] *= held


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
def taps_may_move(flags: Ints, moves: int, work: Floats) -> bool:
    """Whether input tiles may differ little from those before, whatever moves.

    That is so where loops over R or S may iterate while buffers keep what they hold.
    """
    if flags[LOOSE]:
        return True
    if flags[HALO] != HALO_RETAIN:
        return False
    outer = max(work[OUTER_STEPS, R], work[OUTER_STEPS, R + 1])
    return outer > 1 or (moves >> R) & 3 > 0
