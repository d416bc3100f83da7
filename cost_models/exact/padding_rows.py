"""Padding among the input rows (or columns) of one step, and of what buffers keep for it."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.input_volume import keeps
from cost_models.exact.kept import (
    BEFORE,
    NOW,
    START,
    add_interval,
    ceil_quotient,
    class_range,
    classes_of,
    covered,
    list_spots,
)
from cost_models.exact.layout import (
    BLOCK,
    BLOCKS,
    CLASSES,
    HW_HALO,
    INNER,
    INNER_WIDTH,
    MAX_SEGMENTS,
    OUTER,
    OUTER_WIDTH,
    PAD_END,
    PAD_LOW,
    REPEAT,
    SPAN,
    SPREAD,
    TRUE_STEP,
    TRUE_STRIDE,
    UNION,
    IntTable,
    MoveTable,
    R,
    SegTable,
    Y,
)
from cost_models.exact.moves import (
    INNER_ADVANCES,
    OUTER_ADVANCES,
    OUTER_WRAPS,
    STAYS,
)
from cost_models.exact.wide import Wide, is_box

NEVER: Final = -1
Counters = tuple[int, int, int, int]
"""Outer and inner counter of an axis, then those of its taps."""


@inner_function
def key_at(d: int, outer: int, inner: int, dims: IntTable, segs: SegTable) -> int:
    """The segment of a dimension at given counters."""
    kind = dims[d, CLASSES] - 1 if outer == dims[d, OUTER] - 1 else 0
    key = MAX_SEGMENTS * kind
    while inner >= segs[d, key, REPEAT]:
        inner -= segs[d, key, REPEAT]
        key += 1
    return key


@inner_function
def inner_count(d: int, outer: int, dims: IntTable) -> int:
    """Inner iterations of a dimension in an outer one."""
    kind = dims[d, CLASSES] - 1 if outer == dims[d, OUTER] - 1 else 0
    return dims[d, INNER + kind]


@inner_function
def counters_before(d: int, event: int, outer: int, inner: int, dims: IntTable) -> tuple[int, int]:
    """A dimension's counters before an event that leads to these; `NEVER` where none does."""
    if event == STAYS:
        return outer, inner
    if event == INNER_ADVANCES:
        return (outer, inner - 1) if inner > 0 else (NEVER, 0)
    if inner > 0:
        return NEVER, 0
    before = outer
    if event == OUTER_ADVANCES:
        before = outer - 1
    elif event == OUTER_WRAPS:
        before = dims[d, OUTER] - 1 if outer == 0 else NEVER
    if before < 0:
        return NEVER, 0
    return before, inner_count(d, before, dims) - 1


@inner_function
def start_at(d: int, outer: int, inner: int, dims: IntTable) -> int:
    """Where PE (0, 0)'s range starts."""
    return outer * dims[d, OUTER_WIDTH] + inner * dims[d, INNER_WIDTH]


@inner_function
def reach(d: int, key: int, t1: IntTable, segs: SegTable) -> int:
    """From the start of PE (0, 0)'s range to the end of the last PE's."""
    blocks = segs[d, key, BLOCKS]
    return (blocks - 1) * t1[d] + segs[d, key, UNION] - (blocks - 1) * segs[d, key, BLOCK]


@inner_function
def row_of(pair: int, y: int, tap: int, wide: Wide) -> int:
    """The row that an output and a tap touch."""
    return wide.n[TRUE_STRIDE + pair] * y + wide.n[TRUE_STEP + pair] * tap


@inner_function
def is_padded(pair: int, row: int, wide: Wide) -> bool:
    """Whether a row is padding."""
    return row < wide.n[PAD_LOW + pair] or row >= wide.n[PAD_END + pair]


@inner_function
def real_rows(pair: int, y_class: int, tap_class: int, wide: Wide) -> tuple[int, int]:
    """The quotients of a residue class (see `kept.class_range`) that are no padding."""
    stride, step = wide.n[TRUE_STRIDE + pair], wide.n[TRUE_STEP + pair]
    scale, offset = stride * step, stride * y_class + step * tap_class
    if is_box(wide):
        scale, offset = 1, 0
    low = ceil_quotient(wide.n[PAD_LOW + pair] - offset, scale)
    return low, max(ceil_quotient(wide.n[PAD_END + pair] - offset, scale), low)


@inner_function
def padded_length(low: int, high: int, real: tuple[int, int]) -> int:
    """How much of an interval is padding."""
    if high <= low:
        return 0
    return high - low - max(min(high, real[1]) - max(low, real[0]), 0)


@inner_function
def add_padded(low: int, high: int, real: tuple[int, int], intervals: IntTable, count: int) -> int:
    """Insert what of an interval is padding; returns how many intervals there are."""
    if low < min(high, real[0]):
        count = add_interval(intervals, count, low, min(high, real[0]))
    if max(low, real[1]) < high:
        count = add_interval(intervals, count, max(low, real[1]), high)
    return count


