"""Input rows (or columns) that a box's steps touch, and what of them windows that move on keep.

Where the innermost loop that iterates is Y, a buffer that keeps rows fetches every row once in each
pass over Y. When a pass is over, its first tile may still share rows with its last one: all columns
of them where a loop that leaves the input alone moved on (`WRAP`), and those that two tiles of X
share where X did (`CORNER`).
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Final

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    DILATION,
    EXTENT,
    HALO,
    HALO_RETAIN,
    STRIDE,
    Floats,
    Ints,
    R,
    Y,
)
from cost_models.exact.bounds.box_capacity import row_count
from cost_models.exact.bounds.box_fields import (
    BLOCKS,
    CLUSTER_TILES,
    INNER_HIGH,
    INNER_LOW,
    MEMBERS,
    MOST_STEPS,
    OUTER_HIGH,
    OUTER_LOW,
    OUTER_STEPS,
    PLACES,
    RAGGED,
    SPAN,
    STEPS,
    UNITS,
)

# groups of columns of `rows`, whose rows are pair 0 (rows) and 1 (columns)
OUTER_ROWS: Final = 0  # what L2 takes in outer steps
NOC_ROWS: Final = 6  # what crosses the NoC in inner steps
PE_ROWS: Final = 12  # what PEs take in inner steps
HELD_ROWS: Final = 18  # what crosses the NoC once per outer step
ROW_FIELDS: Final = 24
# columns of a group
EACH: Final = 0  # rows summed over steps, every step's in full
ONCE: Final = 1  # where the window moves along this axis
FLAT: Final = 2  # rows without what a tile needs beyond its stride
WRAP: Final = 3  # what a pass saves at most after a loop that leaves the input alone
CORNER: Final = 4  # after a loop of the other axis
PASSES: Final = 5  # steps


@shared_function
def tap_sums(taps: float, high: float, pieces: float, stride: float) -> tuple[float, float]:
    """Least sums over a filter's pieces of min(stride, piece) and of max(piece - stride, 0).

    Args:
        taps: Taps in all.
        high: Longest piece.
        pieces: Most pieces.
        stride: Stride of the filter.
    """
    whole = math.floor(taps / high)
    holes = whole * min(stride, high) + min(stride, taps - whole * high)
    return holes, max(taps - stride * pieces, 0.0)


@shared_function
def unique_rows(facts: Floats, pair: int) -> float:
    """Rows (pair 0) or columns (1) of the whole input."""
    n, r = facts[EXTENT + Y + pair], facts[EXTENT + R + pair]
    return row_count(n, r, facts[STRIDE + pair], facts[DILATION + pair])


@shared_function
def tail_count(n: float, widest: float, steps: float, dilation: float) -> float:
    """How often steps need the rows beyond a tile's stride: once each, or once per output.

    Args:
        n: Outputs.
        widest: Most of them in a step.
        steps: Steps at least.
        dilation: Distance of taps: so many outputs' rows lie between each other.
    """
    if dilation == 1:
        return steps
    whole = math.floor(n / widest)
    return whole * min(widest, dilation) + min(n - whole * widest, dilation)


@shared_function
def set_group(
    rows: Floats, pair: int, group: int, flat: float, tails: float, steps: float, extra: float
) -> None:
    """Fill a group where no window keeps anything; `extra` rows come on top."""
    rows[pair, group + EACH] = flat + steps * tails + extra
    rows[pair, group + ONCE] = rows[pair, group + EACH]
    rows[pair, group + FLAT] = flat
    rows[pair, group + WRAP] = 0.0
    rows[pair, group + CORNER] = 0.0
    rows[pair, group + PASSES] = steps


@shared_function
def keep_rows(rows: Floats, pair: int, group: int, once: float, wrap: float, corner: float) -> None:
    """Let the windows of a group keep rows."""
    rows[pair, group + ONCE] = once
    rows[pair, group + WRAP] = wrap
    rows[pair, group + CORNER] = corner


@shared_function
def wrapped(n: float, wide: float, tails: float, stride: float, dilation: float) -> float:
    """Rows that the last of at least two tiles shares with the first, at most.

    Args:
        n: What the tiles cover.
        wide: Widest tile.
        tails: Rows that a tile needs beyond its stride.
        stride: Stride of the filter.
        dilation: Distance of its taps.
    """
    if dilation > 1:
        return tails * min(n, dilation)
    return min(max(tails - stride * (n - 2 * wide), 0.0), tails)


@shared_function
def one_tile(facts: Floats, axis: int, work: Floats) -> bool:
    """Whether no outer loop over a dimension iterates."""
    return work[OUTER_LOW, axis] * work[UNITS, axis] >= facts[EXTENT + axis]


@shared_function
def fill_outer_rows(
    facts: Floats, flags: Ints, pair: int, whole: bool, work: Floats, rows: Floats
) -> None:
    """Rows that L2 takes: clusters' tiles lie side by side, so that the window always moves on.

    `whole`: count what the steps over all taps touch together; see :mod:`box_traffic`.
    """
    axis, taps = Y + pair, R + pair
    n, r, stride = facts[EXTENT + axis], facts[EXTENT + taps], facts[STRIDE + pair]
    dilation = facts[DILATION + pair]
    widest = min(work[OUTER_HIGH, taps] * work[UNITS, taps], r)
    holes, tails = tap_sums(r, widest, math.ceil(r / work[SPAN, taps]), stride)
    if whole:
        holes, tails = tap_sums(r, r, 1.0, stride)
    wide = min(work[OUTER_HIGH, axis] * work[UNITS, axis], n)
    count = tail_count(n, wide, work[OUTER_STEPS, axis], dilation)
    set_group(rows, pair, OUTER_ROWS, n * holes, tails, count, 0.0)
    once = n * holes + tails * min(n, dilation)
    if flags[HALO] == HALO_RETAIN:
        wrap = wrapped(n, wide, tails, stride, dilation)
        if whole and one_tile(facts, axis, work):
            wrap = 0.0
        keep_rows(rows, pair, OUTER_ROWS, once, wrap, wrap)


@shared_function
def pe_keeps(facts: Floats, flags: Ints, pair: int, tails: float, work: Floats) -> bool:
    """Whether a PE may keep rows as its window moves on.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        pair: 0 for Y, 1 for X.
        tails: Rows that a tile needs beyond its stride.
        work: Work table.
    """
    axis = Y + pair
    if flags[HALO] != HALO_RETAIN or facts[DILATION + pair] > 1:
        return flags[HALO] == HALO_RETAIN
    # PEs side by side skip over each other's rows
    skipped = (work[MEMBERS, axis] - 1) * work[INNER_LOW, axis] * facts[STRIDE + pair]
    return skipped < tails


@shared_function
def noc_tap_sums(
    facts: Floats, pair: int, spread: int, whole: bool, work: Floats
) -> tuple[float, float, float]:
    """`tap_sums` of what crosses the NoC in a step, and the stride that they hold for."""
    taps = R + pair
    r, stride = facts[EXTENT + taps], facts[STRIDE + pair]
    if (spread >> taps) & 1:
        # the taps of several units may lie anywhere: as many rows as a sum of two sets has at least
        stride = 1.0
    if whole:
        holes, tails = tap_sums(r, r, 1.0, stride)
        return holes, tails, stride
    widest = min(work[INNER_HIGH, taps] * work[MEMBERS, taps], work[OUTER_HIGH, taps])
    holes, tails = tap_sums(r, min(widest * work[UNITS, taps], r), work[MOST_STEPS, taps], stride)
    return holes, tails, stride


@shared_function
def fill_noc_rows(
    facts: Floats, flags: Ints, pair: int, spread: int, whole: bool, work: Floats, rows: Floats
) -> None:
    """Rows that cross the NoC, in inner steps and once per outer step; `whole` as above."""
    axis = Y + pair
    n, dilation = facts[EXTENT + axis], facts[DILATION + pair]
    dilated = dilation > 1
    if (spread >> (R + pair)) & 1 or (spread >> axis) & 1:
        # what lies apart may touch the same rows: at least those of a filter without dilation
        dilation = 1.0
    holes, tails, stride = noc_tap_sums(facts, pair, spread, whole, work)
    flat = n * holes
    outer = min(work[OUTER_HIGH, axis] * work[UNITS, axis], n)
    block = min(work[INNER_HIGH, axis] * work[MEMBERS, axis], work[OUTER_HIGH, axis])
    widest = min(block * work[UNITS, axis], n)
    count = tail_count(n, widest, work[STEPS, axis], dilation)
    extra = 0.0
    passes = 1.0
    apart = work[UNITS, axis] > 1 and work[BLOCKS, axis] > work[STEPS, axis]
    if apart and not dilated and not whole:
        # clusters' blocks lie apart, and share rows only where they nearly touch
        tile = work[OUTER_LOW, axis]
        shared = max(0.0, tails - stride * (tile - min(block, tile)))
        extra = max(0.0, tails - shared) * (work[BLOCKS, axis] - work[STEPS, axis])
        if shared == 0.0 and (work[UNITS, axis] - 1) * tile * stride >= tails:
            passes = work[CLUSTER_TILES, axis]
    set_group(rows, pair, NOC_ROWS, flat, tails, count, extra)
    held = tail_count(n, outer, work[OUTER_STEPS, axis], dilation)
    set_group(rows, pair, HELD_ROWS, flat, tails, held, 0.0)
    deep = tails * min(n, dilation)
    if pe_keeps(facts, flags, pair, tails, work):
        wrap, corner = pass_savings(facts, flags, pair, whole, tails, stride, work)
        keep_rows(rows, pair, NOC_ROWS, flat + passes * deep, passes * wrap, passes * corner)
        keep_rows(rows, pair, HELD_ROWS, flat + deep, wrap, corner)
    elif flags[HALO] == HALO_RETAIN and passes == 1.0:
        keep_between_outer_steps(flat, axis, pair, tails, work, rows)


@shared_function
def pass_savings(
    facts: Floats, flags: Ints, pair: int, whole: bool, tails: float, stride: float, work: Floats
) -> tuple[float, float]:
    """What a pass of the inner loop over an axis saves at most: `WRAP` and `CORNER`."""
    if flags[HALO] != HALO_RETAIN:
        return 0.0, 0.0
    axis = Y + pair
    n, dilation = facts[EXTENT + axis], facts[DILATION + pair]
    low, wide = work[OUTER_LOW, axis], work[INNER_HIGH, axis] * work[MEMBERS, axis]
    wrap = wrapped(low, min(wide, work[OUTER_HIGH, axis]), tails, stride, dilation)
    if whole and work[INNER_LOW, axis] * work[MEMBERS, axis] >= work[OUTER_HIGH, axis]:
        wrap = 0.0
    if not one_tile(facts, axis, work):
        outer = min(work[OUTER_HIGH, axis] * work[UNITS, axis], n)
        wrap = max(wrap, wrapped(n, outer, tails, stride, dilation))
    return wrap, tails * min(n, dilation)


@shared_function
def keep_between_outer_steps(
    flat: float, axis: int, pair: int, tails: float, work: Floats, rows: Floats
) -> None:
    """Let PEs that skip over each other's rows keep some from one outer step to the next."""
    once = flat + tails
    if work[OUTER_LOW, axis] == work[OUTER_HIGH, axis]:
        between = (work[OUTER_STEPS, axis] - 1) * tails
        once = max(once, rows[pair, NOC_ROWS + EACH] - between)
    keep_rows(rows, pair, NOC_ROWS, once, tails, tails)
    keep_rows(rows, pair, HELD_ROWS, flat + tails, tails, tails)


