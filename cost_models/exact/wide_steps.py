"""Cycles of steps in which tensors differ in width, boundaries in direction, or a level is passed.

A tensor that passes L2 goes between DRAM and the PEs: it takes the NoC as any other, and the
off-chip boundary in the same step. One that passes L1 is served from L2 to every MAC.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.layout import (
    BOUND_COMPUTE,
    BOUND_DRAM,
    BOUND_NOC_IN,
    BOUND_NOC_OUT,
    DRAM_IN_BW,
    DRAM_IN_CYCLES,
    DRAM_OUT_BW,
    DRAM_OUT_CYCLES,
    FILTER,
    HW_DIMS,
    HW_FILTER,
    HW_INPUT,
    HW_OUTPUT,
    INPUT,
    LATENCY,
    LEAD,
    LEAVE,
    NOC_IN,
    NOC_IN_BW,
    NOC_OUT,
    NOC_OUT_BW,
    OUTPUT,
    PLAIN_MASK,
    UNION,
    WIDTH,
    IntTable,
    K,
    SegTable,
)
from cost_models.exact.padding_steps import moment_rows_at
from cost_models.exact.step_elements import ceil_div, output_elements
from cost_models.exact.step_totals import (
    BY_DRAM,
    BY_IN,
    BY_OUT,
    CYCLES,
    IN_CYCLES,
    OUT_CYCLES,
    PAST_IN,
    PAST_OUT,
)
from cost_models.exact.tables import KEY, STEP0, TOTALS
from cost_models.exact.wide import Wide, passes

PSUM: Final = WIDTH + 3


@inner_function
def streamed(mask: int, hw: IntTable, steps: IntTable, segs: SegTable) -> int:
    """Distinct elements of a filter or output tensor that a step's MACs touch, once a moment."""
    elements = 1
    for d in range(hw[HW_DIMS]):
        field = UNION if (mask >> d) & 1 else LEAD
        elements *= segs[d, steps[KEY, d], field]
    return elements


@inner_function
def streamed_input(hw: IntTable, steps: IntTable, segs: SegTable, wide: Wide) -> int:
    """Input elements likewise."""
    elements = segs[K, steps[KEY, K], LEAD]
    for d in range(hw[HW_DIMS]):
        if (hw[HW_INPUT] & PLAIN_MASK) >> d & 1:
            elements *= segs[d, steps[KEY, d], UNION]
    elements *= moment_rows_at(0, hw, steps, wide)
    return elements * moment_rows_at(1, hw, steps, wide)


@inner_function
def add_wide_steps(
    steps: IntTable,
    sums: int,
    times: int,
    first: int,
    compute: int,
    inputs: int,
    filters: int,
    store: int,
    hw: IntTable,
    segs: SegTable,
    wide: Wide,
) -> None:
    """Add `times` steps, of which `first` touch their outputs first, to the row `sums` of `steps`.

    Args:
        steps: State of the walk; ``KEY`` has the segments.
        sums: ``TOTALS`` or ``STEP0``.
        times: How many steps.
        first: How many of them need no read-back.
        compute: Compute cycles of each.
        inputs: Input elements for buffers of PEs.
        filters: Filter elements likewise.
        store: Output elements from them.
        hw: Layer, accelerator and options.
        segs: Segment table.
        wide: Chip and mapping.
    """
    n = wide.n
    load = 0
    past = 0
    if passes(1, INPUT, wide):
        load += n[WIDTH] * streamed_input(hw, steps, segs, wide)
    else:
        load += n[WIDTH] * inputs
        past += n[WIDTH] * inputs if passes(0, INPUT, wide) else 0
    if passes(1, FILTER, wide):
        load += n[WIDTH + 1] * streamed(hw[HW_FILTER], hw, steps, segs)
    else:
        load += n[WIDTH + 1] * filters
        past += n[WIDTH + 1] * filters if passes(0, FILTER, wide) else 0
    fresh = 0  # partial sums that a step reads back where it touches its outputs first
    if passes(1, OUTPUT, wide):
        store = streamed(hw[HW_OUTPUT], hw, steps, segs)
        fresh = store - output_elements(hw, steps, segs)
    direct = passes(0, OUTPUT, wide)
    past_out = store if direct else 0
    out = ceil_div(n[PSUM] * store, n[NOC_OUT_BW])
    out_past = ceil_div(n[LEAVE] * past_out, n[DRAM_OUT_BW])
    for flag in range(2):
        # steps that read back what others of their kind do, and those that need not
        for again in range(2):
            number = times - first if again else first
            if number == 0:
                continue
            back = n[PSUM] * (store if again or flag else fresh)
            back_past = back if direct else 0
            into = ceil_div(load + back, n[NOC_IN_BW])
            dram = max(ceil_div(past + back_past, n[DRAM_IN_BW]), out_past)
            longest = max(compute, into, out, dram)
            steps[sums, IN_CYCLES + flag] += number * into
            steps[sums, CYCLES + flag] += number * longest
            steps[sums, PAST_IN + flag] += number * (past + back_past)
            if longest == compute:
                continue
            by = BY_IN if longest == into else BY_OUT if longest == out else BY_DRAM
            steps[sums, by + flag] += number * longest
    steps[sums, OUT_CYCLES] += times * out
    steps[sums, PAST_OUT] += times * past_out