@inner_function
def class_ranges(
    i: int,
    j: int,
    classes: tuple[int, int],
    starts: tuple[int, int],
    shifts: tuple[int, int],
    pair: int,
    spots: MoveTable,
    wide: Wide,
) -> tuple[int, int, int, int]:
    """What a PE touches of a class, and what of that it held; arguments as `padded_kept`."""
    stride, step = wide.n[TRUE_STRIDE + pair], wide.n[TRUE_STEP + pair]
    y, tap = starts[0] + spots[0, i, START], starts[1] + spots[1, j, START]
    low, high = class_range(
        y, spots[0, i, NOW], tap, spots[1, j, NOW], classes[0], classes[1], stride, step, wide
    )
    before, end = low, low
    if spots[0, i, BEFORE] > 0 and spots[1, j, BEFORE] > 0:
        before, end = class_range(
            y - shifts[0], spots[0, i, BEFORE], tap - shifts[1], spots[1, j, BEFORE],
            classes[0], classes[1], stride, step, wide,
        )  # fmt: skip
    before, end = max(before, low), min(end, high)
    return (low, high, before, end) if before < end else (low, high, high, high)


@inner_function
def padded_kept(
    pair: int,
    places: tuple[int, int],
    starts: tuple[int, int],
    shifts: tuple[int, int],
    wide: Wide,
) -> tuple[int, int]:
    """Padding among the rows that no PE lacks, each once, and that PEs hold, once a PE.

    Args:
        pair: 0 for rows, 1 for columns.
        places: How many places of the axis and of the taps there are, in `spots`.
        starts: Where the ranges of PE (0, 0) start.
        shifts: How far they moved.
        wide: Chip and mapping.
    """
    spots, intervals = wide.tables.spots, wide.tables.intervals
    y_classes, tap_classes = classes_of(wide.n[TRUE_STRIDE + pair], wide.n[TRUE_STEP + pair], wide)
    kept = 0
    held = 0
    for number in range(y_classes * tap_classes):
        classes = number % y_classes, number // y_classes
        real = real_rows(pair, classes[0], classes[1], wide)
        for lacking in range(2):
            count = 0
            for i in range(places[0]):
                for j in range(places[1]):
                    low, high, before, end = class_ranges(
                        i, j, classes, starts, shifts, pair, spots, wide
                    )
                    if lacking:
                        held += padded_length(before, end, real)
                        count = add_padded(low, before, real, intervals, count)
                        low = end
                    count = add_padded(low, high, real, intervals, count)
            kept += -covered(intervals, count) if lacking else covered(intervals, count)
    return kept, held


@inner_function
def padded_moments(
    pair: int,
    places: tuple[int, int],
    starts: tuple[int, int],
    wide: Wide,
) -> tuple[int, int]:
    """Padding among the rows that MACs touch, once a moment, and once a PE."""
    spots, intervals = wide.tables.spots, wide.tables.intervals
    once = 0
    each = 0
    longest, widest = 0, 0
    for i in range(places[0]):
        longest = max(longest, spots[0, i, NOW])
    for j in range(places[1]):
        widest = max(widest, spots[1, j, NOW])
    for y in range(longest):
        for tap in range(widest):
            count = 0
            for i in range(places[0]):
                for j in range(places[1]):
                    if spots[0, i, NOW] <= y or spots[1, j, NOW] <= tap:
                        continue
                    row = row_of(
                        pair, starts[0] + spots[0, i, START] + y, starts[1] + spots[1, j, START]
                        + tap, wide,
                    )  # fmt: skip
                    if is_padded(pair, row, wide):
                        count = add_interval(intervals, count, row, row + 1)
            each += count
            once += covered(intervals, count)
    return once, each


@inner_function
def last_at(d: int, outer: int, inner: int, wide: Wide) -> int:
    """The last place of a dimension that a PE has at given counters."""
    dims, segs = wide.tables.dims, wide.tables.segs
    key = key_at(d, outer, inner, dims, segs)
    return start_at(d, outer, inner, dims) + reach(d, key, wide.tables.t1, segs) - 1


@inner_function
def step_starts(pair: int, counters: Counters, wide: Wide) -> tuple[int, int]:
    """Where PE (0, 0)'s ranges of an axis and of its taps start."""
    dims = wide.tables.dims
    y, y_in, tap, tap_in = counters
    return start_at(Y + pair, y, y_in, dims), start_at(R + pair, tap, tap_in, dims)


@inner_function
def touches_padding(pair: int, counters: Counters, wide: Wide) -> bool:
    """Whether PEs touch padding in a step."""
    y, tap = step_starts(pair, counters, wide)
    y_end = last_at(Y + pair, counters[0], counters[1], wide)
    tap_end = last_at(R + pair, counters[2], counters[3], wide)
    first, last = row_of(pair, y, tap, wide), row_of(pair, y_end, tap_end, wide)
    return is_padded(pair, first, wide) or is_padded(pair, last, wide)


