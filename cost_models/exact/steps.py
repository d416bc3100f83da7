"""Stepwise latency: the outer steps, class by class.

An outer step's class is which outer loop advanced, whether each dimension is in its full or its
last (smaller) outer step, and whether partial sums are read back.
"""

from __future__ import annotations

from numba import njit

from cost_models.exact.inner import (
    BY_IN,
    BY_OUT,
    CYCLES,
    IN_CYCLES,
    OUT_CYCLES,
    TOTAL_FIELDS,
    active_loops,
    add_steps,
    ceil_div,
    inner_totals,
    input_elements,
    log2_or_none,
    shared_elements,
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
    FILTER_MASK,
    HW_DEPTHWISE,
    HW_LANES,
    HW_NOC,
    HW_OFFCHIP,
    HW_SLIDE,
    HW_STRIDE,
    INPUT_MASK,
    LATENCY,
    LEAD,
    NOC_IN,
    NOC_OUT,
    OUTER,
    OUTPUT_MASK,
    SPAN,
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
from cost_models.exact.rows import footprint

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
WORK_ROWS = 10
WORK_COLUMNS = TOTAL_FIELDS


@njit
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
        dram_in: Cycles from DRAM.
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


@njit
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
    ragged, totals, step0 = work[RAGGED], work[TOTALS], work[STEP0]
    output_mask = DEPTHWISE_OUTPUT_MASK if hw[HW_DEPTHWISE] else OUTPUT_MASK
    channel = C if hw[HW_DEPTHWISE] else K
    stride = hw[HW_STRIDE]
    lanes = hw[HW_LANES]
    noc, noc_shift = hw[HW_NOC], log2_or_none(hw[HW_NOC])
    offchip, offchip_shift = hw[HW_OFFCHIP], log2_or_none(hw[HW_OFFCHIP])
    slides = hw[HW_SLIDE] == 1
    slide_y = slides and not fixed & ((1 << Y) | (1 << R))
    slide_x = slides and not fixed & ((1 << X) | (1 << S))
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
            kinds[outer_loops[ragged[v]]] = (bits >> v) & 1
            if (bits >> v) & 1:
                deepest = ragged[v]
        count = active_loops(kinds, inner_order, dims, key, loops)
        inner_totals(
            totals, kinds, dims, segs, rows, key, loops, count,
            work[DIGITS], work[TIMES], work[FIRSTS], output_mask, channel,
            slide_y, slide_x, lanes, noc, noc_shift,
        )  # fmt: skip
        # the step at iteration 0, and the L2 tiles of this kind of outer step
        compute = 1
        for d in range(6):
            compute *= segs[d, key[d], LEAD]
        if lanes > 1:
            compute = ceil_div(compute, lanes)
        in0 = input_elements(key, segs, rows)
        filter0 = (
            segs[K, key[K], UNION]
            * segs[C, key[C], UNION]
            * segs[R, key[R], UNION]
            * segs[S, key[S], UNION]
        )
        out0 = segs[channel, key[channel], UNION] * segs[Y, key[Y], UNION] * segs[X, key[X], UNION]
        l2_c = dims[C, SPAN + kinds[C]]
        l2_k = dims[K, SPAN + kinds[K]]
        l2_y, l2_x = dims[Y, SPAN + kinds[Y]], dims[X, SPAN + kinds[X]]
        l2_r, l2_s = dims[R, SPAN + kinds[R]], dims[S, SPAN + kinds[S]]
        l2_rows, l2_cols = footprint(l2_y, l2_r, stride), footprint(l2_x, l2_s, stride)
        l2_in = l2_c * l2_rows * l2_cols
        l2_filter = l2_k * l2_c * l2_r * l2_s
        l2_out = (l2_c if hw[HW_DEPTHWISE] else l2_k) * l2_y * l2_x
        if deepest < 0:
            # the very first outer step: its fills come before, outside its maximum
            step0[:] = 0
            add_steps(step0, 1, 1, compute, 0, out0, noc, noc_shift)
            noc_fill = transfer(in0 + filter0, noc, noc_shift)
            dram_fill = transfer(l2_in + l2_filter, offchip, offchip_shift)
            step0[IN_CYCLES] = noc_fill
            dram_out = transfer(l2_out, offchip, offchip_shift)
            add_outer_steps(row, 1, 0, totals, step0, 0, dram_out)
            row[DRAM_IN_CYCLES] += dram_fill
            row[LATENCY] += dram_fill + noc_fill
            row[BOUND_DRAM] += dram_fill
            row[BOUND_NOC_IN] += noc_fill
        inner_moved = 0
        for k in range(count):
            inner_moved |= 1 << loops[k]
        times = 1
        first = 1
        for a in range(depth):
            d = outer_loops[a]
            here = dims[d, COUNT + kinds[d]]
            advances = here - 1 if kinds[d] == 0 else here
            if a >= deepest and advances > 0:
                moved = 0
                for k in range(a, depth):
                    moved |= 1 << outer_loops[k]
                load = 0
                if moved & INPUT_MASK:
                    load = l2_in
                    if slides and moved & INPUT_MASK == 1 << d:
                        if d == Y:
                            load -= l2_c * max(l2_r - stride, 0) * l2_cols
                        elif d == X:
                            load -= l2_c * max(l2_s - stride, 0) * l2_rows
                if moved & FILTER_MASK:
                    load += l2_filter
                store = l2_out if moved & output_mask else 0
                dram_out = transfer(store, offchip, offchip_shift)
                moved |= inner_moved
                noc_load = 0
                if moved & INPUT_MASK:
                    noc_load = in0
                    # inner loops inside this one wrap; only the axis itself may
                    others = moved & INPUT_MASK & ~(1 << d)
                    if others == 0 and ((d == Y and slide_y) or (d == X and slide_x)):
                        noc_load -= shared_elements(d, key, segs, rows)
                if moved & FILTER_MASK:
                    noc_load += filter0
                step0[:] = 0
                add_steps(
                    step0, 1, 1, compute, noc_load, out0 if moved & output_mask else 0,
                    noc, noc_shift,
                )  # fmt: skip
                fresh = first * advances if (output_mask >> d) & 1 else 0
                again = times * advances - fresh
                if fresh > 0:
                    dram_in = transfer(load, offchip, offchip_shift)
                    add_outer_steps(row, fresh, 0, totals, step0, dram_in, dram_out)
                if again > 0:
                    dram_in = transfer(load + store, offchip, offchip_shift)
                    add_outer_steps(row, again, 1, totals, step0, dram_in, dram_out)
            times *= here
            if (output_mask >> d) & 1:
                first *= here
            elif kinds[d] == 1:
                first = 0
