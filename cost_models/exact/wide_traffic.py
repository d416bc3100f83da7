"""Traffic and limits where tensors pass a level, differ in width, or have capacities apart."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.bound import set_bound
from cost_models.exact.layout import (
    DRAM_FIL,
    DRAM_FIL_DIRECT,
    DRAM_IN,
    DRAM_IN_BW,
    DRAM_IN_DIRECT,
    DRAM_OUT_BW,
    DRAM_OUT_R,
    DRAM_OUT_R_DIRECT,
    DRAM_OUT_W,
    DRAM_OUT_W_DIRECT,
    EXTENT,
    FILTER,
    HW_DIMS,
    HW_FILTER,
    HW_INPUT,
    HW_OUTPUT,
    HW_TILE,
    INPUT,
    L1DRAIN_OUT,
    L1W_FIL,
    L1W_IN,
    L2R_FIL,
    L2R_FIL_TILE,
    L2R_IN,
    L2R_IN_TILE,
    L2R_PSUM,
    L2W_OUT,
    L2W_OUT_TILE,
    LEAD_SUM,
    LEAVE,
    MACS,
    NOC_IN_BW,
    NOC_OUT_BW,
    OUTPUT,
    PLAIN_MASK,
    SKIPPED_FIL,
    SKIPPED_IN,
    SKIPPED_OUT,
    WIDTH,
    IntTable,
    K,
)
from cost_models.exact.step_elements import ceil_div
from cost_models.exact.wide import Wide, passes


@inner_function
def streamed_sum(mask: int, hw: IntTable, dims: IntTable) -> int:
    """Distinct elements of a filter or output tensor that MACs touch, moment by moment."""
    elements = 1
    for d in range(hw[HW_DIMS]):
        elements *= dims[d, EXTENT if (mask >> d) & 1 else LEAD_SUM]
    return elements


@inner_function
def route_input(row: IntTable, hw: IntTable, dims: IntTable, wide: Wide) -> None:
    """Bring the input's traffic, as if no level were passed, to what it is."""
    if passes(1, INPUT, wide):
        channels = dims[K, LEAD_SUM]
        for d in range(hw[HW_DIMS]):
            if (hw[HW_INPUT] & PLAIN_MASK) >> d & 1:
                channels *= dims[d, EXTENT]
        sums = wide.moment_sums
        row[L2R_IN] = channels * sums[0, 0] * sums[1, 0]
        row[L2R_IN_TILE] = channels * sums[0, 1] * sums[1, 1]
        row[L1W_IN] = 0
        row[SKIPPED_IN] = row[MACS]
    elif passes(0, INPUT, wide):
        direct = row[L2R_IN_TILE] if hw[HW_TILE] else row[L2R_IN]
        row[DRAM_IN] = direct
        row[DRAM_IN_DIRECT] = direct
        row[L2R_IN] = 0
        row[L2R_IN_TILE] = 0


@inner_function
def route_filter(row: IntTable, hw: IntTable, dims: IntTable, wide: Wide) -> None:
    """The filter's traffic likewise."""
    if passes(1, FILTER, wide):
        elements = streamed_sum(hw[HW_FILTER], hw, dims)
        row[L2R_FIL] = elements
        row[L2R_FIL_TILE] = elements
        row[L1W_FIL] = 0
        row[SKIPPED_FIL] = row[MACS]
    elif passes(0, FILTER, wide):
        row[DRAM_FIL] = row[L2R_FIL]
        row[DRAM_FIL_DIRECT] = row[L2R_FIL]
        row[L2R_FIL] = 0
        row[L2R_FIL_TILE] = 0


@inner_function
def route_output(row: IntTable, hw: IntTable, dims: IntTable, wide: Wide) -> None:
    """The output's traffic likewise; all but the first write of an element is read back."""
    if passes(1, OUTPUT, wide):
        writes = streamed_sum(hw[HW_OUTPUT], hw, dims)
        row[L2R_PSUM] += writes - row[L2W_OUT]
        row[L2W_OUT] = writes
        row[L2W_OUT_TILE] = writes
        row[L1DRAIN_OUT] = row[MACS]
        row[SKIPPED_OUT] = row[MACS] + row[L2R_PSUM]
    elif passes(0, OUTPUT, wide):
        row[DRAM_OUT_W] = row[L2W_OUT]
        row[DRAM_OUT_W_DIRECT] = row[L2W_OUT]
        row[DRAM_OUT_R] = row[L2R_PSUM]
        row[DRAM_OUT_R_DIRECT] = row[L2R_PSUM]
        row[L2W_OUT] = 0
        row[L2W_OUT_TILE] = 0
        row[L2R_PSUM] = 0
    # one width a mapping: that of outputs where no partial sum crosses the boundary
    wide.n[LEAVE] = wide.n[WIDTH + (3 if row[DRAM_OUT_R] > 0 else 2)]


@inner_function
def route(row: IntTable, hw: IntTable, dims: IntTable, wide: Wide) -> None:
    """The traffic of all tensors likewise."""
    route_input(row, hw, dims, wide)
    route_filter(row, hw, dims, wide)
    route_output(row, hw, dims, wide)


@inner_function
def wide_bound(row: IntTable, hw: IntTable, wide: Wide) -> None:
    """As `bound.bound_latency`, in bits."""
    n = wide.n
    inputs = row[L2R_IN_TILE] if hw[HW_TILE] else row[L2R_IN]
    inputs += row[DRAM_IN_DIRECT]
    filters = row[L2R_FIL] + row[DRAM_FIL_DIRECT]
    back = row[L2R_PSUM] + row[DRAM_OUT_R_DIRECT]
    load = n[WIDTH] * inputs + n[WIDTH + 1] * filters + n[WIDTH + 3] * back
    store = n[WIDTH + 3] * (row[L2W_OUT] + row[DRAM_OUT_W_DIRECT])
    dram = n[WIDTH] * row[DRAM_IN] + n[WIDTH + 1] * row[DRAM_FIL]
    dram += n[WIDTH + 3] * row[DRAM_OUT_R]
    set_bound(
        row,
        ceil_div(load, n[NOC_IN_BW]),
        ceil_div(store, n[NOC_OUT_BW]),
        ceil_div(dram, n[DRAM_IN_BW]),
        ceil_div(n[LEAVE] * row[DRAM_OUT_W], n[DRAM_OUT_BW]),
    )
