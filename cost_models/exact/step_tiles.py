"""What moves in one step: the tiles of L2 in an outer step, of the PEs in an inner one."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.layout import (
    HW_DIMS,
    HW_FILTER,
    HW_INPUT,
    HW_OUTPUT,
    PLAIN_MASK,
    SPAN,
    IntTable,
    R,
    RowTable,
    S,
    SegTable,
    X,
    Y,
)
from cost_models.exact.moves import SPAN_AT
from cost_models.exact.padding_steps import span_rows_after
from cost_models.exact.step_elements import (
    channels_of,
    compute_of,
    filter_elements,
    input_elements,
    output_elements,
    still_held,
)
from cost_models.exact.tables import KINDS, L2_MOVES, L2_TILES, PE_TILES
from cost_models.exact.wide import Wide

# fields of a row of tiles: elements of each tensor, what the input covers in C, N and G together,
# and compute cycles
IN: Final = 0
FILTER: Final = 1
OUT: Final = 2
CHANNELS: Final = 3
COMPUTE: Final = 4


@inner_function
def span_product(mask: int, hw: IntTable, steps: IntTable, dims: IntTable) -> int:
    """Product of L2's ranges along the dimensions in `mask`."""
    product = 1
    for d in range(hw[HW_DIMS]):
        if (mask >> d) & 1:
            product *= dims[d, SPAN + steps[KINDS, d]]
    return product


@inner_function
def fill_l2_tiles(
    hw: IntTable, steps: IntTable, dims: IntTable, span_kept: RowTable, wide: Wide | None
) -> None:
    """What L2 holds in an outer step whose classes are ``KINDS``."""
    channels = span_product(hw[HW_INPUT] & PLAIN_MASK, hw, steps, dims)
    y, r = SPAN_AT + steps[KINDS, Y], SPAN_AT + steps[KINDS, R]
    x, s = SPAN_AT + steps[KINDS, X], SPAN_AT + steps[KINDS, S]
    rows = span_rows_after(0, y, r, hw, steps, span_kept, wide)
    columns = span_rows_after(1, x, s, hw, steps, span_kept, wide)
    steps[L2_TILES, IN] = channels * rows * columns
    steps[L2_TILES, FILTER] = span_product(hw[HW_FILTER], hw, steps, dims)
    steps[L2_TILES, OUT] = span_product(hw[HW_OUTPUT], hw, steps, dims)
    steps[L2_TILES, CHANNELS] = channels


@inner_function
def fill_pe_tiles(
    hw: IntTable, steps: IntTable, segs: SegTable, kept: RowTable, wide: Wide | None
) -> None:
    """What crosses the NoC in an inner step whose segments are ``KEY``."""
    channels = channels_of(hw, steps, segs)
    steps[PE_TILES, IN] = input_elements(channels, hw, steps, kept, wide)
    steps[PE_TILES, FILTER] = filter_elements(hw, steps, segs)
    steps[PE_TILES, OUT] = output_elements(hw, steps, segs)
    steps[PE_TILES, CHANNELS] = channels
    steps[PE_TILES, COMPUTE] = compute_of(hw, steps, segs)


@inner_function
def next_inputs(tiles: int, moved: int, held: int, hw: IntTable, steps: IntTable) -> int:
    """Input elements to load when the counters in `moved` changed.

    Args:
        tiles: Row of `steps` that holds the step's tiles.
        moved: Mask of dimensions.
        held: Input elements that are still held where C, N and G stayed.
        hw: Layer, accelerator and options.
        steps: State of the walk.
    """
    if not moved & hw[HW_INPUT]:
        return 0
    return steps[tiles, IN] - (0 if moved & PLAIN_MASK else held)


@inner_function
def next_filters(tiles: int, moved: int, hw: IntTable, steps: IntTable) -> int:
    """Filter elements likewise."""
    return steps[tiles, FILTER] if moved & hw[HW_FILTER] else 0


@inner_function
def held_by_l2(hw: IntTable, steps: IntTable, span_kept: RowTable, wide: Wide | None) -> int:
    """Input elements that L2 holds since the outer step before, where C, N and G stayed."""
    y, r = steps[L2_MOVES, Y], steps[L2_MOVES, R]
    x, s = steps[L2_MOVES, X], steps[L2_MOVES, S]
    rows = span_rows_after(0, y, r, hw, steps, span_kept, wide)
    columns = span_rows_after(1, x, s, hw, steps, span_kept, wide)
    return steps[L2_TILES, CHANNELS] * rows * columns


@inner_function
def held_by_pes(hw: IntTable, steps: IntTable, kept: RowTable, wide: Wide | None) -> int:
    """Input elements that need not cross the NoC as PEs hold them, where C, N and G stayed."""
    return still_held(steps[PE_TILES, CHANNELS], hw, steps, kept, wide)
