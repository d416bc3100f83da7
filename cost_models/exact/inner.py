"""Cycles of the inner steps of one outer step, class by class.

An inner step's class is which loop advanced, and the segments of the loops outside it; the loops
inside it are at iteration 0. All steps of a class take the same cycles, but for the read-back of
partial sums, which a step needs unless it is the first to touch its output tile.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common.jit import inner_function
from cost_models.exact.layout import (
    DEPTHWISE_OUTPUT_MASK,
    FILTER_MASK,
    HW_DEPTHWISE,
    HW_LANES,
    HW_NOC,
    HW_SLIDE,
    INNER,
    INPUT_MASK,
    LEAD,
    MAX_SEGMENTS,
    OUTPUT_MASK,
    REPEAT,
    SEGMENTS,
    TAIL,
    UNION,
    C,
    IntTable,
    K,
    R,
    RowTable,
    S,
    SegTable,
    X,
    Y,
)

# fields of `totals`: cycles of steps, first without (0) and then with (+1) read-back everywhere
CYCLES = 0
IN_CYCLES = 2
BY_IN = 4
BY_OUT = 6
OUT_CYCLES = 8
TOTAL_FIELDS = 9


@inner_function
def ceil_div(a: int, b: int) -> int:
    """Quotient of two non-negative integers, rounded up."""
    return (a + b - 1) // b


@inner_function
def transfer(elements: int, bandwidth: int, shift: int) -> int:
    """Cycles to move elements; `shift` is the bandwidth's logarithm where it is a power of two."""
    if shift >= 0:
        return (elements + bandwidth - 1) >> shift
    return (elements + bandwidth - 1) // bandwidth


@inner_function
def log2_or_none(value: int) -> int:
    """The base-two logarithm of a power of two; -1 for any other number."""
    if value & (value - 1):
        return -1
    shift = 0
    while value > 1:
        value >>= 1
        shift += 1
    return shift


@inner_function
def input_elements(key: IntTable, segs: SegTable, rows: RowTable) -> int:
    """Input elements that cross the NoC in a step whose segments are `key`."""
    return segs[C, key[C], UNION] * rows[0, key[Y], key[R]] * rows[1, key[X], key[S]]


@inner_function
def can_slide(axis: int, hw: IntTable, fixed: int) -> bool:
    """Whether PEs keep what they hold as `axis` moves on: it and its taps must be temporal."""
    if hw[HW_SLIDE] == 0 or axis < Y or axis > X:
        return False
    return not fixed & ((1 << axis) | (1 << (axis + R - Y)))


@inner_function
def filter_elements(key: IntTable, segs: SegTable) -> int:
    """Filter elements likewise."""
    channels = segs[K, key[K], UNION] * segs[C, key[C], UNION]
    return channels * segs[R, key[R], UNION] * segs[S, key[S], UNION]


@inner_function
def output_elements(channel: int, key: IntTable, segs: SegTable) -> int:
    """Output elements likewise; `channel` is K, or C for a depthwise layer."""
    return segs[channel, key[channel], UNION] * segs[Y, key[Y], UNION] * segs[X, key[X], UNION]


@inner_function
def compute_of(key: IntTable, segs: SegTable, lanes: int) -> int:
    """Compute cycles of a step: PE (0, 0)'s MACs over the lanes."""
    macs = 1
    for d in range(6):
        macs *= segs[d, key[d], LEAD]
    return ceil_div(macs, lanes) if lanes > 1 else macs


@inner_function
def shared_elements(axis: int, key: IntTable, segs: SegTable, rows: RowTable) -> int:
    """Input elements that PEs still hold when `axis` alone moved on."""
    if axis == Y:
        return segs[C, key[C], UNION] * segs[R, key[R], TAIL] * rows[1, key[X], key[S]]
    return segs[C, key[C], UNION] * segs[S, key[S], TAIL] * rows[0, key[Y], key[R]]


