"""Elements that cross the NoC in an inner step of given segments, and its compute cycles."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    HW_DIMS,
    HW_FILTER,
    HW_INPUT,
    HW_LANES,
    HW_OUTPUT,
    LEAD,
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
from cost_models.exact.moves import AT
from cost_models.exact.padding_steps import rows_after
from cost_models.exact.tables import KEY, PE_MOVES
from cost_models.exact.wide import Wide


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
def input_elements(
    channels: int, hw: IntTable, steps: IntTable, kept: RowTable, wide: Wide | None
) -> int:
    """Input elements that cross the NoC in a step whose segments are ``KEY``."""
    rows = rows_after(0, AT + steps[KEY, Y], AT + steps[KEY, R], hw, steps, kept, wide)
    columns = rows_after(1, AT + steps[KEY, X], AT + steps[KEY, S], hw, steps, kept, wide)
    return channels * rows * columns


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
def still_held(
    channels: int, hw: IntTable, steps: IntTable, kept: RowTable, wide: Wide | None
) -> int:
    """Input elements that need not cross the NoC, as PEs hold them since the step before."""
    rows = rows_after(0, steps[PE_MOVES, Y], steps[PE_MOVES, R], hw, steps, kept, wide)
    columns = rows_after(1, steps[PE_MOVES, X], steps[PE_MOVES, S], hw, steps, kept, wide)
    return channels * rows * columns
