"""Stepwise latency: the outer steps, class by class.

An outer step's class is which outer loop advanced, whether each dimension is in its full or its
last (smaller) outer step, and whether partial sums are read back.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from numba import int64

from common import inner_function
from cost_models.exact.inner import active_loops, add_steps, inner_totals
from cost_models.exact.layout import (
    BOUND_COMPUTE,
    BOUND_DRAM,
    BOUND_NOC_IN,
    BOUND_NOC_OUT,
    DRAM_IN_CYCLES,
    DRAM_OUT_CYCLES,
    HW_DIMS,
    HW_NOC,
    HW_NOC_SHIFT,
    HW_OFFCHIP,
    HW_OFFCHIP_SHIFT,
    HW_OUTPUT,
    LATENCY,
    NOC_IN,
    NOC_OUT,
    OUTER,
    OUTPUT,
    WIDTH,
    IntTable,
    RowTable,
    SegTable,
)
from cost_models.exact.moves import NEXT, RESTART, REWIND, SPAN_AT, SPAN_NEXT, SPAN_RESTART
from cost_models.exact.padding_runs import class_count, class_of, class_size, take_class
from cost_models.exact.step_elements import transfer
from cost_models.exact.step_tiles import (
    COMPUTE,
    FILTER,
    IN,
    OUT,
    fill_l2_tiles,
    fill_pe_tiles,
    held_by_l2,
    held_by_pes,
    next_filters,
    next_inputs,
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
    KINDS,
    L2_MOVES,
    L2_TILES,
    LOOPS,
    OUTER_LOOPS,
    PE_MOVES,
    PE_TILES,
    RAGGED,
    STEP0,
    TOTALS,
)
from cost_models.exact.wide import Wide, passes
from cost_models.exact.wide_steps import (
    add_wide_fill,
    add_wide_outer_steps,
    add_wide_steps,
    held_bits,
)


@inner_function
def add_outer_steps(
    row: IntTable,
    times: int,
    flag: int,
    steps: IntTable,
    dram_in: int,
    dram_out: int,
) -> None:
    """Add `times` outer steps to the latency, its parts, and what binds it.

    Args:
        row: The result row.
        times: Outer steps in the class.
        flag: 1 where partial sums of earlier outer steps are read back.
        steps: State of the walk; ``TOTALS`` are the sums over the inner steps after iteration 0,
            ``STEP0`` the same of the step at iteration 0.
        dram_in: Cycles from DRAM that the step's other work can hide.
        dram_out: Cycles to DRAM.
    """
    cycles = steps[TOTALS, CYCLES + flag] + steps[STEP0, CYCLES + flag]
    by_in = steps[TOTALS, BY_IN + flag] + steps[STEP0, BY_IN + flag]
    by_out = steps[TOTALS, BY_OUT + flag] + steps[STEP0, BY_OUT + flag]
    dram = max(dram_in, dram_out)
    if dram > cycles:
        row[LATENCY] += times * dram
        row[BOUND_DRAM] += times * dram
    else:
        row[LATENCY] += times * cycles
        row[BOUND_COMPUTE] += times * (cycles - by_in - by_out)
        row[BOUND_NOC_IN] += times * by_in
        row[BOUND_NOC_OUT] += times * by_out
    row[NOC_IN] += times * (steps[TOTALS, IN_CYCLES + flag] + steps[STEP0, IN_CYCLES + flag])
    row[NOC_OUT] += times * (steps[TOTALS, OUT_CYCLES] + steps[STEP0, OUT_CYCLES])
    row[DRAM_IN_CYCLES] += times * dram_in
    row[DRAM_OUT_CYCLES] += times * dram_out


@inner_function
def start_step0(
    inputs: int,
    filters: int,
    store: int,
    hw: IntTable,
    steps: IntTable,
    segs: SegTable,
    wide: Wide | None,
) -> None:
    """Set ``STEP0`` to one step that loads and stores so many elements."""
    for field in range(TOTAL_FIELDS if wide is None else WIDE_TOTAL_FIELDS):
        steps[STEP0, field] = 0
    compute = steps[PE_TILES, COMPUTE]
    if wide is None:
        add_steps(steps, STEP0, 1, 1, compute, inputs + filters, store, hw)
    else:
        add_wide_steps(steps, STEP0, 1, 1, compute, inputs, filters, store, hw, segs, wide)


@inner_function
def add_first_step(
    row: IntTable, hw: IntTable, steps: IntTable, segs: SegTable, wide: Wide | None
) -> None:
    """Add the very first outer step; its fills come before everything else."""
    start_step0(0, 0, steps[PE_TILES, OUT], hw, steps, segs, wide)
    if wide is not None:
        add_wide_fill(
            row, steps[PE_TILES, IN], steps[PE_TILES, FILTER],
            steps[L2_TILES, IN], steps[L2_TILES, FILTER], wide,
        )  # fmt: skip
        outputs = 0 if passes(0, OUTPUT, wide) else steps[L2_TILES, OUT]
        add_wide_outer_steps(row, 1, 0, steps, 0, outputs, wide)
        return
    offchip, offchip_shift = hw[HW_OFFCHIP], hw[HW_OFFCHIP_SHIFT]
    elements = steps[PE_TILES, IN] + steps[PE_TILES, FILTER]
    fill = transfer(elements, hw[HW_NOC], hw[HW_NOC_SHIFT])
    elements = steps[L2_TILES, IN] + steps[L2_TILES, FILTER]
    dram_fill = transfer(elements, offchip, offchip_shift)
    row[NOC_IN] += fill
    row[BOUND_NOC_IN] += fill
    row[DRAM_IN_CYCLES] += dram_fill
    row[BOUND_DRAM] += dram_fill
    row[LATENCY] += fill + dram_fill
    dram_out = transfer(steps[L2_TILES, OUT], offchip, offchip_shift)
    add_outer_steps(row, 1, 0, steps, 0, dram_out)


@inner_function
def add_advances(
    row: IntTable,
    hw: IntTable,
    moved: int,
    inner_moved: int,
    plain: int,
    again: int,
    steps: IntTable,
    segs: SegTable,
    kept: RowTable,
    span_kept: RowTable,
    wide: Wide | None,
) -> None:
    """Add the outer steps of a class in which one loop advances.

    Args:
        row: The result row.
        hw: Layer, accelerator and options.
        moved: Mask of dimensions whose outer counters change.
        inner_moved: Mask of those whose inner ones do.
        plain: How many of the steps write partial sums for the first time.
        again: How many read them back first.
        steps: State of the walk.
        segs: Segment table.
        kept: Input rows PEs still hold after a pair of moves.
        span_kept: Input rows L2 still holds after a pair of moves.
        wide: Chip and mapping, where more is to be known.
    """
    offchip, offchip_shift = hw[HW_OFFCHIP], hw[HW_OFFCHIP_SHIFT]
    inputs = next_inputs(L2_TILES, moved, held_by_l2(hw, steps, span_kept, wide), hw, steps)
    filters = next_filters(L2_TILES, moved, hw, steps)
    load = inputs + filters
    store = steps[L2_TILES, OUT] if moved & hw[HW_OUTPUT] else 0
    dram_out = transfer(store, offchip, offchip_shift)
    every = moved | inner_moved
    noc_inputs = next_inputs(PE_TILES, every, held_by_pes(hw, steps, kept, wide), hw, steps)
    noc_filters = next_filters(PE_TILES, every, hw, steps)
    noc_store = steps[PE_TILES, OUT] if every & hw[HW_OUTPUT] else 0
    start_step0(noc_inputs, noc_filters, noc_store, hw, steps, segs, wide)
    for flag in range(2):
        number = again if flag else plain
        if number > 0 and wide is not None:
            outputs = 0 if passes(0, OUTPUT, wide) else store
            back = wide.n[WIDTH + 3] * outputs if flag else 0
            bits = held_bits(0, inputs, filters, wide) + back
            add_wide_outer_steps(row, number, flag, steps, bits, outputs, wide)
        elif number > 0:
            elements = load + store if flag else load
            dram_in = transfer(elements, offchip, offchip_shift)
            add_outer_steps(row, number, flag, steps, dram_in, dram_out)


@inner_function(locals={"times": int64, "first": int64})
def add_class(
    row: IntTable,
    hw: IntTable,
    depth: int,
    deepest: int,
    inner_moved: int,
    steps: IntTable,
    dims: IntTable,
    segs: SegTable,
    kept: RowTable,
    span_kept: RowTable,
    wide: Wide | None,
) -> None:
    """Add all outer steps but the very first whose dimensions are in the classes ``KINDS``.

    Args:
        row: The result row.
        hw: Layer, accelerator and options.
        depth: Number of outer loops with more than one iteration.
        deepest: Position of the innermost one in its last, smaller step; loops inside the one that
            advances are at iteration 0, so that this one advances or lies outside; -1 for none.
        inner_moved: Mask of inner loops with more than one iteration: each wraps.
        steps: State of the walk.
        dims: Dimension table.
        segs: Segment table.
        kept: Input rows PEs still hold after a pair of moves.
        span_kept: Input rows L2 still holds after a pair of moves.
        wide: Chip and mapping, where more is to be known.
    """
    output_mask = hw[HW_OUTPUT]
    times = 1
    first = 1
    moved = 0
    for d in range(hw[HW_DIMS]):
        steps[PE_MOVES, d] = REWIND + steps[KINDS, d]
        steps[L2_MOVES, d] = SPAN_AT + steps[KINDS, d]
    for place in range(depth):
        moved |= 1 << steps[OUTER_LOOPS, place]
        steps[PE_MOVES, steps[OUTER_LOOPS, place]] = RESTART
        steps[L2_MOVES, steps[OUTER_LOOPS, place]] = SPAN_RESTART
    for place in range(depth):
        d = steps[OUTER_LOOPS, place]
        here = class_size(d, dims, steps, wide)
        advances = here - 1 if class_of(d, steps, wide) == 0 else here
        writes = (output_mask >> d) & 1
        if place >= deepest and advances > 0:
            steps[PE_MOVES, d] = NEXT + steps[KINDS, d]
            steps[L2_MOVES, d] = SPAN_NEXT + steps[KINDS, d]
            fresh = first * advances if writes else 0
            add_advances(
                row, hw, moved, inner_moved, fresh, times * advances - fresh,
                steps, segs, kept, span_kept, wide,
            )  # fmt: skip
        steps[PE_MOVES, d] = REWIND + steps[KINDS, d]
        steps[L2_MOVES, d] = SPAN_AT + steps[KINDS, d]
        moved &= ~(1 << d)
        times *= here
        if writes:
            first *= here
        elif class_of(d, steps, wide) > 0:
            # partial sums are new only while every reduction loop is in its first step
            first = 0


@inner_function(locals={"depth": int64, "varying": int64, "deepest": int64, "inner_moved": int64})
def stepwise(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    dims: IntTable,
    segs: SegTable,
    kept: RowTable,
    span_kept: RowTable,
    steps: IntTable,
    wide: Wide | None,
) -> None:
    """Latency, its parts and what binds it, into `row` (whose fields must be zero).

    Args:
        row: The result row.
        hw: Layer, accelerator and options.
        outer_order: Loop order of the outer level, outermost first.
        inner_order: Loop order of the inner level.
        dims: Dimension table.
        segs: Segment table.
        kept: Input rows PEs still hold after a pair of moves.
        span_kept: Input rows L2 still holds after a pair of moves.
        steps: State of the walk.
        wide: Chip and mapping, where more is to be known.
    """
    depth = 0
    varying = 0
    classes = 1
    for place in range(hw[HW_DIMS]):
        d = outer_order[place]
        take_class(d, 0, steps, wide)
        if dims[d, OUTER] > 1:
            steps[OUTER_LOOPS, depth] = d
            depth += 1
            count = class_count(d, dims, wide)
            if count > 1:
                steps[RAGGED, varying] = depth - 1
                varying += 1
                classes *= count
    for number in range(classes):
        deepest = -1
        rest = number
        for v in range(varying):
            d = steps[OUTER_LOOPS, steps[RAGGED, v]]
            chosen = rest & 1
            if wide is None:
                rest >>= 1
            else:
                count = class_count(d, dims, wide)
                chosen = rest % count
                rest //= count
            take_class(d, chosen, steps, wide)
            if chosen:
                deepest = steps[RAGGED, v]
        count = active_loops(inner_order, dims, hw, steps)
        inner_moved = 0
        for k in range(count):
            inner_moved |= 1 << steps[LOOPS, k]
        inner_totals(count, hw, steps, dims, segs, kept, wide)
        fill_pe_tiles(hw, steps, segs, kept, wide)
        fill_l2_tiles(hw, steps, dims, span_kept, wide)
        if number == 0:
            add_first_step(row, hw, steps, segs, wide)
        add_class(row, hw, depth, deepest, inner_moved, steps, dims, segs, kept, span_kept, wide)