@inner_function
def add_steps(
    totals: IntTable,
    times: int,
    first: int,
    compute: int,
    load: int,
    store: int,
    bandwidth: int,
    shift: int,
) -> None:
    """Add `times` steps, of which `first` need no read-back of what they store."""
    out = transfer(store, bandwidth, shift)
    plain = transfer(load, bandwidth, shift)
    again = transfer(load + store, bandwidth, shift) if store > 0 else plain
    slow = max(compute, again, out)
    fast = max(compute, plain, out)
    totals[OUT_CYCLES] += times * out
    totals[IN_CYCLES] += first * plain + (times - first) * again
    totals[IN_CYCLES + 1] += times * again
    totals[CYCLES] += first * fast + (times - first) * slow
    totals[CYCLES + 1] += times * slow
    if slow > compute:
        if again >= out:
            totals[BY_IN] += (times - first) * slow
            totals[BY_IN + 1] += times * slow
        else:
            totals[BY_OUT] += (times - first) * slow
            totals[BY_OUT + 1] += times * slow
        if fast > compute:
            if plain >= out:
                totals[BY_IN] += first * fast
            else:
                totals[BY_OUT] += first * fast


@inner_function
def active_loops(
    kinds: IntTable, order: IntTable, dims: IntTable, key: IntTable, loops: IntTable
) -> int:
    """List the inner loops with more than one iteration, outermost first; returns how many.

    Also sets `key` to every dimension's segment at iteration 0.
    """
    count = 0
    for place in range(6):
        d = order[place]
        key[d] = MAX_SEGMENTS * kinds[d]
        if dims[d, INNER + kinds[d]] > 1:
            loops[count] = d
            count += 1
    return count


@inner_function
def inner_totals(
    totals: IntTable,
    kinds: IntTable,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    key: IntTable,
    loops: IntTable,
    count: int,
    digits: IntTable,
    times: IntTable,
    firsts: IntTable,
    hw: IntTable,
    fixed: int,
) -> None:
    """Sum the inner steps of one outer step, all but the one at iteration 0.

    Args:
        totals: Gets the sums; the fields at the top of this file.
        kinds: Class of each dimension's outer step.
        dims: Dimension table.
        segs: Segment table.
        rows: Input rows a pair of segments touches.
        key: Every dimension's segment at iteration 0; left as it was.
        loops: The loops with more than one iteration, outermost first.
        count: How many of them.
        digits: Work array of 6.
        times: Work array of 7.
        firsts: Work array of 7.
        hw: Layer, accelerator and options.
        fixed: Mask of the spatial dimensions.
    """
    output_mask = DEPTHWISE_OUTPUT_MASK if hw[HW_DEPTHWISE] else OUTPUT_MASK
    channel = C if hw[HW_DEPTHWISE] else K
    lanes = hw[HW_LANES]
    bandwidth, shift = hw[HW_NOC], log2_or_none(hw[HW_NOC])
    totals[:] = 0
    times[0] = 1
    firsts[0] = 1
    for b in range(count):
        moved = 0
        for k in range(b, count):
            moved |= 1 << loops[k]
        advancing = loops[b]
        loads_input = moved & INPUT_MASK
        loads_filter = moved & FILTER_MASK
        stores = moved & output_mask
        slides = loads_input == 1 << advancing and can_slide(advancing, hw, fixed)
        writes_first = (output_mask >> advancing) & 1
        # odometer over the segments of loops 0..b; `times[k]` is the product over loops before k
        level = 0
        digits[0] = -1
        while level >= 0:
            d = loops[level]
            digits[level] += 1
            digit = digits[level]
            place = MAX_SEGMENTS * kinds[d] + digit
            if digit == dims[d, SEGMENTS + kinds[d]]:
                key[d] = MAX_SEGMENTS * kinds[d]
                level -= 1
                continue
            key[d] = place
            repeat = segs[d, place, REPEAT]
            if level == b and digit == 0:
                repeat -= 1  # the loop that advances is past iteration 0
                if repeat == 0:
                    continue
            if (output_mask >> d) & 1:
                first = firsts[level] * repeat
            else:
                first = firsts[level] if digit == 0 else 0
            if level < b:
                times[level + 1] = times[level] * repeat
                firsts[level + 1] = first
                level += 1
                digits[level] = -1
                continue
            load = 0
            if loads_input:
                load = input_elements(key, segs, rows)
                if slides:
                    load -= shared_elements(advancing, key, segs, rows)
            if loads_filter:
                load += filter_elements(key, segs)
            store = output_elements(channel, key, segs) if stores else 0
            compute = compute_of(key, segs, lanes)
            number = times[level] * repeat
            fresh = first if writes_first else 0
            add_steps(totals, number, fresh, compute, load, store, bandwidth, shift)