@shared_function
def fill_pe_rows(
    facts: Floats, flags: Ints, pair: int, spread: int, whole: bool, work: Floats, rows: Floats
) -> None:
    """Rows that PEs take, those that several take once for each; `whole` as above."""
    axis, taps = Y + pair, R + pair
    n, r, stride = facts[EXTENT + axis], facts[EXTENT + taps], facts[STRIDE + pair]
    dilation = facts[DILATION + pair]
    pieces = math.floor(r / work[INNER_LOW, taps]) + math.ceil(r / work[OUTER_LOW, taps])
    if work[INNER_LOW, taps] == r:
        pieces = 1.0
    holes, tails = tap_sums(r, work[INNER_HIGH, taps], pieces, stride)
    if whole:
        holes, tails = tap_sums(r, r, 1.0, stride)
    count = tail_count(n, work[INNER_HIGH, axis], work[PLACES, axis], dilation)
    set_group(rows, pair, PE_ROWS, n * holes, tails, count, 0.0)
    once = n * holes + tails * min(n, dilation)
    if pe_keeps(facts, flags, pair, tails, work):
        wrap, corner = pass_savings(facts, flags, pair, whole, tails, stride, work)
        keep_rows(rows, pair, PE_ROWS, once, wrap, corner)
    elif flags[HALO] == HALO_RETAIN:
        between = (work[CLUSTER_TILES, axis] - 1) * tails * work[MEMBERS, axis]
        if work[OUTER_LOW, axis] == work[OUTER_HIGH, axis]:
            once = max(once, rows[pair, PE_ROWS + EACH] - between)
        keep_rows(rows, pair, PE_ROWS, once, tails, tails)


