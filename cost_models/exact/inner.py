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
    HW_NOC,
    HW_NOC_SHIFT,
    HW_OUTPUT,
    INNER,
    MAX_SEGMENTS,
    PLAIN_MASK,
    IntTable,
    RowTable,
    S,
    SegTable,
    Y,
)
from cost_models.exact.moves import AT, ENTER, REWIND, WITHIN
from cost_models.exact.padding_runs import leave_runs, run_count, take_run
from cost_models.exact.step_elements import (
    channels_of,
    compute_of,
    filter_elements,
    input_elements,
    output_elements,
    still_held,
    transfer,
)
from cost_models.exact.step_totals import (
    BY_IN,
    BY_OUT,
    CYCLES,
    IN_CYCLES,
    OUT_CYCLES,
    TOTAL_FIELDS,
    WIDE_TOTAL_FIELDS,
)
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
from cost_models.exact.wide import Wide
from cost_models.exact.wide_steps import add_wide_steps


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
def add_alike(
    moved: int,
    number: int,
    fresh: int,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    kept: RowTable,
    wide: Wide | None,
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
        wide: Chip and mapping, where more is to be known.
    """
    inputs = 0
    if moved & hw[HW_INPUT]:
        channels = channels_of(hw, steps, segs)
        inputs = input_elements(channels, hw, steps, kept, wide)
        if not moved & PLAIN_MASK:
            inputs -= still_held(channels, hw, steps, kept, wide)
    filters = filter_elements(hw, steps, segs) if moved & hw[HW_FILTER] else 0
    store = output_elements(hw, steps, segs) if moved & hw[HW_OUTPUT] else 0
    compute = compute_of(hw, steps, segs)
    if wide is None:
        add_steps(steps, TOTALS, number, fresh, compute, inputs + filters, store, hw)
    else:
        add_wide_steps(
            steps, TOTALS, number, fresh, compute, inputs, filters, store, hw, segs, wide
        )


@inner_function
def add_advances_within(
    loop: int,
    digit: int,
    repeat: int,
    enters: bool,
    moved: int,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    kept: RowTable,
    wide: Wide | None,
) -> None:
    """Add the steps in which a loop advances into its run `digit`, and within it.

    Args:
        loop: Position of the loop.
        digit: The run.
        repeat: Steps in it.
        enters: Whether it begins with a new segment.
        moved: Mask of dimensions whose counters change.
        hw: Layer, accelerator and options.
        steps: State of the walk.
        segs: Segment table.
        kept: Input rows still held after a pair of moves.
        wide: Chip and mapping, where more is to be known.
    """
    d = steps[LOOPS, loop]
    place = steps[KEY, d]
    writes = (hw[HW_OUTPUT] >> d) & 1
    times, first = steps[TIMES, loop], steps[FIRSTS, loop] * writes
    if digit == 0:
        repeat -= 1  # iteration 0 is no advance
    elif enters:
        together = repeat
        if Y <= d <= S and hw[HW_HALO] != HALO_NONE:
            steps[PE_MOVES, d] = ENTER + place
            together = 1
        add_alike(moved, times * together, first * together, hw, steps, segs, kept, wide)
        repeat -= together
    if repeat > 0:
        steps[PE_MOVES, d] = WITHIN + place
        add_alike(moved, times * repeat, first * repeat, hw, steps, segs, kept, wide)


@inner_function
def walk_segments(
    loop: int,
    moved: int,
    hw: IntTable,
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    kept: RowTable,
    wide: Wide | None,
) -> None:
    """Add the inner steps in which the loop at position `loop` advances.

    An odometer goes through the runs of the loops outside it and of its own; ``TIMES`` holds the
    product over the loops outside.
    """
    output_mask = hw[HW_OUTPUT]
    level = 0
    steps[DIGITS, 0] = -1
    while level >= 0:
        d = steps[LOOPS, level]
        digit = steps[DIGITS, level] + 1
        steps[DIGITS, level] = digit
        if digit == run_count(d, dims, steps, wide):
            leave_runs(d, steps, wide)
            level -= 1
            continue
        repeat, enters = take_run(d, digit, segs, steps, wide)
        if level == loop:
            add_advances_within(loop, digit, repeat, enters, moved, hw, steps, segs, kept, wide)
            continue
        steps[PE_MOVES, d] = AT + steps[KEY, d]
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
    wide: Wide | None,
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
        wide: Chip and mapping, where more is to be known.
    """
    for field in range(TOTAL_FIELDS if wide is None else WIDE_TOTAL_FIELDS):
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
        walk_segments(loop, moved, hw, steps, dims, segs, kept, wide)
        moved &= ~(1 << d)
