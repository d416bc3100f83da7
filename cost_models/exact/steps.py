"""Stepwise latency: the outer steps, class by class.

An outer step's class is which outer loop advanced, whether each dimension is in its full or its
last (smaller) outer step, and whether partial sums are read back.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from numba import int64

from common.jit import inner_function
from cost_models.exact.inner import (
    BY_IN,
    BY_OUT,
    CYCLES,
    IN_CYCLES,
    OUT_CYCLES,
    TOTAL_FIELDS,
    active_loops,
    add_steps,
    inner_totals,
    log2_or_none,
    transfer,
)
from cost_models.exact.layout import (
    BOUND_COMPUTE,
    BOUND_DRAM,
    BOUND_NOC_IN,
    BOUND_NOC_OUT,
    CLASSES,
    COUNT,
    DEPTHWISE_OUTPUT_MASK,
    DRAM_IN_CYCLES,
    DRAM_OUT_CYCLES,
    HW_DEPTHWISE,
    HW_NOC,
    HW_OFFCHIP,
    LATENCY,
    NOC_IN,
    NOC_OUT,
    OUTER,
    OUTPUT_MASK,
    IntTable,
    K,
    RowTable,
    SegTable,
)
from cost_models.exact.step_tiles import OUT, fill_l2_tiles, fill_pe_tiles, loaded

# rows of the work table
KINDS = 0
KEY = 1
LOOPS = 2
OUTER_LOOPS = 3
RAGGED = 4
DIGITS = 5
TIMES = 6
FIRSTS = 7
TOTALS = 8
STEP0 = 9
L2_TILES = 10
PE_TILES = 11
WORK_ROWS = 12
WORK_COLUMNS = TOTAL_FIELDS

ALL_DIMS = 63


@inner_function
def add_outer_steps(
    row: IntTable,
    times: int,
    flag: int,
    totals: IntTable,
    step0: IntTable,
    dram_in: int,
    dram_out: int,
) -> None:
    """Add `times` outer steps to the latency, its parts, and what binds it.

    Args:
        row: The result row.
        times: Outer steps in the class.
        flag: 1 where partial sums of earlier outer steps are read back.
        totals: Sums over the inner steps after iteration 0.
        step0: The same for the step at iteration 0.
        dram_in: Cycles from DRAM that the step's other work can hide.
        dram_out: Cycles to DRAM.
    """
    cycles = totals[CYCLES + flag] + step0[CYCLES + flag]
    by_in = totals[BY_IN + flag] + step0[BY_IN + flag]
    by_out = totals[BY_OUT + flag] + step0[BY_OUT + flag]
    dram = max(dram_in, dram_out)
    if dram > cycles:
        row[LATENCY] += times * dram
        row[BOUND_DRAM] += times * dram
    else:
        row[LATENCY] += times * cycles
        row[BOUND_COMPUTE] += times * (cycles - by_in - by_out)
        row[BOUND_NOC_IN] += times * by_in
        row[BOUND_NOC_OUT] += times * by_out
    row[NOC_IN] += times * (totals[IN_CYCLES + flag] + step0[IN_CYCLES + flag])
    row[NOC_OUT] += times * (totals[OUT_CYCLES] + step0[OUT_CYCLES])
    row[DRAM_IN_CYCLES] += times * dram_in
    row[DRAM_OUT_CYCLES] += times * dram_out


@inner_function(locals={"one": int64, "times": int64, "first": int64})
def add_class(
    row: IntTable,
    hw: IntTable,
    depth: int,
    deepest: int,
    inner_moved: int,
    compute: int,
    dims: IntTable,
    work: IntTable,
) -> None:
    """Add all outer steps whose dimensions are in the classes ``work[KINDS]``.

    Args:
        row: The result row.
        hw: Layer, accelerator and options.
        depth: Number of outer loops with more than one iteration.
        deepest: Position of the innermost one in its last, smaller step; loops inside the one that
            advances are at iteration 0, so that this one advances or lies outside; -1 for none.
        inner_moved: Mask of inner loops with more than one iteration: each wraps.
        compute: Cycles of PE (0, 0) in the first inner step.
        dims: Dimension table.
        work: Work table.
    """
    kinds, outer_loops, totals, step0 = (
        work[KINDS],
        work[OUTER_LOOPS],
        work[TOTALS],
        work[STEP0],
    )
    l2_tiles, pe_tiles = work[L2_TILES], work[PE_TILES]
    output_mask = DEPTHWISE_OUTPUT_MASK if hw[HW_DEPTHWISE] else OUTPUT_MASK
    noc, noc_shift = hw[HW_NOC], log2_or_none(hw[HW_NOC])
    offchip, offchip_shift = hw[HW_OFFCHIP], log2_or_none(hw[HW_OFFCHIP])
    one = 1
    times = 1
    first = 1
    # place -1 is the very first step, in which everything moves
    for place in range(-1, depth):
        d = outer_loops[place] if place >= 0 else K
        start = place < 0
        here = dims[d, COUNT + kinds[d]] if place >= 0 else 1
        advances = here - 1 if place >= 0 and kinds[d] == 0 else here
        if place >= deepest and advances > 0:
            moved = ALL_DIMS if start else 0
            for k in range(max(place, 0), depth):
                moved |= 1 << outer_loops[k]
            load = loaded(l2_tiles, moved, d)
            store = l2_tiles[OUT] if moved & output_mask else 0
            dram_out = transfer(store, offchip, offchip_shift)
            moved |= inner_moved
            noc_load = loaded(pe_tiles, moved, d)
            noc_store = pe_tiles[OUT] if moved & output_mask else 0
            if start:
                # the first fills come before everything else, outside the maximum
                fill = transfer(noc_load, noc, noc_shift)
                dram_fill = transfer(load, offchip, offchip_shift)
                row[NOC_IN] += fill
                row[BOUND_NOC_IN] += fill
                row[DRAM_IN_CYCLES] += dram_fill
                row[BOUND_DRAM] += dram_fill
                row[LATENCY] += fill + dram_fill
                load = 0
                noc_load = 0
            step0[:] = 0
            add_steps(step0, one, one, compute, noc_load, noc_store, noc, noc_shift)
            fresh = first * advances if start or (output_mask >> d) & 1 else 0
            for flag in range(2):
                number = times * advances - fresh if flag else fresh
                if number > 0:
                    elements = load + store if flag else load
                    dram_in = transfer(elements, offchip, offchip_shift)
                    add_outer_steps(row, number, flag, totals, step0, dram_in, dram_out)
        times *= here
        if place >= 0 and not (output_mask >> d) & 1:
            # partial sums are new only while every reduction loop is in its first step
            first = first if kinds[d] == 0 else 0
        else:
            first *= here


@inner_function(locals={"depth": int64, "deepest": int64, "inner_moved": int64})
def stepwise(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    fixed: int,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    work: IntTable,
) -> None:
    """Latency, its parts and what binds it, into `row` (whose fields must be zero).

    Args:
        row: The result row.
        hw: Layer, accelerator and options.
        outer_order: Loop order of the outer level, outermost first.
        inner_order: Loop order of the inner level.
        fixed: Mask of the spatial dimensions.
        dims: Dimension table.
        segs: Segment table.
        rows: Input rows a pair of segments touches.
        work: Work table, ``(WORK_ROWS, WORK_COLUMNS)``.
    """
    kinds, key, loops, outer_loops = work[KINDS], work[KEY], work[LOOPS], work[OUTER_LOOPS]
    ragged = work[RAGGED]
    depth = 0
    varying = 0
    for place in range(6):
        d = outer_order[place]
        kinds[d] = 0
        if dims[d, OUTER] > 1:
            outer_loops[depth] = d
            depth += 1
            if dims[d, CLASSES] > 1:
                ragged[varying] = depth - 1
                varying += 1
    for bits in range(1 << varying):
        deepest = -1
        for v in range(varying):
            last = (bits >> v) & 1
            kinds[outer_loops[ragged[v]]] = last
            if last:
                deepest = ragged[v]
        count = active_loops(kinds, inner_order, dims, key, loops)
        inner_moved = 0
        for k in range(count):
            inner_moved |= 1 << loops[k]
        inner_totals(
            work[TOTALS], kinds, dims, segs, rows, key, loops, count,
            work[DIGITS], work[TIMES], work[FIRSTS], hw, fixed,
        )  # fmt: skip
        compute = fill_pe_tiles(work[PE_TILES], key, segs, rows, hw, fixed)
        fill_l2_tiles(work[L2_TILES], kinds, dims, hw)
        add_class(row, hw, depth, deepest, inner_moved, compute, dims, work)
