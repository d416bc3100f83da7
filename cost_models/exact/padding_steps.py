"""Input rows of the steps that the walk over step classes comes by, padding left out if free."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import FREE, HW_TILE, IntTable, R, RowTable, Y
from cost_models.exact.moves import event_of, span_event
from cost_models.exact.padding_rows import Counters, moment_padding, padded_span, step_padding
from cost_models.exact.tables import INNER_AT, KEY, OUTER_AT
from cost_models.exact.wide import Wide


@inner_function
def counters_at(pair: int, steps: IntTable) -> Counters:
    """The counters of the axis and of its taps in a step of the class."""
    return (
        steps[OUTER_AT, Y + pair], steps[INNER_AT, Y + pair],
        steps[OUTER_AT, R + pair], steps[INNER_AT, R + pair],
    )  # fmt: skip


@inner_function
def rows_after(
    pair: int,
    axis_move: int,
    taps_move: int,
    hw: IntTable,
    steps: IntTable,
    kept: RowTable,
    wide: Wide | None,
) -> int:
    """Rows that still need not cross the NoC after two moves; where nothing moves, all rows."""
    space = hw[HW_TILE]
    rows = kept[pair, space, axis_move, taps_move]
    if wide is not None and wide.n[FREE] and rows > 0:
        events = event_of(axis_move), event_of(taps_move)
        once, each = step_padding(pair, events, counters_at(pair, steps), hw, wide)
        rows -= each if space else once
    return rows


@inner_function
def moment_rows_at(pair: int, hw: IntTable, steps: IntTable, wide: Wide) -> int:
    """Rows that a step's MACs touch, moment by moment."""
    space = hw[HW_TILE]
    rows = wide.moments[pair, space, steps[KEY, Y + pair], steps[KEY, R + pair]]
    if wide.n[FREE]:
        once, each = moment_padding(pair, counters_at(pair, steps), wide)
        rows -= each if space else once
    return rows


@inner_function
def span_rows_after(
    pair: int,
    axis_move: int,
    taps_move: int,
    hw: IntTable,
    steps: IntTable,
    span_kept: RowTable,
    wide: Wide | None,
) -> int:
    """Rows that L2 still holds after two moves; where nothing moves, all rows."""
    rows = span_kept[pair, axis_move, taps_move]
    if wide is not None and wide.n[FREE] and rows > 0:
        events = span_event(axis_move), span_event(taps_move)
        y, tap = steps[OUTER_AT, Y + pair], steps[OUTER_AT, R + pair]
        rows -= padded_span(pair, events, y, tap, hw, wide)
    return rows
