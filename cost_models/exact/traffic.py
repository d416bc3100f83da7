"""The traffic of the three tensors over both boundaries, in closed form."""

from __future__ import annotations

from common import inner_function
from cost_models.exact.counts import dram_tensor, volume
from cost_models.exact.input_volume import dram_input, input_volume
from cost_models.exact.layout import (
    DRAM_FIL,
    DRAM_IN,
    DRAM_OUT_R,
    DRAM_OUT_W,
    EXTENT,
    HW_DIMS,
    HW_FILTER,
    HW_OUTPUT,
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
    IntTable,
    RowTable,
)
from cost_models.exact.tables import EVENT


@inner_function
def fill_input(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    dims: IntTable,
    kept_sums: RowTable,
    span_sums: RowTable,
    steps: IntTable,
) -> None:
    """The traffic of the input, into `row`."""
    row[DRAM_IN] = dram_input(hw, outer_order, dims, span_sums, steps[EVENT])
    row[L2R_IN], row[L2R_IN_TILE], row[L1W_IN] = input_volume(
        hw, outer_order, inner_order, dims, kept_sums, steps[EVENT]
    )


@inner_function
def fill_traffic(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    dims: IntTable,
    kept_sums: RowTable,
    span_sums: RowTable,
    steps: IntTable,
) -> None:
    """The traffic of the three tensors over both boundaries, into `row`."""
    count = hw[HW_DIMS]
    fill_input(row, hw, outer_order, inner_order, dims, kept_sums, span_sums, steps)
    row[DRAM_FIL] = dram_tensor(hw[HW_FILTER], outer_order, count, dims)
    distinct, delivered = volume(hw[HW_FILTER], outer_order, inner_order, count, dims)
    row[L2R_FIL] = distinct
    row[L2R_FIL_TILE] = distinct
    row[L1W_FIL] = delivered
    row[DRAM_OUT_W] = dram_tensor(hw[HW_OUTPUT], outer_order, count, dims)
    distinct, delivered = volume(hw[HW_OUTPUT], outer_order, inner_order, count, dims)
    row[L2W_OUT] = distinct
    row[L2W_OUT_TILE] = distinct
    row[L1DRAIN_OUT] = delivered
    unique = 1
    for d in range(count):
        if (hw[HW_OUTPUT] >> d) & 1:
            unique *= dims[d, EXTENT]
    # all but the first write of an element is read back
    row[DRAM_OUT_R] = row[DRAM_OUT_W] - unique
    row[L2R_PSUM] = row[L2W_OUT] - unique
