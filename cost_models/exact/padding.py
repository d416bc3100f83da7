"""Padding among the input rows (or columns) that the sums of input traffic count.

Padding lies at the ends of an axis, so that few steps touch it: those are walked one by one, and
what they count of it is what the option ``padding=free`` takes off again.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.input_volume import keeps, together
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
    EVENTS,
    INNER_ADVANCES,
    OUTER_ADVANCES,
    OUTER_WRAPS,
    STAYS,
)
from cost_models.exact.wide import Wide, is_box

NEVER: Final = -1


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
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide,
) -> tuple[int, int]:
    """Padding among the rows that no PE lacks, each once, and that PEs hold, once a PE.

    Args:
        pair: 0 for rows, 1 for columns.
        places: How many `spots` of the axis and of the taps there are.
        starts: Where the ranges of PE (0, 0) start.
        shifts: How far they moved.
        spots: The places of PEs.
        intervals: Work array, ``(4 * places, 2)``.
        wide: Chip and mapping.
    """
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
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide,
) -> tuple[int, int]:
    """Padding among the rows that MACs touch, once a moment, and once a PE."""
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
def touches_padding(
    pair: int, starts: tuple[int, int], keys: tuple[int, int], t1: IntTable, segs: SegTable,
    wide: Wide,
) -> bool:  # fmt: skip
    """Whether PEs touch padding in a step with these segments."""
    y_end = starts[0] + reach(Y + pair, keys[0], t1, segs) - 1
    tap_end = starts[1] + reach(R + pair, keys[1], t1, segs) - 1
    first = row_of(pair, starts[0], starts[1], wide)
    return is_padded(pair, first, wide) or is_padded(pair, row_of(pair, y_end, tap_end, wide), wide)


@inner_function
def add_padding(
    pair: int,
    fixed: int,
    events: tuple[int, int],
    counters: tuple[int, int, int, int],
    hw: IntTable,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide,
) -> None:
    """Add the padding that one step keeps, or touches, to `wide.padded`.

    Args:
        pair: 0 for rows, 1 for columns.
        fixed: Mask of the spatial dimensions.
        events: What happens to the axis and to the taps.
        counters: Outer and inner counter of the axis, then of the taps.
        hw: Layer, accelerator and options.
        t1: Tiles of a cluster.
        dims: Dimension table.
        segs: Segment table.
        spots: Work array.
        intervals: Work array.
        wide: Chip and mapping.
    """
    axis, taps = Y + pair, R + pair
    y, y_in, tap, tap_in = counters
    old_y, old_y_in = counters_before(axis, events[0], y, y_in, dims)
    old_tap, old_tap_in = counters_before(taps, events[1], tap, tap_in, dims)
    if old_y == NEVER or old_tap == NEVER:
        return
    keys = key_at(axis, y, y_in, dims, segs), key_at(taps, tap, tap_in, dims, segs)
    starts = start_at(axis, y, y_in, dims), start_at(taps, tap, tap_in, dims)
    if not touches_padding(pair, starts, keys, t1, segs, wide):
        return
    shifts = (
        starts[0] - start_at(axis, old_y, old_y_in, dims),
        starts[1] - start_at(taps, old_tap, old_tap_in, dims),
    )
    temporal = fixed & ((1 << axis) | (1 << taps)) == 0
    advances = events[0] in (INNER_ADVANCES, OUTER_ADVANCES)
    if not keeps(hw[HW_HALO], temporal, advances, shifts[0] != 0, shifts[1] != 0):
        return
    # where nothing moves all of it is kept, as if the same had been there before
    old_keys = (
        key_at(axis, old_y, old_y_in, dims, segs), key_at(taps, old_tap, old_tap_in, dims, segs)
    )  # fmt: skip
    places = (
        list_spots(spots[0], axis, old_keys[0], keys[0], t1[axis], dims, segs),
        list_spots(spots[1], taps, old_keys[1], keys[1], t1[taps], dims, segs),
    )
    kept, held = padded_kept(pair, places, starts, shifts, spots, intervals, wide)
    wide.padded[pair, 0, events[0], events[1]] += kept
    wide.padded[pair, 1, events[0], events[1]] += held
    if events[0] == STAYS and events[1] == STAYS:
        once, each = padded_moments(pair, places, starts, spots, intervals, wide)
        wide.padded_moments[pair, 0] += once
        wide.padded_moments[pair, 1] += each


@inner_function
def fill_padding(
    fixed: int,
    hw: IntTable,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide,
) -> None:
    """Fill `wide.padded` and `wide.padded_moments`; arguments as `add_padding`."""
    wide.padded[:] = 0
    wide.padded_moments[:] = 0
    for pair in range(2):
        for y in range(dims[Y + pair, OUTER]):
            for y_in in range(inner_count(Y + pair, y, dims)):
                for tap in range(dims[R + pair, OUTER]):
                    for tap_in in range(inner_count(R + pair, tap, dims)):
                        counters = y, y_in, tap, tap_in
                        for number in range(EVENTS * EVENTS):
                            events = number % EVENTS, number // EVENTS
                            if together(events[0], events[1]):
                                add_padding(
                                    pair, fixed, events, counters, hw, t1, dims, segs, spots,
                                    intervals, wide,
                                )  # fmt: skip


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
    pair: int, events: tuple[int, int], y: int, tap: int, hw: IntTable, dims: IntTable, wide: Wide
) -> int:
    """Padding among the rows that L2 keeps in one step, or holds."""
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


@inner_function
def fill_span_padding(hw: IntTable, dims: IntTable, wide: Wide) -> None:
    """Fill `wide.padded_spans`."""
    wide.padded_spans[:] = 0
    for pair in range(2):
        for y in range(dims[Y + pair, OUTER]):
            for tap in range(dims[R + pair, OUTER]):
                for number in range(9):
                    events = number % 3, number // 3
                    if events[0] == events[1] == 1:
                        continue
                    rows = padded_span(pair, events, y, tap, hw, dims, wide)
                    wide.padded_spans[pair, events[0], events[1]] += rows