@inner_function
def add_wide_outer_steps(
    row: IntTable, times: int, flag: int, steps: IntTable, load: int, store: int, wide: Wide
) -> None:
    """Add `times` outer steps; as `add_outer_steps`, with what crosses the boundary itself.

    Args:
        row: The result row.
        times: Outer steps in the class.
        flag: 1 where partial sums of earlier outer steps are read back.
        steps: State of the walk.
        load: Bits from DRAM to L2 that the step's other work can hide.
        store: Output elements from L2 to DRAM.
        wide: Chip and mapping.
    """
    n = wide.n
    load += steps[TOTALS, PAST_IN + flag] + steps[STEP0, PAST_IN + flag]
    store += steps[TOTALS, PAST_OUT] + steps[STEP0, PAST_OUT]
    dram_in = ceil_div(load, n[DRAM_IN_BW])
    dram_out = ceil_div(n[LEAVE] * store, n[DRAM_OUT_BW])
    dram = max(dram_in, dram_out)
    cycles = steps[TOTALS, CYCLES + flag] + steps[STEP0, CYCLES + flag]
    if dram > cycles:
        row[LATENCY] += times * dram
        row[BOUND_DRAM] += times * dram
    else:
        by_in = steps[TOTALS, BY_IN + flag] + steps[STEP0, BY_IN + flag]
        by_out = steps[TOTALS, BY_OUT + flag] + steps[STEP0, BY_OUT + flag]
        by_dram = steps[TOTALS, BY_DRAM + flag] + steps[STEP0, BY_DRAM + flag]
        row[LATENCY] += times * cycles
        row[BOUND_COMPUTE] += times * (cycles - by_in - by_out - by_dram)
        row[BOUND_NOC_IN] += times * by_in
        row[BOUND_NOC_OUT] += times * by_out
        row[BOUND_DRAM] += times * by_dram
    row[NOC_IN] += times * (steps[TOTALS, IN_CYCLES + flag] + steps[STEP0, IN_CYCLES + flag])
    row[NOC_OUT] += times * (steps[TOTALS, OUT_CYCLES] + steps[STEP0, OUT_CYCLES])
    row[DRAM_IN_CYCLES] += times * dram_in
    row[DRAM_OUT_CYCLES] += times * dram_out


@inner_function
def held_bits(level: int, inputs: int, filters: int, wide: Wide) -> int:
    """Bits of input and filter that a level keeps (level 0 is L2, 1 is L1)."""
    n = wide.n
    bits = 0 if passes(level, INPUT, wide) else n[WIDTH] * inputs
    return bits + (0 if passes(level, FILTER, wide) else n[WIDTH + 1] * filters)


@inner_function
def add_wide_fill(
    row: IntTable, inputs: int, filters: int, l2_inputs: int, l2_filters: int, wide: Wide
) -> None:
    """Add the first tiles of the PEs (`inputs`, `filters`) and of L2, which precede all work."""
    n = wide.n
    direct = n[WIDTH] * inputs if passes(0, INPUT, wide) else 0
    direct += n[WIDTH + 1] * filters if passes(0, FILTER, wide) else 0
    fill = ceil_div(held_bits(1, inputs, filters, wide), n[NOC_IN_BW])
    bits = held_bits(0, l2_inputs, l2_filters, wide) + direct
    dram_fill = ceil_div(bits, n[DRAM_IN_BW])
    row[NOC_IN] += fill
    row[BOUND_NOC_IN] += fill
    row[DRAM_IN_CYCLES] += dram_fill
    row[BOUND_DRAM] += dram_fill
    row[LATENCY] += fill + dram_fill
