"""Input rows that MACs touch, moment by moment, where inputs pass L1.

PEs do the MACs of their tiles in the same order: at a moment each is at the same place of its tile,
if its tile is as long. A row that several of them touch at a moment is read once.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.kept import NOW, START, add_interval, covered, list_spots
from cost_models.exact.layout import (
    CLASSES,
    HW_STEP,
    HW_STRIDE,
    LEAD,
    MAX_SEGMENTS,
    POSITIONS,
    SEGMENTS,
    UNION,
    IntTable,
    MoveTable,
    R,
    SegTable,
    Y,
)
from cost_models.exact.moves import AT, TIMES
from cost_models.exact.wide import Wide


@inner_function
def next_end(spots: IntTable, count: int, place: int, lead: int) -> int:
    """Up to which place of a tile as many PEs work as at `place`."""
    end = lead
    for i in range(count):
        if spots[i, NOW] > place:
            end = min(end, spots[i, NOW])
    return end


@inner_function
def rows_at(
    spots: MoveTable,
    counts: tuple[int, int],
    y: int,
    tap: int,
    stride: int,
    step: int,
    intervals: IntTable,
) -> int:
    """Distinct rows that PEs touch at place `y` of the outputs and `tap` of the taps."""
    found = 0
    for i in range(counts[0]):
        if spots[0, i, NOW] <= y:
            continue
        for j in range(counts[1]):
            if spots[1, j, NOW] > tap:
                row = stride * spots[0, i, START] + step * spots[1, j, START]
                found = add_interval(intervals, found, row, row + 1)
    return covered(intervals, found)


@inner_function
def moment_rows(
    axis: int,
    key: int,
    taps: int,
    taps_key: int,
    stride: int,
    step: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
) -> int:
    """Rows of all moments of a step; arguments as `kept.distinct_rows`."""
    if min(segs[axis, key, POSITIONS], segs[taps, taps_key, POSITIONS]) == 1:
        return segs[axis, key, UNION] * segs[taps, taps_key, UNION]
    axis_count = list_spots(spots[0], axis, -1, key, t1[axis], dims, segs)
    taps_count = list_spots(spots[1], taps, -1, taps_key, t1[taps], dims, segs)
    rows = 0
    y = 0
    while y < segs[axis, key, LEAD]:
        y_end = next_end(spots[0], axis_count, y, segs[axis, key, LEAD])
        tap = 0
        while tap < segs[taps, taps_key, LEAD]:
            tap_end = next_end(spots[1], taps_count, tap, segs[taps, taps_key, LEAD])
            once = rows_at(spots, (axis_count, taps_count), y, tap, stride, step, intervals)
            rows += (y_end - y) * (tap_end - tap) * once
            tap = tap_end
        y = y_end
    return rows


@inner_function
def fill_moments(
    hw: IntTable,
    moves: MoveTable,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide,
) -> None:
    """Fill `wide.moments` and `wide.moment_sums`."""
    wide.moment_sums[:] = 0
    for pair in range(2):
        axis, taps = Y + pair, R + pair
        for kind in range(dims[axis, CLASSES]):
            first = MAX_SEGMENTS * kind
            for key in range(first, first + dims[axis, SEGMENTS + kind]):
                for taps_kind in range(dims[taps, CLASSES]):
                    start = MAX_SEGMENTS * taps_kind
                    for taps_key in range(start, start + dims[taps, SEGMENTS + taps_kind]):
                        once = moment_rows(
                            axis, key, taps, taps_key, hw[HW_STRIDE + pair], hw[HW_STEP + pair],
                            t1, dims, segs, spots, intervals,
                        )  # fmt: skip
                        each = segs[axis, key, UNION] * segs[taps, taps_key, UNION]
                        times = moves[axis, AT + key, TIMES] * moves[taps, AT + taps_key, TIMES]
                        wide.moments[pair, 0, key, taps_key] = once
                        wide.moments[pair, 1, key, taps_key] = each
                        wide.moment_sums[pair, 0] += times * once
                        wide.moment_sums[pair, 1] += times * each
