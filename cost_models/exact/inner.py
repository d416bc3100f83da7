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
    HALO_RETAIN,
    HALO_SLIDE,
    HW_DEPTHWISE,
    HW_HALO,
    HW_LANES,
    HW_NOC,
    HW_NOC_SHIFT,
    HW_TILE,
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
from cost_models.exact.moves import AT, ENTER, REWIND, WITHIN
from cost_models.exact.tables import (
    DIGITS,
    FIRSTS,
    KEY,
    KINDS,
    LOOPS,
    PE_MOVES,
    TIMES,
    TOTALS,
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
def input_elements(steps: IntTable, segs: SegTable, rows: RowTable) -> int:
    """Input elements that cross the NoC in a step whose segments are ``KEY``."""
    across = rows[0, steps[KEY, Y], steps[KEY, R]] * rows[1, steps[KEY, X], steps[KEY, S]]
    return segs[C, steps[KEY, C], UNION] * across


@inner_function
def can_slide(axis: int, hw: IntTable, fixed: int) -> bool:
    """Whether PEs keep what they hold as `axis` moves on: it and its taps must be temporal."""
    if hw[HW_HALO] != HALO_SLIDE or axis < Y or axis > X:
        return False
    return not fixed & ((1 << axis) | (1 << (axis + R - Y)))


@inner_function
def filter_elements(steps: IntTable, segs: SegTable) -> int:
    """Filter elements likewise."""
    channels = segs[K, steps[KEY, K], UNION] * segs[C, steps[KEY, C], UNION]
    return channels * segs[R, steps[KEY, R], UNION] * segs[S, steps[KEY, S], UNION]


@inner_function
def output_elements(channel: int, steps: IntTable, segs: SegTable) -> int:
    """Output elements likewise; `channel` is K, or C for a depthwise layer."""
    across = segs[Y, steps[KEY, Y], UNION] * segs[X, steps[KEY, X], UNION]
    return segs[channel, steps[KEY, channel], UNION] * across


@inner_function
def compute_of(steps: IntTable, segs: SegTable, lanes: int) -> int:
    """Compute cycles of a step: PE (0, 0)'s MACs over the lanes."""
    macs = 1
    for d in range(6):
        macs *= segs[d, steps[KEY, d], LEAD]
    return ceil_div(macs, lanes) if lanes > 1 else macs


@inner_function
def shared_elements(axis: int, steps: IntTable, segs: SegTable, rows: RowTable) -> int:
    """Input elements that PEs still hold when `axis` alone moved on."""
    channels = segs[C, steps[KEY, C], UNION]
    if axis == Y:
        return channels * segs[R, steps[KEY, R], TAIL] * rows[1, steps[KEY, X], steps[KEY, S]]
    return channels * segs[S, steps[KEY, S], TAIL] * rows[0, steps[KEY, Y], steps[KEY, R]]


@inner_function
def add_steps(
    steps: IntTable,
    sums: int,
    times: int,
    first: int,
    compute: int,
    load: int,
    store: int,
    hw: IntTable,
) -> None:
    """Add `times` steps, of which `first` need no read-back, to the row `sums` of `steps`."""
    bandwidth, shift = hw[HW_NOC], hw[HW_NOC_SHIFT]
    out = transfer(store, bandwidth, shift)
    plain = transfer(load, bandwidth, shift)
    again = transfer(load + store, bandwidth, shift) if store > 0 else plain
    slow = max(compute, again, out)
    fast = max(compute, plain, out)
    steps[sums, OUT_CYCLES] += times * out
    steps[sums, IN_CYCLES] += first * plain + (times - first) * again
    steps[sums, IN_CYCLES + 1] += times * again
    steps[sums, CYCLES] += first * fast + (times - first) * slow
    steps[sums, CYCLES + 1] += times * slow
    if slow > compute:
        if again >= out:
            steps[sums, BY_IN] += (times - first) * slow
            steps[sums, BY_IN + 1] += times * slow
        else:
            steps[sums, BY_OUT] += (times - first) * slow
            steps[sums, BY_OUT + 1] += times * slow
        if fast > compute:
            if plain >= out:
                steps[sums, BY_IN] += first * fast
            else:
                steps[sums, BY_OUT] += first * fast


@inner_function
def active_loops(order: IntTable, dims: IntTable, steps: IntTable) -> int:
    """List the inner loops with more than one iteration, outermost first; returns how many.

    Also sets ``KEY`` to every dimension's segment at iteration 0.
    """
    count = 0
    for place in range(6):
        d = order[place]
        steps[KEY, d] = MAX_SEGMENTS * steps[KINDS, d]
        if dims[d, INNER + steps[KINDS, d]] > 1:
            steps[LOOPS, count] = d
            count += 1
    return count


@inner_function
def output_mask_of(hw: IntTable) -> int:
    """Dimensions that the output is coupled to."""
    return DEPTHWISE_OUTPUT_MASK if hw[HW_DEPTHWISE] else OUTPUT_MASK


@inner_function
def still_held(hw: IntTable, steps: IntTable, segs: SegTable, kept: RowTable) -> int:
    """Input elements that need not cross the NoC, as PEs hold them since the step before."""
    space = hw[HW_TILE]
    held = kept[0, space, steps[PE_MOVES, Y], steps[PE_MOVES, R]]
    held *= kept[1, space, steps[PE_MOVES, X], steps[PE_MOVES, S]]
    return segs[C, steps[KEY, C], UNION] * held


@inner_function
def add_alike(
    advancing: int,
    moved: int,
    number: int,
    fresh: int,
    slides: bool,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    rows: RowTable,
    kept: RowTable,
) -> None:
    """Add `number` inner steps that are alike, `fresh` of which read no partial sums back.

    Args:
        advancing: The dimension whose loop advances.
        moved: Mask of dimensions whose counters change.
        number: How many steps.
        fresh: How many of them write partial sums for the first time.
        slides: Whether PEs keep what a slide along `advancing` leaves.
        hw: Layer, accelerator and options.
        steps: State of the walk.
        segs: Segment table.
        rows: Input rows a pair of segments touches.
        kept: Input rows still held after a pair of moves.
    """
    load = 0
    if moved & INPUT_MASK:
        load = input_elements(steps, segs, rows)
        if slides:
            load -= shared_elements(advancing, steps, segs, rows)
        elif hw[HW_HALO] == HALO_RETAIN and not (moved >> C) & 1:
            load -= still_held(hw, steps, segs, kept)
    if moved & FILTER_MASK:
        load += filter_elements(steps, segs)
    store = 0
    if moved & output_mask_of(hw):
        store = output_elements(C if hw[HW_DEPTHWISE] else K, steps, segs)
    compute = compute_of(steps, segs, hw[HW_LANES])
    add_steps(steps, TOTALS, number, fresh, compute, load, store, hw)


@inner_function
def add_advances_within(
    loop: int,
    digit: int,
    moved: int,
    slides: bool,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    rows: RowTable,
    kept: RowTable,
) -> None:
    """Add the steps in which a loop advances to segment `digit`: into it, and within it."""
    d = steps[LOOPS, loop]
    place = steps[KEY, d]
    writes = (output_mask_of(hw) >> d) & 1
    repeat = segs[d, place, REPEAT]
    times, first = steps[TIMES, loop], steps[FIRSTS, loop] * writes
    if digit > 0:
        together = repeat
        if Y <= d <= S and hw[HW_HALO] == HALO_RETAIN:
            steps[PE_MOVES, d] = ENTER + place
            together = 1
        add_alike(d, moved, times * together, first * together, slides, hw, steps, segs, rows, kept)
        repeat -= together
    else:
        repeat -= 1  # iteration 0 is no advance
    if repeat > 0:
        steps[PE_MOVES, d] = WITHIN + place
        add_alike(d, moved, times * repeat, first * repeat, slides, hw, steps, segs, rows, kept)


@inner_function
def walk_segments(
    loop: int,
    moved: int,
    slides: bool,
    hw: IntTable,
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    kept: RowTable,
) -> None:
    """Add the inner steps in which the loop at position `loop` advances.

    An odometer runs over the segments of the loops outside it and of its own; ``TIMES`` holds the
    product over the loops outside.
    """
    output_mask = output_mask_of(hw)
    level = 0
    steps[DIGITS, 0] = -1
    while level >= 0:
        d = steps[LOOPS, level]
        kind = steps[KINDS, d]
        digit = steps[DIGITS, level] + 1
        steps[DIGITS, level] = digit
        if digit == dims[d, SEGMENTS + kind]:
            steps[KEY, d] = MAX_SEGMENTS * kind
            level -= 1
            continue
        place = MAX_SEGMENTS * kind + digit
        steps[KEY, d] = place
        if level == loop:
            add_advances_within(loop, digit, moved, slides, hw, steps, segs, rows, kept)
            continue
        steps[PE_MOVES, d] = AT + place
        repeat = segs[d, place, REPEAT]
        first = steps[FIRSTS, level]
        if (output_mask >> d) & 1:
            first *= repeat
        elif digit > 0:
            first = 0
        steps[TIMES, level + 1] = steps[TIMES, level] * repeat
        steps[FIRSTS, level + 1] = first
        level += 1
        steps[DIGITS, level] = -1


@inner_function
def inner_totals(
    count: int,
    hw: IntTable,
    fixed: int,
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    kept: RowTable,
) -> None:
    """Sum the inner steps of one outer step, all but the one at iteration 0, into ``TOTALS``.

    Args:
        count: How many inner loops have more than one iteration.
        hw: Layer, accelerator and options.
        fixed: Mask of the spatial dimensions.
        steps: State of the walk; ``KINDS``, ``LOOPS`` and ``KEY`` are set, and ``KEY`` is left as
            it was.
        dims: Dimension table.
        segs: Segment table.
        rows: Input rows a pair of segments touches.
        kept: Input rows still held after a pair of moves.
    """
    for field in range(TOTAL_FIELDS):
        steps[TOTALS, field] = 0
    steps[TIMES, 0] = 1
    steps[FIRSTS, 0] = 1
    moved = 0
    for d in range(6):
        steps[PE_MOVES, d] = AT + steps[KEY, d]
    for loop in range(count):
        d = steps[LOOPS, loop]
        steps[PE_MOVES, d] = REWIND + steps[KINDS, d]
        moved |= 1 << d
    for loop in range(count):
        d = steps[LOOPS, loop]
        slides = moved & INPUT_MASK == 1 << d and can_slide(d, hw, fixed)
        walk_segments(loop, moved, slides, hw, steps, dims, segs, rows, kept)
        moved &= ~(1 << d)
