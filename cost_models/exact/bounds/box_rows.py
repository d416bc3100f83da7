"""Input rows (or columns) that a box's steps touch, and what of them windows that move on keep.

Where the innermost loop that iterates is Y, a buffer that keeps rows fetches every row once in each
run of the loop over Y. When a run is over, its first tile may still share rows with its last one:
all columns of them where a loop that leaves the input alone moved on (`wrap`), and those that two
tiles of X share where X did (`corner`).
"""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    HELD_ROWS,
    INNER,
    NOC_ROWS,
    OUTER,
    OUTER_ROWS,
    PAIRS,
    PE_ROWS,
    Box,
    P,
    R,
    RowSums,
)
from cost_models.exact.bounds.box_sizes import row_count
from marl_common import address, part


@part
def tap_sums(
    taps: float, high: float, pieces: float, stride: float, whole: bool
) -> tuple[float, float]:
    """Least sums over a filter's pieces of min(stride, piece) and of max(piece - stride, 0).

    Args:
        taps: Taps in all.
        high: Longest piece.
        pieces: Most pieces.
        stride: Stride of the filter.
        whole: Whether the filter is not cut at all: then what the steps over all taps touch
            together is counted; see :mod:`box_traffic`.
    """
    if whole:
        high, pieces = taps, 1.0
    uncut = math.floor(taps / high)
    holes = uncut * min(stride, high) + min(stride, taps - uncut * high)
    return holes, max(taps - stride * pieces, 0.0)


@part
def unique_area(box: Box) -> float:
    """Rows times columns of the whole input."""
    area = 1.0
    for pair in range(PAIRS):
        outputs, taps = box.dim[P + pair].extent, box.dim[R + pair].extent
        area *= row_count(outputs, taps, box.problem.stride[pair], box.problem.dilation[pair])
    return area


@part
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


@part
def set_sums(sums: RowSums, flat: float, tails: float, steps: float, extra: float) -> None:
    """Fill sums where no window keeps anything; `extra` rows come on top."""
    sums.each = flat + steps * tails + extra
    sums.flat, sums.steps = flat, steps
    keep_rows(sums, sums.each, 0.0, 0.0)


@part
def keep_rows(sums: RowSums, once: float, wrap: float, corner: float) -> None:
    """Let windows keep rows."""
    sums.once, sums.wrap, sums.corner = once, wrap, corner


@part
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


@part
def fill_rows(box: Box) -> None:
    """Fill all sums of rows and of columns."""
    for pair in range(PAIRS):
        fill_outer_rows(box, pair)
        fill_noc_rows(box, pair)
        fill_pe_rows(box, pair)
        widen_ragged(box, pair)


@part
def fill_outer_rows(box: Box, pair: int) -> None:
    """Rows that L2 takes: clusters' tiles lie side by side, so that the window always moves on."""
    axis, taps = address(box.dim[P + pair]), address(box.dim[R + pair])
    n, r, whole = axis.extent, taps.extent, box.outer_taps
    stride, dilation = box.problem.stride[pair], box.problem.dilation[pair]
    widest = min(taps.high[OUTER] * taps.units, r)
    holes, tails = tap_sums(r, widest, math.ceil(r / taps.tile[OUTER]), stride, whole)
    wide = min(axis.high[OUTER] * axis.units, n)
    count = tail_count(n, wide, axis.steps[OUTER], dilation)
    sums = address(box.rows[pair][OUTER_ROWS])
    set_sums(sums, n * holes, tails, count, 0.0)
    if box.problem.retain:
        wrap = wrapped(n, wide, tails, stride, dilation)
        if whole and axis.low[OUTER] * axis.units >= n:
            wrap = 0.0
        keep_rows(sums, n * holes + tails * min(n, dilation), wrap, wrap)


@part
def pe_keeps(box: Box, pair: int, tails: float) -> bool:
    """Whether a PE may keep rows as its window moves on, of `tails` beyond a tile's stride."""
    axis, stride = address(box.dim[P + pair]), box.problem.stride[pair]
    # PEs side by side skip over each other's rows
    skipped = (axis.members - 1) * axis.low[INNER] * stride
    return box.problem.retain and (box.problem.dilation[pair] > 1 or skipped < tails)


