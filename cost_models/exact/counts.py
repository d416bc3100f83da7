"""Traffic in closed form: the truncated nest, and the credit for a sliding window.

A tensor moves when a counter of one of its own dimensions changes. Loops inside the innermost such
loop that has more than one iteration never move it, all loops outside do. Whether an inner loop has
more than one iteration depends on the outer step, so the sums run over "still" steps (one
iteration) and the others apart.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from numba import njit

from cost_models.exact.layout import (
    CLASSES,
    COUNT,
    EXTENT,
    HOLES,
    INPUT_MASK,
    OUTER,
    PLACED,
    PLACES,
    PLACES_FIRST,
    PLACES_J0,
    SPAN,
    STEPS,
    STILL,
    TAILS,
    C,
    IntTable,
    K,
    R,
    RowTable,
    S,
    X,
    Y,
)


@njit
def innermost(order: IntTable, mask: int, dims: IntTable) -> int:
    """Position of the innermost outer loop of `mask` with more than one iteration, or -1."""
    for place in range(5, -1, -1):
        d = order[place]
        if (mask >> d) & 1 and dims[d, OUTER] > 1:
            return place
    return -1


@njit
def uncoupled_outer(order: IntTable, mask: int, place: int, dims: IntTable) -> int:
    """Iterations of the outer loops not in `mask` that lie outside position `place`."""
    times = 1
    for k in range(place):
        if not (mask >> order[k]) & 1:
            times *= dims[order[k], OUTER]
    return times


@njit
def volume(
    mask: int, outer_order: IntTable, inner_order: IntTable, dims: IntTable
) -> tuple[int, int]:
    """Elements of a filter or output tensor that cross the NoC, and that PEs receive in all.

    Args:
        mask: Dimensions the tensor is coupled to.
        outer_order: Loop order of the outer level, outermost first.
        inner_order: Loop order of the inner level.
        dims: Dimension table.

    Returns:
        Distinct elements a step summed over steps, and the same summed over PEs.
    """
    distinct = 0
    delivered = 0
    inside = 0
    for place in range(5, -1, -1):
        d = inner_order[place]
        if (mask >> d) & 1:
            moving = dims[d, EXTENT] - dims[d, STILL + 1]
            if moving > 0:
                once = moving
                each = moving
                for e in range(6):
                    within = (inside >> e) & 1
                    if e == d:
                        continue
                    if (mask >> e) & 1:
                        size = dims[e, STILL + within]
                        once *= size
                        each *= size
                    elif within:
                        once *= dims[e, OUTER]
                        each *= dims[e, PLACES_J0]
                    else:
                        once *= dims[e, STEPS]
                        each *= dims[e, PLACES]
                distinct += once
                delivered += each
            if dims[d, STILL + 1] == 0:
                return distinct, delivered
        inside |= 1 << d
    last = innermost(outer_order, mask, dims)
    once = 1
    each = 1
    for place in range(6):
        d = outer_order[place]
        if (mask >> d) & 1:
            once *= dims[d, STILL + 1]
            each *= dims[d, STILL + 1]
        elif place < last:
            once *= dims[d, OUTER]
            each *= dims[d, PLACES_J0]
        else:
            each *= dims[d, PLACES_FIRST]
    return distinct + once, delivered + each


@njit
def tile_row_sum(dims: IntTable, axis: int, a: int, taps: int, b: int) -> int:
    """Rows summed over steps and PE positions, for subset `a` of the axis and `b` of the taps."""
    return (
        dims[axis, STILL + a] * dims[taps, HOLES + b]
        + dims[axis, PLACED + a] * dims[taps, TAILS + b]
    )


@njit
def moving_rows(
    d: int, axis: int, taps: int, within: int, dims: IntTable, sums: RowTable, pair: int
) -> tuple[int, int]:
    """Row factor of a (axis, taps) pair where `d` moves: distinct rows, and rows of every tile."""
    a = (within >> axis) & 1
    b = (within >> taps) & 1
    if d == axis:
        return (
            sums[pair, 0, b] - sums[pair, 1, b],
            tile_row_sum(dims, axis, 0, taps, b) - tile_row_sum(dims, axis, 1, taps, b),
        )
    if d == taps:
        return (
            sums[pair, a, 0] - sums[pair, a, 1],
            tile_row_sum(dims, axis, a, taps, 0) - tile_row_sum(dims, axis, a, taps, 1),
        )
    return sums[pair, a, b], tile_row_sum(dims, axis, a, taps, b)


@njit
def input_volume(
    outer_order: IntTable, inner_order: IntTable, dims: IntTable, sums: RowTable
) -> tuple[int, int, int]:
    """Input elements without sliding credit.

    Returns:
        Distinct elements a step summed over steps; the same with every distinct tile in full; and
        what all PEs receive.
    """
    distinct = 0
    tiles = 0
    delivered = 0
    within = 0
    for place in range(5, -1, -1):
        d = inner_order[place]
        if d != K:
            still = dims[d, STILL + 1]
            moving = dims[d, EXTENT] - still
            if moving > 0:
                channels = moving if d == C else dims[C, STILL + ((within >> C) & 1)]
                rows, rows_all = moving_rows(d, Y, R, within, dims, sums, 0)
                cols, cols_all = moving_rows(d, X, S, within, dims, sums, 1)
                inside = (within >> K) & 1
                repeats = dims[K, OUTER] if inside else dims[K, STEPS]
                places = dims[K, PLACES_J0] if inside else dims[K, PLACES]
                distinct += channels * rows * cols * repeats
                tiles += channels * rows_all * cols_all * repeats
                delivered += channels * rows_all * cols_all * places
            if still == 0:
                return distinct, tiles, delivered
        within |= 1 << d
    last = innermost(outer_order, INPUT_MASK, dims)
    repeats = uncoupled_outer(outer_order, INPUT_MASK, last, dims)
    places = dims[K, PLACES_FIRST]
    for place in range(last):
        if outer_order[place] == K:
            places = dims[K, PLACES_J0]
    channels = dims[C, STILL + 1]
    distinct += channels * sums[0, 1, 1] * sums[1, 1, 1] * repeats
    every = channels * tile_row_sum(dims, Y, 1, R, 1) * tile_row_sum(dims, X, 1, S, 1)
    return distinct, tiles + every * repeats, delivered + every * places


@njit
def slide_credit(
    axis: int, outer_order: IntTable, inner_order: IntTable, dims: IntTable, sums: RowTable
) -> tuple[int, int, int]:
    """Input elements that PEs still hold when only `axis` (Y or X) moved on, as `input_volume`.

    The axis and its taps must be temporal at both levels.
    """
    if axis == Y:
        taps, other, other_taps, pair = R, X, S, 1
    else:
        taps, other, other_taps, pair = S, Y, R, 0
    if dims[taps, TAILS] == 0:
        return 0, 0, 0
    distinct = 0
    tiles = 0
    delivered = 0
    advances = dims[axis, STEPS] - dims[axis, OUTER]
    if advances > 0:
        within = 0
        for place in range(5, -1, -1):
            if inner_order[place] == axis:
                break
            within |= 1 << inner_order[place]
        a = (within >> other) & 1
        b = (within >> other_taps) & 1
        inside = (within >> K) & 1
        shared = (
            advances
            * dims[C, STILL + ((within >> C) & 1)]
            * dims[taps, TAILS + ((within >> taps) & 1)]
        )
        repeats = dims[K, OUTER] if inside else dims[K, STEPS]
        places = dims[K, PLACES_J0] if inside else dims[K, PLACES]
        every = shared * tile_row_sum(dims, other, a, other_taps, b)
        distinct += shared * sums[pair, a, b] * repeats
        tiles += every * repeats
        delivered += every * places
    last = innermost(outer_order, INPUT_MASK, dims)
    if last >= 0 and outer_order[last] == axis:
        shared = (dims[axis, OUTER] - 1) * dims[C, STILL + 1] * dims[taps, TAILS + 1]
        repeats = uncoupled_outer(outer_order, INPUT_MASK, last, dims)
        places = dims[K, PLACES_FIRST]
        for place in range(last):
            if outer_order[place] == K:
                places = dims[K, PLACES_J0]
        every = shared * tile_row_sum(dims, other, 1, other_taps, 1)
        distinct += shared * sums[pair, 1, 1] * repeats
        tiles += every * repeats
        delivered += every * places
    return distinct, tiles, delivered


@njit
def outer_rows(dims: IntTable, axis: int, taps: int, stride: int) -> int:
    """Rows of the L2 tile summed over the outer steps of an axis and of its taps."""
    holes = 0
    for kind in range(dims[taps, CLASSES]):
        holes += dims[taps, COUNT + kind] * min(stride, dims[taps, SPAN + kind])
    return dims[axis, EXTENT] * holes + dims[axis, OUTER] * outer_tails(dims, taps, stride)


@njit
def outer_tails(dims: IntTable, taps: int, stride: int) -> int:
    """Rows that a slide saves, summed over the outer steps of the taps."""
    tails = 0
    for kind in range(dims[taps, CLASSES]):
        tails += dims[taps, COUNT + kind] * max(dims[taps, SPAN + kind] - stride, 0)
    return tails


@njit
def dram_input(outer_order: IntTable, dims: IntTable, stride: int, slide: bool) -> int:
    """Input elements read from DRAM."""
    last = innermost(outer_order, INPUT_MASK, dims)
    repeats = dims[C, EXTENT] * uncoupled_outer(outer_order, INPUT_MASK, last, dims)
    rows = outer_rows(dims, Y, R, stride)
    cols = outer_rows(dims, X, S, stride)
    if slide and last >= 0:
        if outer_order[last] == Y:
            rows -= (dims[Y, OUTER] - 1) * outer_tails(dims, R, stride)
        elif outer_order[last] == X:
            cols -= (dims[X, OUTER] - 1) * outer_tails(dims, S, stride)
    return repeats * rows * cols


@njit
def dram_tensor(mask: int, outer_order: IntTable, dims: IntTable) -> int:
    """Filter elements read from DRAM, or output elements written to it."""
    last = innermost(outer_order, mask, dims)
    elements = uncoupled_outer(outer_order, mask, last, dims)
    for d in range(6):
        if (mask >> d) & 1:
            elements *= dims[d, EXTENT]
    return elements
