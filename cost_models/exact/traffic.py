"""The traffic of the three tensors over both boundaries, in closed form."""

from __future__ import annotations

from common.jit import inner_function
from cost_models.exact.counts import dram_input, dram_tensor, input_volume, slide_credit, volume
from cost_models.exact.layout import (
    DEPTHWISE_OUTPUT_MASK,
    DRAM_FIL,
    DRAM_IN,
    DRAM_OUT_R,
    DRAM_OUT_W,
    EXTENT,
    FILTER_MASK,
    HALO_RETAIN,
    HALO_SLIDE,
    HW_DEPTHWISE,
    HW_HALO,
    HW_STRIDE,
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
    OUTPUT_MASK,
    C,
    IntTable,
    K,
    R,
    RowTable,
    X,
    Y,
)
from cost_models.exact.retain import retained_dram_input, retained_input
from cost_models.exact.tables import EVENT


@inner_function
def fill_reloaded_input(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    fixed: int,
    dims: IntTable,
    sums: RowTable,
) -> None:
    """Input traffic where a moving tile is fetched in full, or less what a slide leaves."""
    slide = hw[HW_HALO] == HALO_SLIDE
    row[DRAM_IN] = dram_input(outer_order, dims, hw[HW_STRIDE], slide)
    distinct, tiles, delivered = input_volume(outer_order, inner_order, dims, sums)
    if slide:
        for axis in range(Y, X + 1):
            # PEs keep what they hold only where the axis and its taps are temporal
            if not fixed & ((1 << axis) | (1 << (axis + R - Y))):
                a, b, c = slide_credit(axis, outer_order, inner_order, dims, sums)
                distinct -= a
                tiles -= b
                delivered -= c
    row[L2R_IN] = distinct
    row[L2R_IN_TILE] = tiles
    row[L1W_IN] = delivered


@inner_function
def fill_traffic(
    row: IntTable,
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    fixed: int,
    dims: IntTable,
    sums: RowTable,
    kept_sums: RowTable,
    span_sums: RowTable,
    steps: IntTable,
) -> None:
    """The traffic of the three tensors over both boundaries, into `row`."""
    output_mask = DEPTHWISE_OUTPUT_MASK if hw[HW_DEPTHWISE] else OUTPUT_MASK
    if hw[HW_HALO] == HALO_RETAIN:
        events = steps[EVENT]
        row[DRAM_IN] = retained_dram_input(outer_order, dims, span_sums, events)
        row[L2R_IN], row[L2R_IN_TILE], row[L1W_IN] = retained_input(
            outer_order, inner_order, dims, kept_sums, events
        )
    else:
        fill_reloaded_input(row, hw, outer_order, inner_order, fixed, dims, sums)
    for tensor in range(2):
        mask = output_mask if tensor else FILTER_MASK
        elements = dram_tensor(mask, outer_order, dims)
        distinct, delivered = volume(mask, outer_order, inner_order, dims)
        row[DRAM_OUT_W if tensor else DRAM_FIL] = elements
        row[L2W_OUT if tensor else L2R_FIL] = distinct
        row[L2W_OUT_TILE if tensor else L2R_FIL_TILE] = distinct
        row[L1DRAIN_OUT if tensor else L1W_FIL] = delivered
    unique = dims[Y, EXTENT] * dims[X, EXTENT]
    unique *= dims[C, EXTENT] if hw[HW_DEPTHWISE] else dims[K, EXTENT]
    # all but the first write of an element is read back
    row[DRAM_OUT_R] = row[DRAM_OUT_W] - unique
    row[L2R_PSUM] = row[L2W_OUT] - unique