@part
def fill_noc_rows(box: Box, pair: int) -> None:
    """Rows that cross the NoC, in inner steps and once per outer step."""
    axis, taps = address(box.dim[P + pair]), address(box.dim[R + pair])
    n, r, whole = axis.extent, taps.extent, box.taps
    stride, dilation = box.problem.stride[pair], box.problem.dilation[pair]
    dilated = dilation > 1
    if ((box.spread >> (R + pair)) | (box.spread >> (P + pair))) & 1:
        # what lies apart may touch the same rows: at least those of a filter without dilation
        dilation = 1.0
    if (box.spread >> (R + pair)) & 1:
        # the taps of several units may lie anywhere: as many rows as a sum of two sets has at least
        stride = 1.0
    long = min(taps.high[INNER] * taps.members, taps.high[OUTER])
    holes, tails = tap_sums(r, min(long * taps.units, r), taps.most_steps, stride, whole)
    flat = n * holes
    block = min(axis.high[INNER] * axis.members, axis.high[OUTER])
    count = tail_count(n, min(block * axis.units, n), axis.steps[INNER], dilation)
    extra, runs = 0.0, 1.0
    apart = axis.units > 1 and axis.blocks > axis.steps[INNER]
    if apart and not dilated and not whole:
        # clusters' blocks lie apart, and share rows only where they nearly touch
        tile = axis.low[OUTER]
        shared = max(0.0, tails - stride * (tile - min(block, tile)))
        extra = max(0.0, tails - shared) * (axis.blocks - axis.steps[INNER])
        if shared == 0.0 and (axis.units - 1) * tile * stride >= tails:
            runs = axis.cluster_tiles
    noc, held = address(box.rows[pair][NOC_ROWS]), address(box.rows[pair][HELD_ROWS])
    set_sums(noc, flat, tails, count, extra)
    outer = min(axis.high[OUTER] * axis.units, n)
    set_sums(held, flat, tails, tail_count(n, outer, axis.steps[OUTER], dilation), 0.0)
    deep = tails * min(n, dilation)
    if pe_keeps(box, pair, tails):
        wrap = run_wrap(box, pair, tails, stride)
        corner = tails * min(n, box.problem.dilation[pair])
        keep_rows(noc, flat + runs * deep, runs * wrap, runs * corner)
        keep_rows(held, flat + deep, wrap, corner)
    elif box.problem.retain and runs == 1.0:
        # PEs that skip over each other's rows keep some from one outer step to the next
        once = flat + tails
        if axis.low[OUTER] == axis.high[OUTER]:
            once = max(once, noc.each - (axis.steps[OUTER] - 1) * tails)
        keep_rows(noc, once, tails, tails)
        keep_rows(held, flat + tails, tails, tails)


@part
def run_wrap(box: Box, pair: int, tails: float, stride: float) -> float:
    """What a run of the inner loop over an axis saves at most: `wrap`."""
    axis, dilation = address(box.dim[P + pair]), box.problem.dilation[pair]
    n, low, high = axis.extent, axis.low[OUTER], axis.high[OUTER]
    wrap = wrapped(low, min(axis.high[INNER] * axis.members, high), tails, stride, dilation)
    if box.taps and axis.low[INNER] * axis.members >= high:
        wrap = 0.0
    if low * axis.units < n:
        wrap = max(wrap, wrapped(n, min(high * axis.units, n), tails, stride, dilation))
    return wrap


@part
def fill_pe_rows(box: Box, pair: int) -> None:
    """Rows that PEs take, those that several take once for each."""
    axis, taps = address(box.dim[P + pair]), address(box.dim[R + pair])
    n, r = axis.extent, taps.extent
    stride, dilation = box.problem.stride[pair], box.problem.dilation[pair]
    pieces = math.floor(r / taps.low[INNER]) + math.ceil(r / taps.low[OUTER])
    if taps.low[INNER] == r:
        pieces = 1.0
    holes, tails = tap_sums(r, taps.high[INNER], pieces, stride, box.taps)
    count = tail_count(n, axis.high[INNER], axis.places, dilation)
    sums = address(box.rows[pair][PE_ROWS])
    set_sums(sums, n * holes, tails, count, 0.0)
    deep = tails * min(n, dilation)
    once = n * holes + deep
    if pe_keeps(box, pair, tails):
        keep_rows(sums, once, run_wrap(box, pair, tails, stride), deep)
    elif box.problem.retain:
        if axis.low[OUTER] == axis.high[OUTER]:
            between = (axis.cluster_tiles - 1) * tails * axis.members
            once = max(once, sums.each - between)
        keep_rows(sums, once, tails, tails)


@part
def widen_ragged(box: Box, pair: int) -> None:
    """Make the ragged share of an axis one of the input too, whose tiles reach beyond it."""
    axis = address(box.dim[P + pair])
    share = axis.ragged
    if share == 0.0:
        return
    for group in range(NOC_ROWS, HELD_ROWS):
        sums = address(box.rows[pair][group])
        tiles = axis.units * axis.members if group == PE_ROWS else 1.0
        tails = (sums.each - sums.flat) / sums.steps
        axis.ragged = min(max(axis.ragged, (share * sums.flat + tiles * tails) / sums.once), 1.0)


@part
def kept_area(box: Box, group: int, again: bool, whole: bool) -> float:
    """Rows times columns of a group where the window moves along the better axis.

    Args:
        box: The box.
        group: The group.
        again: Whether a loop that leaves the input alone may come between two runs.
        whole: Whether loops over taps may come between two runs: they do so more than once, so
            that nothing is known where the last tile of a run touches the first of the next.
    """
    best = math.inf
    for pair in range(PAIRS):
        mine, other = address(box.rows[pair][group]), address(box.rows[1 - pair][group])
        if whole and mine.wrap > 0:
            return 0.0
        area = mine.once * other.each
        if again:
            area -= mine.wrap * other.each
        if other.steps > 1:
            area -= mine.corner * (other.each - other.flat)
        best = min(best, max(area, mine.flat * other.flat))
    return best


@part
def full_area(box: Box, group: int) -> float:
    """Rows times columns of a group where nothing is kept."""
    return box.rows[0][group].each * box.rows[1][group].each


@part
def flat_area(box: Box, group: int) -> float:
    """Rows times columns of a group without what tiles need beyond their stride."""
    return box.rows[0][group].flat * box.rows[1][group].flat
