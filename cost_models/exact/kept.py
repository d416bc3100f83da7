"""Input rows (or columns) that PEs still hold when output rows and filter taps move on.

A row is ``stride * y + dilation * tap``. Rows fall into ``stride * dilation`` residue classes (the
two have no common divisor), and within a class the rows of a range of outputs and a range of taps
are one interval: that of the outputs' quotients plus that of the taps'.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.layout import (
    BLOCK,
    BLOCKS,
    LEAD,
    PE_TILE,
    POSITIONS,
    UNION,
    IntTable,
    MoveTable,
    SegTable,
)
from cost_models.exact.moves import NEW, OLD, SHIFT
from cost_models.exact.rows import footprint, tile_rows, union_rows
from cost_models.exact.wide import Wide, is_box

# --- table `spots[n, field]`: the places of a dimension that PEs hold in one step -------------
START: Final = 0  # relative to PE (0, 0)
NOW: Final = 1  # length of the range
BEFORE: Final = 2  # length of the range before the move; 0 where the PE had none
SPOT_FIELDS: Final = 3


@inner_function
def ceil_quotient(a: int, b: int) -> int:
    """Quotient rounded up, of any integer and a positive one."""
    return -(-a // b)


@inner_function
def class_range(
    y: int,
    outputs: int,
    tap: int,
    taps: int,
    y_class: int,
    tap_class: int,
    stride: int,
    step: int,
    wide: Wide | None,
) -> tuple[int, int]:
    """The rows of one residue class, as an interval of quotients, empty where there are none.

    Where a tile counts as a box there is one class: the rows from its first to its last.

    Args:
        y: First output.
        outputs: How many.
        tap: First tap.
        taps: How many.
        y_class: Class of the outputs, below `step`.
        tap_class: Class of the taps, below `stride`.
        stride: Distance of outputs in rows.
        step: Distance of taps in rows (the dilation).
        wide: Chip and mapping, where more is to be known.
    """
    if wide is not None and is_box(wide):
        if outputs <= 0 or taps <= 0:
            return 0, 0
        low = stride * y + step * tap
        return low, low + stride * (outputs - 1) + step * (taps - 1) + 1
    if stride == 1 and step == 1:
        return y + tap, y + outputs + tap + taps - 1
    y_low = ceil_quotient(y - y_class, step)
    y_high = ceil_quotient(y + outputs - y_class, step)
    tap_low = ceil_quotient(tap - tap_class, stride)
    tap_high = ceil_quotient(tap + taps - tap_class, stride)
    if y_high <= y_low or tap_high <= tap_low:
        return 0, 0
    return y_low + tap_low, y_high + tap_high - 1


@inner_function
def classes_of(stride: int, step: int, wide: Wide | None) -> tuple[int, int]:
    """Residue classes of outputs and of taps."""
    if wide is not None and is_box(wide):
        return 1, 1
    return step, stride


@inner_function
def shared_rows(
    outputs: int,
    taps: int,
    old_outputs: int,
    old_taps: int,
    y_shift: int,
    tap_shift: int,
    stride: int,
    step: int,
    wide: Wide | None,
) -> int:
    """Rows that one range of outputs and taps shares with that before it moved."""
    shared = 0
    y_classes, tap_classes = classes_of(stride, step, wide)
    for y_class in range(y_classes):
        for tap_class in range(tap_classes):
            low, high = class_range(0, outputs, 0, taps, y_class, tap_class, stride, step, wide)
            before, end = class_range(
                -y_shift, old_outputs, -tap_shift, old_taps, y_class, tap_class, stride, step, wide
            )
            if high > low and end > before:
                shared += max(min(high, end) - max(low, before), 0)
    return shared


@inner_function
def list_spots(
    spots: IntTable, d: int, old: int, new: int, pitch: int, dims: IntTable, segs: SegTable
) -> int:
    """List the active places along a dimension; returns how many.

    Args:
        spots: Gets them.
        d: The dimension.
        old: Its segment before the move; -1 where PEs held nothing.
        new: Its segment after.
        pitch: Distance between clusters.
        dims: Dimension table.
        segs: Segment table.
    """
    tile = dims[d, PE_TILE]
    found = 0
    blocks = segs[d, new, BLOCKS]
    old_blocks = segs[d, old, BLOCKS] if old >= 0 else 0
    for c in range(blocks):
        block = segs[d, new, BLOCK]
        if c == blocks - 1:
            block = segs[d, new, UNION] - c * block
        before = 0
        if c < old_blocks:
            before = segs[d, old, BLOCK]
            if c == old_blocks - 1:
                before = segs[d, old, UNION] - c * before
        start = 0
        while start < block:
            spots[found, START] = c * pitch + start
            spots[found, NOW] = min(tile, block - start)
            spots[found, BEFORE] = max(min(tile, before - start), 0)
            found += 1
            start += tile
    return found


@inner_function
def add_interval(intervals: IntTable, count: int, low: int, high: int) -> int:
    """Insert an interval in order of its start; returns how many there are."""
    at = count
    while at > 0 and intervals[at - 1, 0] > low:
        intervals[at, 0] = intervals[at - 1, 0]
        intervals[at, 1] = intervals[at - 1, 1]
        at -= 1
    intervals[at, 0] = low
    intervals[at, 1] = high
    return count + 1


@inner_function
def covered(intervals: IntTable, count: int) -> int:
    """Length of the union of intervals in order of their starts."""
    length = 0
    end = intervals[0, 0] if count else 0
    for i in range(count):
        low = max(intervals[i, 0], end)
        high = intervals[i, 1]
        if high > low:
            length += high - low
            end = high
    return length


@inner_function
def swept_rows(
    axis_spots: IntTable,
    axis_count: int,
    taps_spots: IntTable,
    taps_count: int,
    y_shift: int,
    tap_shift: int,
    stride: int,
    step: int,
    intervals: IntTable,
    wide: Wide | None,
) -> tuple[int, int]:
    """Rows that some PE lacks, each once; and rows that PEs still hold, once a PE."""
    lacking = 0
    held = 0
    y_classes, tap_classes = classes_of(stride, step, wide)
    for y_class in range(y_classes):
        for tap_class in range(tap_classes):
            count = 0
            for i in range(axis_count):
                y, outputs, old_outputs = axis_spots[i]
                for j in range(taps_count):
                    tap, taps, old_taps = taps_spots[j]
                    low, high = class_range(
                        y, outputs, tap, taps, y_class, tap_class, stride, step, wide
                    )
                    if high <= low:
                        continue
                    before, end = low, low
                    if old_outputs > 0 and old_taps > 0:
                        before, end = class_range(
                            y - y_shift, old_outputs, tap - tap_shift, old_taps,
                            y_class, tap_class, stride, step, wide,
                        )  # fmt: skip
                    if min(high, end) <= max(low, before):
                        count = add_interval(intervals, count, low, high)
                        continue
                    held += min(high, end) - max(low, before)
                    if low < before:
                        count = add_interval(intervals, count, low, before)
                    if end < high:
                        count = add_interval(intervals, count, end, high)
            lacking += covered(intervals, count)
    return lacking, held


@inner_function
def distinct_rows(
    axis: int,
    taps: int,
    key: int,
    taps_key: int,
    stride: int,
    step: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide | None,
) -> int:
    """Distinct rows that all PEs touch in a step; arguments as `kept_rows`."""
    plain = step == 1
    if wide is not None and plain:
        # outputs and taps that are both spread over clusters may both have gaps
        both = segs[axis, key, BLOCKS] > 1 and segs[taps, taps_key, BLOCKS] > 1
        plain = not both and not is_box(wide)
    if plain:
        return union_rows(segs, axis, key, taps, taps_key, t1, stride)
    if segs[axis, key, POSITIONS] * segs[taps, taps_key, POSITIONS] == 1:
        return touched(segs[axis, key, LEAD], segs[taps, taps_key, LEAD], stride, step, wide)
    axis_count = list_spots(spots[0], axis, -1, key, t1[axis], dims, segs)
    taps_count = list_spots(spots[1], taps, -1, taps_key, t1[taps], dims, segs)
    return swept_rows(
        spots[0], axis_count, spots[1], taps_count, 0, 0, stride, step, intervals, wide
    )[0]


@inner_function
def touched(outputs: int, taps: int, stride: int, step: int, wide: Wide | None) -> int:
    """Rows that count for a range of outputs and a range of taps."""
    if wide is not None and is_box(wide):
        return stride * (outputs - 1) + step * (taps - 1) + 1 if min(outputs, taps) > 0 else 0
    return footprint(outputs, taps, stride, step)


@inner_function
def placed_rows(
    segs: SegTable,
    axis: int,
    key: int,
    taps: int,
    taps_key: int,
    stride: int,
    step: int,
    wide: Wide | None,
) -> int:
    """Rows summed over the PE positions of an axis and of its taps, shared rows once a PE."""
    if wide is not None and is_box(wide):
        places, taps_places = segs[axis, key, POSITIONS], segs[taps, taps_key, POSITIONS]
        over = stride * (segs[axis, key, UNION] - places) * taps_places
        taps_over = step * (segs[taps, taps_key, UNION] - taps_places) * places
        return over + taps_over + places * taps_places
    return tile_rows(segs, axis, key, taps, taps_key)


@inner_function
def even_pitch(d: int, key: int, pitch: int, dims: IntTable, segs: SegTable) -> int:
    """Distance between neighbouring PEs where all have like ranges at even distances, else 0."""
    places = segs[d, key, POSITIONS]
    lead = segs[d, key, LEAD]
    if segs[d, key, UNION] != places * lead:
        return 0
    blocks = segs[d, key, BLOCKS]
    if blocks == places:
        return pitch
    return lead if blocks == 1 or segs[d, key, BLOCK] == pitch else 0


@inner_function
def kept_rows(
    axis: int,
    taps: int,
    axis_move: int,
    taps_move: int,
    moves: MoveTable,
    stride: int,
    step: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    union: int,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide | None,
) -> tuple[int, int]:
    """Rows that PEs still hold after a move of outputs and of taps.

    Args:
        axis: Y or X.
        taps: R or S.
        axis_move: The move of `axis`.
        taps_move: The move of `taps`.
        moves: Moves of all dimensions.
        stride: Distance of outputs in rows.
        step: Distance of taps in rows.
        t1: Tiles of a cluster.
        dims: Dimension table.
        segs: Segment table.
        union: Distinct rows that all PEs touch after the move.
        spots: Work array, ``(2, places, SPOT_FIELDS)``.
        intervals: Work array, ``(2 * places, 2)``.
        wide: Chip and mapping, where more is to be known.

    Returns:
        Distinct rows that no PE lacks; and rows that each PE still holds, summed over places.
    """
    old_y, new_y = moves[axis, axis_move, OLD], moves[axis, axis_move, NEW]
    old_tap, new_tap = moves[taps, taps_move, OLD], moves[taps, taps_move, NEW]
    y_shift, tap_shift = moves[axis, axis_move, SHIFT], moves[taps, taps_move, SHIFT]
    outputs, old_outputs = segs[axis, new_y, LEAD], segs[axis, old_y, LEAD]
    width, old_width = segs[taps, new_tap, LEAD], segs[taps, old_tap, LEAD]
    shift = stride * y_shift + step * tap_shift
    if shift > stride * (old_outputs - 1) + step * (old_width - 1):
        return 0, 0
    length = stride * (outputs - 1) + step * (width - 1) + 1
    if -shift >= length:
        return 0, 0
    places = segs[axis, new_y, POSITIONS] * segs[taps, new_tap, POSITIONS]
    if places == 1:
        shared = shared_rows(
            outputs, width, old_outputs, old_width, y_shift, tap_shift, stride, step, wide
        )
        return shared, shared
    alike = old_y == new_y and old_tap == new_tap and step == 1 and width >= stride
    if wide is not None and is_box(wide):
        alike = False
    if alike:
        pitch = 0
        if segs[taps, new_tap, POSITIONS] == 1:
            pitch = stride * even_pitch(axis, new_y, t1[axis], dims, segs)
        elif segs[axis, new_y, POSITIONS] == 1:
            pitch = even_pitch(taps, new_tap, t1[taps], dims, segs)
        if pitch > 0:
            lacking = abs(shift)
            held = length - lacking
            return union - lacking - (places - 1) * min(lacking, pitch), places * held
    axis_count = list_spots(spots[0], axis, old_y, new_y, t1[axis], dims, segs)
    taps_count = list_spots(spots[1], taps, old_tap, new_tap, t1[taps], dims, segs)
    lacking, held = swept_rows(
        spots[0], axis_count, spots[1], taps_count, y_shift, tap_shift, stride, step, intervals,
        wide,
    )  # fmt: skip
    return union - lacking, held
