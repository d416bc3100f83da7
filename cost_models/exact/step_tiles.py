"""What moves in one step: the tiles of L2 in an outer step, of the PEs in an inner one."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common.jit import inner_function
from cost_models.exact.inner import (
    can_slide,
    compute_of,
    filter_elements,
    input_elements,
    output_elements,
    shared_elements,
)
from cost_models.exact.layout import (
    FILTER_MASK,
    HW_DEPTHWISE,
    HW_LANES,
    HW_SLIDE,
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

# fields of a row of tiles: elements of each tensor, and input elements that a slide along Y or X
# does not fetch again
IN = 0
FILTER = 1
OUT = 2
SAVED_Y = 3
SAVED_X = 4


@inner_function
def fill_l2_tiles(tiles: IntTable, kinds: IntTable, dims: IntTable, hw: IntTable) -> None:
    """What L2 holds in an outer step whose classes are `kinds`."""
    stride = hw[HW_STRIDE]
    channels = dims[C, SPAN + kinds[C]]
    filters = dims[K, SPAN + kinds[K]]
    y, x = dims[Y, SPAN + kinds[Y]], dims[X, SPAN + kinds[X]]
    r, s = dims[R, SPAN + kinds[R]], dims[S, SPAN + kinds[S]]
    rows, cols = footprint(y, r, stride), footprint(x, s, stride)
    slides = hw[HW_SLIDE]
    tiles[IN] = channels * rows * cols
    tiles[FILTER] = filters * channels * r * s
    tiles[OUT] = (channels if hw[HW_DEPTHWISE] else filters) * y * x
    tiles[SAVED_Y] = slides * channels * max(r - stride, 0) * cols
    tiles[SAVED_X] = slides * channels * max(s - stride, 0) * rows


@inner_function
def fill_pe_tiles(
    tiles: IntTable, key: IntTable, segs: SegTable, rows: RowTable, hw: IntTable, fixed: int
) -> int:
    """What crosses the NoC in an inner step whose segments are `key`; returns its cycles."""
    depthwise = hw[HW_DEPTHWISE] == 1
    tiles[IN] = input_elements(key, segs, rows)
    tiles[FILTER] = filter_elements(key, segs)
    tiles[OUT] = output_elements(C if depthwise else K, key, segs)
    for axis in range(Y, X + 1):
        saved = shared_elements(axis, key, segs, rows) if can_slide(axis, hw, fixed) else 0
        tiles[SAVED_Y + axis - Y] = saved
    return compute_of(key, segs, hw[HW_LANES])


@inner_function
def loaded(tiles: IntTable, moved: int, axis: int) -> int:
    """Input and filter elements to load when the counters in `moved` changed.

    Args:
        tiles: The step's tiles.
        moved: Mask of dimensions.
        axis: The dimension that advanced; where it is the only one of the input's that moved, what
            a slide saves is not loaded.
    """
    elements = 0
    if moved & INPUT_MASK:
        elements = tiles[IN]
        if moved & INPUT_MASK == 1 << axis and Y <= axis <= X:
            elements -= tiles[SAVED_Y + axis - Y]
    if moved & FILTER_MASK:
        elements += tiles[FILTER]
    return elements
