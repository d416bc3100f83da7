"""Least traffic of a box over both boundaries, by which tensor stays where it is.

A loop of the nest is not coupled to at most one tensor. So the innermost loop that iterates leaves
one tensor where it is, and moves the others in every one of its steps (`STAYS` below: input, filter
or output stays, or none). That holds for the outer loops and DRAM, and for the inner loops and the
NoC.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common.jit import inner_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    COUPLED,
    EXTENT,
    FILTER,
    IN,
    OUT,
    SIZE,
    SLIDE,
    STRIDE,
    Floats,
    Ints,
)
from cost_models.exact.bounds.box_fields import (
    BLOCKS,
    FIRST_PLACES,
    INNER_HIGH,
    INNER_LOW,
    MEMBERS,
    MOST_STEPS,
    OUTER_HIGH,
    OUTER_LOW,
    OUTER_STEPS,
    PLACES,
    SPAN,
    STEPS,
    UNITS,
)
from cost_models.exact.layout import R, Y

# input rows summed over steps, a row of `rows` per pair (rows, columns):
OUTER_EACH = 0  # over outer steps, every step's in full
OUTER_ONCE = 1  # where the window slides along this axis
NOC_EACH = 2  # over inner steps
NOC_ONCE = 3
PE_EACH = 4  # over PEs and inner steps
PE_ONCE = 5
HELD_EACH = 6  # over outer steps, what the PEs take in each of them
HELD_ONCE = 7
ROW_KINDS = 8

# rows of `flows`: elements of each tensor; column 3 is the input while the window slides
STREAM = 0  # distinct elements over the NoC in every inner step
STREAM_PE = 1  # what PEs receive (or give) then
KEPT = 2  # distinct elements once per outer step
KEPT_PE = 3
FLOWS = 4
SLIDING = 3


@inner_function
def tap_sums(taps: float, high: float, pieces: float, stride: float) -> tuple[float, float]:
    """Least sums over the pieces of a filter's taps of min(stride, piece) and max(piece - stride, 0).

    Args:
        taps: Taps in all.
        high: Longest piece.
        pieces: Most pieces.
        stride: Stride of the filter.
    """
    whole = math.floor(taps / high)
    holes = whole * min(stride, high) + min(stride, taps - whole * high)
    return holes, max(taps - stride * pieces, 0.0)


@inner_function
def fill_rows_of(
    facts: Floats, flags: Ints, pair: int, spread: int, work: Floats, rows: Floats
) -> None:
    """Least rows (pair 0) or columns (1) that steps and PEs touch."""
    axis, taps = Y + pair, R + pair
    n, r, stride = facts[EXTENT + axis], facts[EXTENT + taps], facts[STRIDE + pair]
    holes, tails = tap_sums(
        r,
        min(work[OUTER_HIGH, taps] * work[UNITS, taps], r),
        math.ceil(r / work[SPAN, taps]),
        stride,
    )
    rows[pair, OUTER_EACH] = n * holes + work[OUTER_STEPS, axis] * tails
    rows[pair, OUTER_ONCE] = n * holes + tails
    slides = flags[SLIDE] == 1 and not (spread >> taps) & 1 and not (spread >> axis) & 1
    # taps of several clusters may lie anywhere: rows of a sum of sets are at least its sizes' sum
    widest = work[INNER_HIGH, taps] * work[MEMBERS, taps]
    widest = min(min(widest, work[OUTER_HIGH, taps]) * work[UNITS, taps], r)
    holes, tails = tap_sums(
        r, widest, work[MOST_STEPS, taps], 1.0 if (spread >> taps) & 1 else stride
    )
    each = n * holes + work[STEPS, axis] * tails
    if work[UNITS, axis] > 1 and work[BLOCKS, axis] > work[STEPS, axis]:
        # clusters' blocks lie apart, and share rows only where they nearly touch
        block = min(work[INNER_HIGH, axis] * work[MEMBERS, axis], work[OUTER_LOW, axis])
        shared = max(0.0, tails - stride * (work[OUTER_LOW, axis] - block))
        each += max(0.0, tails - shared) * (work[BLOCKS, axis] - work[STEPS, axis])
    rows[pair, NOC_EACH] = each
    rows[pair, NOC_ONCE] = n * holes + tails if slides else each
    rows[pair, HELD_EACH] = n * holes + work[OUTER_STEPS, axis] * tails
    rows[pair, HELD_ONCE] = n * holes + tails if slides else rows[pair, HELD_EACH]
    pieces = math.floor(r / work[INNER_LOW, taps]) + math.ceil(r / work[OUTER_LOW, taps])
    if work[INNER_LOW, taps] == r:
        pieces = 1.0
    holes, tails = tap_sums(r, work[INNER_HIGH, taps], pieces, stride)
    rows[pair, PE_EACH] = n * holes + work[PLACES, axis] * tails
    rows[pair, PE_ONCE] = n * holes + tails if slides else rows[pair, PE_EACH]


@inner_function
def slid(rows: Floats, each: int, once: int) -> float:
    """Input rows times columns where the window slides along one of the axes."""
    return min(rows[0, once] * rows[1, each], rows[0, each] * rows[1, once])


@inner_function
def fill_dram(facts: Floats, flags: Ints, work: Floats, rows: Floats, dram: Floats) -> None:
    """``dram[stays, tensor]``: least elements over DRAM's boundary."""
    each = rows[0, OUTER_EACH] * rows[1, OUTER_EACH]
    once = slid(rows, OUTER_EACH, OUTER_ONCE) if flags[SLIDE] else each
    for tensor in range(3):
        again = 1.0
        for i in range(flags[ACTIVE]):
            d = flags[ACTIVE + 1 + i]
            if not (flags[COUPLED + tensor] >> d) & 1:
                again *= work[OUTER_STEPS, d]
        for stays in range(3):
            dram[stays, tensor] = facts[SIZE + tensor] * (1.0 if stays == tensor else again)
    dram[IN, IN] *= once
    dram[FILTER, IN] *= once
    dram[OUT, IN] *= each


@inner_function
def fill_flows(
    facts: Floats, flags: Ints, ragged_axes: bool, work: Floats, rows: Floats, flows: Floats
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
    flows[STREAM, SLIDING] = flows[STREAM, IN] * slid(rows, NOC_EACH, NOC_ONCE)
    flows[STREAM_PE, SLIDING] = flows[STREAM_PE, IN] * slid(rows, PE_EACH, PE_ONCE)
    flows[STREAM, IN] *= rows[0, NOC_EACH] * rows[1, NOC_EACH]
    flows[STREAM_PE, IN] *= rows[0, PE_EACH] * rows[1, PE_EACH]
    held = slid(rows, HELD_EACH, HELD_ONCE)
    if ragged_axes:
        # one axis may slide in full outer steps, the other in the last, smaller ones
        held = rows[0, HELD_ONCE] * rows[1, HELD_ONCE]
    flows[KEPT, IN] *= held
    flows[KEPT_PE, IN] *= held
