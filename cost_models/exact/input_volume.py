"""Input traffic: what buffers lack of each step's tile.

In every step a buffer gets what its tile lacks in what it held the step before. So the traffic is
the sum of all tiles, less what each step shares with the one before. A step follows from the one
before by one loop that advances: for each of the loops that is a product over the dimensions of
what stays, moves on or wraps, where rows and columns couple two dimensions each. The option
``halo_time`` says which of the shared elements a buffer may keep.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.kept import distinct_rows, kept_rows, placed_rows, shared_rows, touched
from cost_models.exact.layout import (
    EXTENT,
    HALO_RETAIN,
    HW_DIMS,
    HW_HALO,
    HW_STEP,
    HW_STRIDE,
    OUTER,
    PLACES,
    PLACES_FIRST,
    PLACES_J0,
    STEPS,
    STILL,
    C,
    IntTable,
    K,
    MoveTable,
    N,
    R,
    RowTable,
    SegTable,
    Y,
)
from cost_models.exact.moves import (
    AT,
    EVENTS,
    INNER_ADVANCES,
    INNER_WRAPS,
    LENGTH,
    MEMBER,
    NEW,
    OLD,
    OUTER_ADVANCES,
    OUTER_WRAPS,
    SHIFT,
    SPAN_MOVES,
    STAYS,
    TIMES,
    span_event,
)
from cost_models.exact.wide import Wide


@inner_function
def together(axis_event: int, taps_event: int) -> bool:
    """Whether one step can bring both events: one loop advances, of one level."""
    if axis_event == taps_event:
        return axis_event not in (INNER_ADVANCES, OUTER_ADVANCES)
    low, high = min(axis_event, taps_event), max(axis_event, taps_event)
    return high <= INNER_WRAPS or low >= INNER_WRAPS


@inner_function
def keeps(halo: int, temporal: bool, advances: bool, axis_moves: bool, taps_move: bool) -> bool:
    """Whether a buffer keeps what two ranges share after they moved.

    Args:
        halo: `HALO_NONE` or `HALO_RETAIN`.
        temporal: Whether neither outputs nor taps are spread over units.
        advances: Whether it is the outputs' loop that advances.
        axis_moves: Whether the outputs' range moved.
        taps_move: Whether the taps' range moved.
    """
    return bool(halo == HALO_RETAIN or not (axis_moves or taps_move))


@inner_function
def fill_kept(
    kept: RowTable,
    kept_sums: RowTable,
    pair: int,
    fixed: int,
    hw: IntTable,
    moves: MoveTable,
    lists: MoveTable,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide | None,
) -> None:
    """Rows (pair 0) or columns (pair 1) that are still held, by move and summed by event.

    Args:
        kept: Gets ``kept[pair, space, move of the axis, move of the taps]``: distinct rows (space
            0), and rows summed over places (space 1). Where nothing moves these are all rows.
        kept_sums: Gets ``kept_sums[pair, space, event of the axis, event of the taps]``.
        pair: 0 or 1.
        fixed: Mask of the spatial dimensions.
        hw: Layer, accelerator and options.
        moves: Moves of all dimensions.
        lists: Moves by event.
        t1: Tiles of a cluster.
        dims: Dimension table.
        segs: Segment table.
        spots: Work array.
        intervals: Work array.
        wide: Chip and mapping, where more is to be known.
    """
    axis, taps = Y + pair, R + pair
    stride, step, halo = hw[HW_STRIDE + pair], hw[HW_STEP + pair], hw[HW_HALO]
    temporal = fixed & ((1 << axis) | (1 << taps)) == 0
    for axis_event in range(EVENTS):
        advances = axis_event in (INNER_ADVANCES, OUTER_ADVANCES)
        for taps_event in range(EVENTS):
            if not together(axis_event, taps_event):
                continue
            distinct = 0
            placed = 0
            for i in range(lists[axis, axis_event, LENGTH]):
                axis_move = lists[axis, axis_event, MEMBER + i]
                key = moves[axis, axis_move, NEW]
                axis_moves = moves[axis, axis_move, SHIFT] != 0
                for j in range(lists[taps, taps_event, LENGTH]):
                    taps_move = lists[taps, taps_event, MEMBER + j]
                    taps_key = moves[taps, taps_move, NEW]
                    taps_moves = moves[taps, taps_move, SHIFT] != 0
                    once = 0
                    each = 0
                    if axis_event == STAYS and taps_event == STAYS:
                        once = distinct_rows(
                            axis, taps, key, taps_key, stride, step, t1, dims, segs,
                            spots, intervals, wide,
                        )  # fmt: skip
                        each = placed_rows(segs, axis, key, taps, taps_key, stride, step, wide)
                    elif not (axis_moves or taps_moves):
                        once = kept[pair, 0, AT + key, AT + taps_key]
                        each = kept[pair, 1, AT + key, AT + taps_key]
                    elif keeps(halo, temporal, advances, axis_moves, taps_moves):
                        once, each = kept_rows(
                            axis, taps, axis_move, taps_move, moves, stride, step, t1, dims, segs,
                            kept[pair, 0, AT + key, AT + taps_key], spots, intervals, wide,
                        )  # fmt: skip
                    kept[pair, 0, axis_move, taps_move] = once
                    kept[pair, 1, axis_move, taps_move] = each
                    times = moves[axis, axis_move, TIMES] * moves[taps, taps_move, TIMES]
                    distinct += times * once
                    placed += times * each
            kept_sums[pair, 0, axis_event, taps_event] = distinct
            kept_sums[pair, 1, axis_event, taps_event] = placed


@inner_function
def held_range(d: int, event: int, dims: IntTable) -> int:
    """What a step shares with the one before along C, N or G, summed over the event's occurrences.

    It is all or nothing: these ranges stay, or have nothing in common.
    """
    if event == STAYS:
        return dims[d, EXTENT]
    if event == INNER_WRAPS or (event == OUTER_WRAPS and dims[d, OUTER] == 1):
        return dims[d, STILL + 1]
    return 0


@inner_function
def repeats(event: int, dims: IntTable) -> tuple[int, int]:
    """How often K meets an event, and at how many PEs after it."""
    if event == STAYS:
        return dims[K, STEPS], dims[K, PLACES]
    if event == INNER_ADVANCES:
        return dims[K, STEPS] - dims[K, OUTER], dims[K, PLACES] - dims[K, PLACES_J0]
    if event == INNER_WRAPS:
        return dims[K, OUTER], dims[K, PLACES_J0]
    if event == OUTER_ADVANCES:
        return dims[K, OUTER] - 1, dims[K, PLACES_J0] - dims[K, PLACES_FIRST]
    return 1, dims[K, PLACES_FIRST]


@inner_function
def held_elements(
    events: IntTable, hw: IntTable, dims: IntTable, kept_sums: RowTable
) -> tuple[int, int, int]:
    """Input elements that steps share with those before, for one event a dimension.

    Returns:
        Distinct elements, the same of every distinct tile, and those of all PEs.
    """
    channels = held_range(C, events[C], dims)
    for d in range(N, hw[HW_DIMS]):
        channels *= held_range(d, events[d], dims)
    if channels == 0:
        return 0, 0, 0
    often, places = repeats(events[K], dims)
    distinct = channels * often
    tiles = channels
    for pair in range(2):
        axis_event, taps_event = events[Y + pair], events[R + pair]
        distinct *= kept_sums[pair, 0, axis_event, taps_event]
        tiles *= kept_sums[pair, 1, axis_event, taps_event]
    return distinct, tiles * often, tiles * places


@inner_function
def input_volume(
    hw: IntTable,
    outer_order: IntTable,
    inner_order: IntTable,
    dims: IntTable,
    kept_sums: RowTable,
    events: IntTable,
) -> tuple[int, int, int]:
    """Input elements over the NoC.

    Returns:
        Distinct elements a step summed over steps; the same with every distinct tile's own; and
        what all PEs receive.
    """
    events[:] = STAYS
    distinct, tiles, delivered = held_elements(events, hw, dims, kept_sums)
    for level in range(2):
        order = outer_order if level else inner_order
        # loops inside the one that advances wrap
        for place in range(hw[HW_DIMS] - 1, -1, -1):
            d = order[place]
            events[d] = OUTER_ADVANCES if level else INNER_ADVANCES
            a, b, c = held_elements(events, hw, dims, kept_sums)
            distinct -= a
            tiles -= b
            delivered -= c
            events[d] = OUTER_WRAPS if level else INNER_WRAPS
    return distinct, tiles, delivered


@inner_function
def fill_span_kept(
    span_kept: RowTable,
    span_sums: RowTable,
    pair: int,
    hw: IntTable,
    spans: MoveTable,
    wide: Wide | None,
) -> None:
    """As `fill_kept`, for what L2 holds: one range a dimension; events are stay, advance, wrap."""
    axis, taps = Y + pair, R + pair
    stride, step, halo = hw[HW_STRIDE + pair], hw[HW_STEP + pair], hw[HW_HALO]
    for axis_event in range(3):
        for taps_event in range(3):
            span_sums[pair, axis_event, taps_event] = 0
    for i in range(SPAN_MOVES):
        for j in range(SPAN_MOVES):
            axis_event, taps_event = span_event(i), span_event(j)
            times = spans[axis, i, TIMES] * spans[taps, j, TIMES]
            if times == 0 or axis_event == taps_event == 1:
                continue
            axis_moves, taps_move = spans[axis, i, SHIFT] != 0, spans[taps, j, SHIFT] != 0
            shared = 0
            if not (axis_moves or taps_move):
                shared = touched(spans[axis, i, NEW], spans[taps, j, NEW], stride, step, wide)
            elif keeps(halo, True, axis_event == 1, axis_moves, taps_move):
                shared = shared_rows(
                    spans[axis, i, NEW], spans[taps, j, NEW],
                    spans[axis, i, OLD], spans[taps, j, OLD],
                    spans[axis, i, SHIFT], spans[taps, j, SHIFT], stride, step, wide,
                )  # fmt: skip
            span_kept[pair, i, j] = shared
            span_sums[pair, axis_event, taps_event] += times * shared


@inner_function
def span_elements(events: IntTable, hw: IntTable, dims: IntTable, span_sums: RowTable) -> int:
    """Input elements that L2's outer steps share with those before, for one event a dimension."""
    if events[C] > 0 and dims[C, OUTER] > 1:
        return 0
    elements = dims[C, EXTENT]
    for d in range(N, hw[HW_DIMS]):
        elements *= 0 if events[d] > 0 and dims[d, OUTER] > 1 else dims[d, EXTENT]
    if events[K] < 2:
        elements *= dims[K, OUTER] - events[K]
    for pair in range(2):
        elements *= span_sums[pair, events[Y + pair], events[R + pair]]
    return elements


@inner_function
def dram_input(
    hw: IntTable, outer_order: IntTable, dims: IntTable, span_sums: RowTable, events: IntTable
) -> int:
    """Input elements from DRAM."""
    events[:] = 0
    elements = span_elements(events, hw, dims, span_sums)
    for place in range(hw[HW_DIMS] - 1, -1, -1):
        d = outer_order[place]
        if dims[d, OUTER] > 1:
            events[d] = 1
            elements -= span_elements(events, hw, dims, span_sums)
        events[d] = 2
    return elements