@shared_function
def widen_ragged(pair: int, work: Floats, rows: Floats) -> None:
    """Make the ragged share of an axis one of the input too, whose tiles reach beyond it."""
    axis = Y + pair
    share = work[RAGGED, axis]
    if share == 0.0:
        return
    for group in (NOC_ROWS, PE_ROWS):
        tiles = work[UNITS, axis] * work[MEMBERS, axis] if group == PE_ROWS else 1.0
        flat, passes = rows[pair, group + FLAT], rows[pair, group + PASSES]
        tails = (rows[pair, group + EACH] - flat) / passes
        part = (share * flat + tiles * tails) / rows[pair, group + ONCE]
        work[RAGGED, axis] = min(max(work[RAGGED, axis], part), 1.0)


@shared_function
def moving_along(rows: Floats, group: int, pair: int, again: bool, whole: bool) -> float:
    """Rows times columns of a group where the window moves along one axis.

    Args:
        rows: Rows and columns.
        group: The group.
        pair: 0 for Y, 1 for X.
        again: Whether a loop that leaves the input alone may come between two passes.
        whole: Whether loops over taps may come between two passes: they do so more than once, so
            that nothing is known where the last tile of a pass touches the first of the next.
    """
    if whole and rows[pair, group + WRAP] > 0:
        return 0.0
    other = 1 - pair
    each = rows[other, group + EACH]
    area = rows[pair, group + ONCE] * each
    if again:
        area -= rows[pair, group + WRAP] * each
    if rows[other, group + PASSES] > 1:
        area -= rows[pair, group + CORNER] * (each - rows[other, group + FLAT])
    return max(area, rows[pair, group + FLAT] * rows[other, group + FLAT])


@shared_function
def kept_area(rows: Floats, group: int, again: bool, whole: bool) -> float:
    """Rows times columns of a group where the window moves along the better axis."""
    return min(
        moving_along(rows, group, 0, again, whole), moving_along(rows, group, 1, again, whole)
    )


@shared_function
def full_area(rows: Floats, group: int) -> float:
    """Rows times columns of a group where nothing is kept."""
    return rows[0, group + EACH] * rows[1, group + EACH]


@shared_function
def flat_area(rows: Floats, group: int) -> float:
    """Rows times columns of a group without what tiles need beyond their stride."""
    return rows[0, group + FLAT] * rows[1, group + FLAT]


@shared_function
def least_area(flags: Ints, rows: Floats, group: int) -> float:
    """Rows times columns of a group where either axis may keep rows, in different steps."""
    if flags[HALO] == HALO_RETAIN:
        return flat_area(rows, group)
    return rows[0, group + ONCE] * rows[1, group + ONCE]
