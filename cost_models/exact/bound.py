"""The latency's lower bound: the longest of compute and the four directions of traffic."""

from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    BOUND_COMPUTE,
    COMPUTE,
    DRAM_FIL,
    DRAM_IN,
    DRAM_IN_CYCLES,
    DRAM_OUT_CYCLES,
    DRAM_OUT_R,
    DRAM_OUT_W,
    HW_NOC,
    HW_OFFCHIP,
    HW_TILE,
    L2R_FIL,
    L2R_IN,
    L2R_IN_TILE,
    L2R_PSUM,
    L2W_OUT,
    LATENCY,
    NOC_IN,
    NOC_OUT,
    IntTable,
)
from cost_models.exact.step_elements import ceil_div


@inner_function
def bound_latency(row: IntTable, hw: IntTable) -> None:
    """Latency and its parts into `row`, from the traffic that is already there."""
    load = row[L2R_IN_TILE] if hw[HW_TILE] else row[L2R_IN]
    noc_in = ceil_div(load + row[L2R_FIL] + row[L2R_PSUM], hw[HW_NOC])
    noc_out = ceil_div(row[L2W_OUT], hw[HW_NOC])
    dram_in = ceil_div(row[DRAM_IN] + row[DRAM_FIL] + row[DRAM_OUT_R], hw[HW_OFFCHIP])
    dram_out = ceil_div(row[DRAM_OUT_W], hw[HW_OFFCHIP])
    set_bound(row, noc_in, noc_out, dram_in, dram_out)


@inner_function
def set_bound(row: IntTable, noc_in: int, noc_out: int, dram_in: int, dram_out: int) -> None:
    """The longest of compute and the given cycles, and what binds it, into `row`."""
    row[NOC_IN] = noc_in
    row[NOC_OUT] = noc_out
    row[DRAM_IN_CYCLES] = dram_in
    row[DRAM_OUT_CYCLES] = dram_out
    longest = row[COMPUTE]
    binding = 0
    if noc_in > longest:
        longest, binding = noc_in, 1
    if noc_out > longest:
        longest, binding = noc_out, 2
    if max(dram_in, dram_out) > longest:
        longest, binding = max(dram_in, dram_out), 3
    row[LATENCY] = longest
    row[BOUND_COMPUTE + binding] = longest
