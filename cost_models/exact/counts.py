"""Traffic in closed form: the truncated nest, and the credit for a sliding window.

A tensor moves when a counter of one of its own dimensions changes. Loops inside the innermost such
loop that has more than one iteration never move it, all loops outside do. Whether an inner loop has
more than one iteration depends on the outer step, so the sums run over "still" steps (one
iteration) and the others apart.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from numba import int64

from common.jit import inner_function
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
    Y,
)


@inner_function
def innermost(order: IntTable, mask: int, dims: IntTable) -> int:
    """Position of the innermost outer loop of `mask` with more than one iteration, or -1."""
    for place in range(5, -1, -1):
        d = order[place]
        if (mask >> d) & 1 and dims[d, OUTER] > 1:
            return place
    return -1


@inner_function
def uncoupled_outer(order: IntTable, mask: int, place: int, dims: IntTable) -> int:
    """Iterations of the outer loops not in `mask` that lie outside position `place`."""
    times = 1
    for k in range(place):
        if not (mask >> order[k]) & 1:
            times *= dims[order[k], OUTER]
    return times


@inner_function
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


@inner_function
def tile_row_sum(dims: IntTable, pair: int, a: int, b: int) -> int:
    """Rows (pair 0) or columns (1) summed over steps and PE positions.

    For subset `a` of the axis and `b` of the taps: 0 = all steps, 1 = the still ones.
    """
    axis, taps = Y + pair, R + pair
    shared = dims[axis, PLACED + a] * dims[taps, TAILS + b]
    return dims[axis, STILL + a] * dims[taps, HOLES + b] + shared


@inner_function
def moving_rows(d: int, pair: int, within: int, dims: IntTable, sums: RowTable) -> tuple[int, int]:
    """Row factor of a pair where `d` moves: distinct rows, and rows of every tile.

    Dimensions of the mask `within` count their still steps alone.
    """
    axis, taps = Y + pair, R + pair
    a = (within >> axis) & 1
    b = (within >> taps) & 1
    rows = sums[pair, a, b]
    every = tile_row_sum(dims, pair, a, b)
    if d in (axis, taps):
        # neither is within: all steps less the still ones of `d`
        still_a = 1 if d == axis else a
        still_b = 1 if d == taps else b
        rows -= sums[pair, still_a, still_b]
        every -= tile_row_sum(dims, pair, still_a, still_b)
    return rows, every


@inner_function
def repeats_within(inside: int, dims: IntTable) -> tuple[int, int]:
    """How often K repeats an input tile, and at how many PEs; `inside`: its loop never resends."""
    if inside:
        return dims[K, OUTER], dims[K, PLACES_J0]
    return dims[K, STEPS], dims[K, PLACES]


@inner_function
def repeats_outer(outer_order: IntTable, last: int, dims: IntTable) -> tuple[int, int]:
    """As `repeats_within` where the outer loop at position `last` is the innermost that resends."""
    for place in range(last):
        if outer_order[place] == K:
            return dims[K, OUTER], dims[K, PLACES_J0]
    return 1, dims[K, PLACES_FIRST]


@inner_function(locals={"within": int64, "mask": int64})
def input_volume(
    outer_order: IntTable, inner_order: IntTable, dims: IntTable, sums: RowTable
) -> tuple[int, int, int]:
    """Input elements without sliding credit.

    Returns:
        Distinct elements a step summed over steps; the same with every distinct tile in full; and
        what all PEs receive.
    """
    mask = INPUT_MASK
    distinct = 0
    tiles = 0
    delivered = 0
    within = 0
    for place in range(5, -2, -1):
        d = inner_order[place] if place >= 0 else -1
        moving = 1
        if d >= 0:
            if d == K:
                within |= 1 << K
                continue
            moving = dims[d, EXTENT] - dims[d, STILL + 1]
            repeats, places = repeats_within((within >> K) & 1, dims)
        else:
            # all of the input's own inner loops are still: the outer counters decide
            last = innermost(outer_order, mask, dims)
            repeats, places = repeats_outer(outer_order, last, dims)
        if moving > 0:
            once = moving if d == C else dims[C, STILL + ((within >> C) & 1)]
            each = once
            for pair in range(2):
                rows, every = moving_rows(d, pair, within, dims, sums)
                once *= rows
                each *= every
            distinct += once * repeats
            tiles += each * repeats
            delivered += each * places
        if d >= 0:
            if dims[d, STILL + 1] == 0:
                break
            within |= 1 << d
    return distinct, tiles, delivered


@inner_function(locals={"mask": int64})
def slide_credit(
    axis: int, outer_order: IntTable, inner_order: IntTable, dims: IntTable, sums: RowTable
) -> tuple[int, int, int]:
    """Input elements that PEs still hold when only `axis` (Y or X) moved on, as `input_volume`.

    The axis and its taps must be temporal at both levels.
    """
    mask = INPUT_MASK
    pair = axis - Y
    taps = R + pair
    if dims[taps, TAILS] == 0:
        return 0, 0, 0
    distinct = 0
    tiles = 0
    delivered = 0
    inside = 0
    for place in range(5, -1, -1):
        if inner_order[place] == axis:
            break
        inside |= 1 << inner_order[place]
    last = innermost(outer_order, mask, dims)
    # level 0: the inner loop advances; level 1: the outer one, and nothing inside it moves
    for level in range(2):
        if level == 0:
            advances = dims[axis, STEPS] - dims[axis, OUTER]
            within = inside
            repeats, places = repeats_within((within >> K) & 1, dims)
        else:
            advances = dims[axis, OUTER] - 1
            within = INPUT_MASK
            if last < 0 or outer_order[last] != axis:
                break
            repeats, places = repeats_outer(outer_order, last, dims)
        shared = advances * dims[C, STILL + ((within >> C) & 1)]
        shared *= dims[taps, TAILS + ((within >> taps) & 1)]
        a = (within >> (Y + 1 - pair)) & 1
        b = (within >> (R + 1 - pair)) & 1
        every = shared * tile_row_sum(dims, 1 - pair, a, b)
        distinct += shared * sums[1 - pair, a, b] * repeats
        tiles += every * repeats
        delivered += every * places
    return distinct, tiles, delivered


@inner_function(locals={"mask": int64})
def dram_input(outer_order: IntTable, dims: IntTable, stride: int, slide: bool) -> int:
    """Input elements read from DRAM."""
    mask = INPUT_MASK
    last = innermost(outer_order, mask, dims)
    elements = dims[C, EXTENT] * uncoupled_outer(outer_order, mask, last, dims)
    for pair in range(2):
        axis, taps = Y + pair, R + pair
        holes = 0
        tails = 0
        for kind in range(dims[taps, CLASSES]):
            span = dims[taps, SPAN + kind]
            holes += dims[taps, COUNT + kind] * min(stride, span)
            tails += dims[taps, COUNT + kind] * max(span - stride, 0)
        # rows that the window's last tile shares with the next are fetched once
        fresh = dims[axis, OUTER]
        if slide and last >= 0 and outer_order[last] == axis:
            fresh = 1
        elements *= dims[axis, EXTENT] * holes + fresh * tails
    return elements


@inner_function
def dram_tensor(mask: int, outer_order: IntTable, dims: IntTable) -> int:
    """Filter elements read from DRAM, or output elements written to it."""
    last = innermost(outer_order, mask, dims)
    elements = uncoupled_outer(outer_order, mask, last, dims)
    for d in range(6):
        if (mask >> d) & 1:
            elements *= dims[d, EXTENT]
    return elements
