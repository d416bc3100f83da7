"""What moves in one step: the tiles of L2 in an outer step, of the PEs in an inner one."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common.jit import inner_function
from cost_models.exact.inner import (
    can_slide,
    compute_of,
    filter_elements,
    input_elements,
    output_elements,
    shared_elements,
    still_held,
)
from cost_models.exact.layout import (
    FILTER_MASK,
    HALO_RETAIN,
    HALO_SLIDE,
    HW_DEPTHWISE,
    HW_HALO,
    HW_LANES,
    HW_STRIDE,
    INPUT_MASK,
    SPAN,
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
from cost_models.exact.tables import KINDS, L2_MOVES, L2_TILES, PE_TILES

# fields of a row of tiles: elements of each tensor, input elements that a slide along Y or X does
# not fetch again, compute cycles, and input channels
IN: Final = 0
FILTER: Final = 1
OUT: Final = 2
SAVED_Y: Final = 3
SAVED_X: Final = 4
COMPUTE: Final = 5
CHANNELS: Final = 6


@inner_function
def fill_l2_tiles(hw: IntTable, steps: IntTable, dims: IntTable) -> None:
    """What L2 holds in an outer step whose classes are ``KINDS``."""
    stride = hw[HW_STRIDE]
    channels = dims[C, SPAN + steps[KINDS, C]]
    filters = dims[K, SPAN + steps[KINDS, K]]
    y, x = dims[Y, SPAN + steps[KINDS, Y]], dims[X, SPAN + steps[KINDS, X]]
    r, s = dims[R, SPAN + steps[KINDS, R]], dims[S, SPAN + steps[KINDS, S]]
    rows, cols = footprint(y, r, stride), footprint(x, s, stride)
    steps[L2_TILES, IN] = channels * rows * cols
    steps[L2_TILES, FILTER] = filters * channels * r * s
    steps[L2_TILES, OUT] = (channels if hw[HW_DEPTHWISE] else filters) * y * x
    steps[L2_TILES, SAVED_Y] = channels * max(r - stride, 0) * cols
    steps[L2_TILES, SAVED_X] = channels * max(s - stride, 0) * rows
    steps[L2_TILES, CHANNELS] = channels


@inner_function
def fill_pe_tiles(
    hw: IntTable, fixed: int, steps: IntTable, segs: SegTable, rows: RowTable
) -> None:
    """What crosses the NoC in an inner step whose segments are ``KEY``."""
    steps[PE_TILES, IN] = input_elements(steps, segs, rows)
    steps[PE_TILES, FILTER] = filter_elements(steps, segs)
    steps[PE_TILES, OUT] = output_elements(C if hw[HW_DEPTHWISE] else K, steps, segs)
    for axis in range(Y, X + 1):
        saved = shared_elements(axis, steps, segs, rows) if can_slide(axis, hw, fixed) else 0
        steps[PE_TILES, SAVED_Y + axis - Y] = saved
    steps[PE_TILES, COMPUTE] = compute_of(steps, segs, hw[HW_LANES])


@inner_function
def next_load(
    tiles: int, advancing: int, moved: int, hw: IntTable, held: int, steps: IntTable
) -> int:
    """Input and filter elements to load when the counters in `moved` changed.

    Args:
        tiles: Row of `steps` that holds the step's tiles.
        advancing: The dimension that advanced.
        moved: Mask of dimensions.
        hw: Layer, accelerator and options.
        held: Input elements that are still held, where buffers keep what they hold.
        steps: State of the walk.
    """
    elements = 0
    if moved & INPUT_MASK:
        elements = steps[tiles, IN] - held
        slides = hw[HW_HALO] == HALO_SLIDE and Y <= advancing <= X
        if slides and moved & INPUT_MASK == 1 << advancing:
            elements -= steps[tiles, SAVED_Y + advancing - Y]
    if moved & FILTER_MASK:
        elements += steps[tiles, FILTER]
    return elements


@inner_function
def held_by_l2(hw: IntTable, moved: int, steps: IntTable, span_kept: RowTable) -> int:
    """Input elements that L2 holds since the outer step before."""
    if hw[HW_HALO] != HALO_RETAIN or (moved >> C) & 1:
        return 0
    held = span_kept[0, steps[L2_MOVES, Y], steps[L2_MOVES, R]]
    held *= span_kept[1, steps[L2_MOVES, X], steps[L2_MOVES, S]]
    return steps[L2_TILES, CHANNELS] * held


@inner_function
def held_by_pes(hw: IntTable, moved: int, steps: IntTable, segs: SegTable, kept: RowTable) -> int:
    """Input elements that need not cross the NoC, as PEs hold them."""
    if hw[HW_HALO] != HALO_RETAIN or (moved >> C) & 1:
        return 0
    return still_held(hw, steps, segs, kept)