@inner_function
def counters_before_step(
    pair: int, events: tuple[int, int], counters: Counters, wide: Wide
) -> Counters:
    """The counters of the step before events that lead to the given ones, or `NEVER`."""
    dims = wide.tables.dims
    y, y_in, tap, tap_in = counters
    old_y, old_y_in = counters_before(Y + pair, events[0], y, y_in, dims)
    old_tap, old_tap_in = counters_before(R + pair, events[1], tap, tap_in, dims)
    if old_y == NEVER or old_tap == NEVER:
        return NEVER, 0, NEVER, 0
    return old_y, old_y_in, old_tap, old_tap_in


@inner_function
def step_places(pair: int, before: Counters, counters: Counters, wide: Wide) -> tuple[int, int]:
    """List the places of PEs in a step, and what they had in the one before, in `spots`.

    Returns:
        How many places of the axis and of the taps there are.
    """
    t1, dims, segs = wide.tables.t1, wide.tables.dims, wide.tables.segs
    spots, axis, taps = wide.tables.spots, Y + pair, R + pair
    old = key_at(axis, before[0], before[1], dims, segs)
    new = key_at(axis, counters[0], counters[1], dims, segs)
    old_tap = key_at(taps, before[2], before[3], dims, segs)
    new_tap = key_at(taps, counters[2], counters[3], dims, segs)
    return (
        list_spots(spots[0], axis, old, new, t1[axis], dims, segs),
        list_spots(spots[1], taps, old_tap, new_tap, t1[taps], dims, segs),
    )


@inner_function
def step_padding(
    pair: int, events: tuple[int, int], counters: Counters, hw: IntTable, wide: Wide
) -> tuple[int, int]:
    """Padding among the rows that no PE lacks in a step, each once, and that PEs hold, once a PE.

    Where both events are `STAYS` these are all rows that PEs touch.

    Args:
        pair: 0 for rows, 1 for columns.
        events: What happens to the axis and to the taps.
        counters: The step's.
        hw: Layer, accelerator and options.
        wide: Chip and mapping.
    """
    if not touches_padding(pair, counters, wide):
        return 0, 0
    before = counters_before_step(pair, events, counters, wide)
    if before[0] == NEVER:
        return 0, 0
    starts = step_starts(pair, counters, wide)
    old = step_starts(pair, before, wide)
    shifts = starts[0] - old[0], starts[1] - old[1]
    temporal = wide.n[SPREAD] & ((1 << (Y + pair)) | (1 << (R + pair))) == 0
    advances = events[0] in (INNER_ADVANCES, OUTER_ADVANCES)
    if not keeps(hw[HW_HALO], temporal, advances, shifts[0] != 0, shifts[1] != 0):
        return 0, 0
    # where nothing moves all of it is kept, as if the same had been there before
    places = step_places(pair, before, counters, wide)
    return padded_kept(pair, places, starts, shifts, wide)


@inner_function
def moment_padding(pair: int, counters: Counters, wide: Wide) -> tuple[int, int]:
    """Padding among the rows that a step's MACs touch, once a moment, and once a PE."""
    if not touches_padding(pair, counters, wide):
        return 0, 0
    places = step_places(pair, counters, counters, wide)
    return padded_moments(pair, places, step_starts(pair, counters, wide), wide)


@inner_function
def span_before(d: int, event: int, outer: int, dims: IntTable) -> int:
    """L2's outer counter before an event (stay, advance, wrap), or `NEVER`."""
    if event == 0:
        return outer
    if event == 1:
        return outer - 1
    return dims[d, OUTER] - 1 if outer == 0 else NEVER


@inner_function
def span_at(d: int, outer: int, dims: IntTable) -> int:
    """How much L2 holds of a dimension."""
    return dims[d, SPAN + (dims[d, CLASSES] - 1 if outer == dims[d, OUTER] - 1 else 0)]


@inner_function
def padded_span(
    pair: int, events: tuple[int, int], y: int, tap: int, hw: IntTable, wide: Wide
) -> int:
    """Padding among the rows that L2 keeps in one step; where both events are 0, that it holds."""
    dims = wide.tables.dims
    axis, taps = Y + pair, R + pair
    old_y, old_tap = span_before(axis, events[0], y, dims), span_before(taps, events[1], tap, dims)
    if old_y == NEVER or old_tap == NEVER:
        return 0
    if not keeps(hw[HW_HALO], True, events[0] == 1, y != old_y, tap != old_tap):
        return 0
    stride, step = wide.n[TRUE_STRIDE + pair], wide.n[TRUE_STEP + pair]
    y_classes, tap_classes = classes_of(stride, step, wide)
    width, taps_width = dims[axis, OUTER_WIDTH], dims[taps, OUTER_WIDTH]
    padding = 0
    for number in range(y_classes * tap_classes):
        y_class, tap_class = number % y_classes, number // y_classes
        low, high = class_range(
            y * width, span_at(axis, y, dims), tap * taps_width, span_at(taps, tap, dims),
            y_class, tap_class, stride, step, wide,
        )  # fmt: skip
        before, end = class_range(
            old_y * width, span_at(axis, old_y, dims),
            old_tap * taps_width, span_at(taps, old_tap, dims),
            y_class, tap_class, stride, step, wide,
        )  # fmt: skip
        real = real_rows(pair, y_class, tap_class, wide)
        padding += padded_length(max(low, before), min(high, end), real)
    return padding
