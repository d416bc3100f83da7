"""Cycles of the inner steps of one outer step, class by class.

An inner step's class is which loop advanced, and the segments of the loops outside it; the loops
inside it are at iteration 0. All steps of a class take the same cycles, but for the read-back of
partial sums, which a step needs unless it is the first to touch its output tile.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    HALO_NONE,
    HW_DIMS,
    HW_FILTER,
    HW_HALO,
    HW_INPUT,
    HW_LANES,
    HW_NOC,
    HW_NOC_SHIFT,
    HW_OUTPUT,
    HW_TILE,
    INNER,
    LEAD,
    MAX_SEGMENTS,
    PLAIN_MASK,
    REPEAT,
    SEGMENTS,
    UNION,
    C,
    IntTable,
    K,
    N,
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
def beyond_nest(mask: int, hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """The factor of N and G in the elements of a tensor that is coupled to `mask`."""
    factor = 1
    for d in range(N, hw[HW_DIMS]):
        if (mask >> d) & 1:
            factor *= segs[d, steps[KEY, d], UNION]
    return factor


@inner_function
def channels_of(hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """What a step's input covers in C, N and G together."""
    return segs[C, steps[KEY, C], UNION] * beyond_nest(hw[HW_INPUT], hw, steps, segs)


@inner_function
def input_elements(channels: int, hw: IntTable, steps: IntTable, kept: RowTable) -> int:
    """Input elements that cross the NoC in a step whose segments are ``KEY``."""
    space = hw[HW_TILE]
    rows = kept[0, space, AT + steps[KEY, Y], AT + steps[KEY, R]]
    return channels * rows * kept[1, space, AT + steps[KEY, X], AT + steps[KEY, S]]


@inner_function
def filter_elements(hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """Filter elements likewise."""
    channels = segs[K, steps[KEY, K], UNION] * segs[C, steps[KEY, C], UNION]
    taps = segs[R, steps[KEY, R], UNION] * segs[S, steps[KEY, S], UNION]
    return channels * taps * beyond_nest(hw[HW_FILTER], hw, steps, segs)


@inner_function
def output_elements(hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """Output elements likewise."""
    channel = K if (hw[HW_OUTPUT] >> K) & 1 else C
    across = segs[Y, steps[KEY, Y], UNION] * segs[X, steps[KEY, X], UNION]
    across *= segs[channel, steps[KEY, channel], UNION]
    return across * beyond_nest(hw[HW_OUTPUT], hw, steps, segs)


@inner_function
def compute_of(hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """Compute cycles of a step: PE (0, 0)'s MACs over the lanes."""
    macs = 1
    for d in range(hw[HW_DIMS]):
        macs *= segs[d, steps[KEY, d], LEAD]
    lanes = hw[HW_LANES]
    return ceil_div(macs, lanes) if lanes > 1 else macs


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
def active_loops(order: IntTable, dims: IntTable, hw: IntTable, steps: IntTable) -> int:
    """List the inner loops with more than one iteration, outermost first; returns how many.

    Also sets ``KEY`` to every dimension's segment at iteration 0.
    """
    count = 0
    for place in range(hw[HW_DIMS]):
        d = order[place]
        steps[KEY, d] = MAX_SEGMENTS * steps[KINDS, d]
        if dims[d, INNER + steps[KINDS, d]] > 1:
            steps[LOOPS, count] = d
            count += 1
    return count


@inner_function
def still_held(channels: int, hw: IntTable, steps: IntTable, kept: RowTable) -> int:
    """Input elements that need not cross the NoC, as PEs hold them since the step before."""
    space = hw[HW_TILE]
    held = kept[0, space, steps[PE_MOVES, Y], steps[PE_MOVES, R]]
    return channels * held * kept[1, space, steps[PE_MOVES, X], steps[PE_MOVES, S]]


@inner_function
def add_alike(
    moved: int,
    number: int,
    fresh: int,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    kept: RowTable,
) -> None:
    """Add `number` inner steps that are alike, `fresh` of which read no partial sums back.

    Args:
        moved: Mask of dimensions whose counters change.
        number: How many steps.
        fresh: How many of them write partial sums for the first time.
        hw: Layer, accelerator and options.
        steps: State of the walk.
        segs: Segment table.
        kept: Input rows still held after a pair of moves.
    """
    load = 0
    if moved & hw[HW_INPUT]:
        channels = channels_of(hw, steps, segs)
        load = input_elements(channels, hw, steps, kept)
        if not moved & PLAIN_MASK:
            load -= still_held(channels, hw, steps, kept)
    if moved & hw[HW_FILTER]:
        load += filter_elements(hw, steps, segs)
    store = output_elements(hw, steps, segs) if moved & hw[HW_OUTPUT] else 0
    compute = compute_of(hw, steps, segs)
    add_steps(steps, TOTALS, number, fresh, compute, load, store, hw)


@inner_function
def add_advances_within(
    loop: int,
    digit: int,
    moved: int,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    kept: RowTable,
) -> None:
    """Add the steps in which a loop advances to segment `digit`: into it, and within it."""
    d = steps[LOOPS, loop]
    place = steps[KEY, d]
    writes = (hw[HW_OUTPUT] >> d) & 1
    repeat = segs[d, place, REPEAT]
    times, first = steps[TIMES, loop], steps[FIRSTS, loop] * writes
    if digit > 0:
        together = repeat
        if Y <= d <= S and hw[HW_HALO] != HALO_NONE:
            steps[PE_MOVES, d] = ENTER + place
            together = 1
        add_alike(moved, times * together, first * together, hw, steps, segs, kept)
        repeat -= together
    else:
        repeat -= 1  # iteration 0 is no advance
    if repeat > 0:
        steps[PE_MOVES, d] = WITHIN + place
        add_alike(moved, times * repeat, first * repeat, hw, steps, segs, kept)


@inner_function
def walk_segments(
    loop: int,
    moved: int,
    hw: IntTable,
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    kept: RowTable,
) -> None:
    """Add the inner steps in which the loop at position `loop` advances.

    An odometer runs over the segments of the loops outside it and of its own; ``TIMES`` holds the
    product over the loops outside.
    """
    output_mask = hw[HW_OUTPUT]
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
            add_advances_within(loop, digit, moved, hw, steps, segs, kept)
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
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    kept: RowTable,
) -> None:
    """Sum the inner steps of one outer step, all but the one at iteration 0, into ``TOTALS``.

    Args:
        count: How many inner loops have more than one iteration.
        hw: Layer, accelerator and options.
        steps: State of the walk; ``KINDS``, ``LOOPS`` and ``KEY`` are set, and ``KEY`` is left as
            it was.
        dims: Dimension table.
        segs: Segment table.
        kept: Input rows still held after a pair of moves.
    """
    for field in range(TOTAL_FIELDS):
        steps[TOTALS, field] = 0
    steps[TIMES, 0] = 1
    steps[FIRSTS, 0] = 1
    moved = 0
    for d in range(hw[HW_DIMS]):
        steps[PE_MOVES, d] = AT + steps[KEY, d]
    for loop in range(count):
        d = steps[LOOPS, loop]
        steps[PE_MOVES, d] = REWIND + steps[KINDS, d]
        moved |= 1 << d
    for loop in range(count):
        d = steps[LOOPS, loop]
        walk_segments(loop, moved, hw, steps, dims, segs, kept)
        moved &= ~(1 << d)
