"""Padding among the input rows (or columns) that the sums of input traffic count.

Padding lies at the ends of an axis, so that few steps touch it: those are walked one by one, and
what they count of it is what the option ``padding=free`` takes off again.
"""

from __future__ import annotations

from common import inner_function
from cost_models.exact.input_volume import together
from cost_models.exact.layout import INPUT, OUTER, IntTable, R, RowTable, Y
from cost_models.exact.moves import EVENTS
from cost_models.exact.padding_rows import (
    Counters,
    inner_count,
    moment_padding,
    padded_span,
    step_padding,
    touches_padding,
)
from cost_models.exact.wide import Wide, passes


@inner_function
def take_off_step(
    pair: int, counters: Counters, hw: IntTable, kept_sums: RowTable, wide: Wide
) -> None:
    """Leave the padding out that one pair of counters adds to the sums."""
    if not touches_padding(pair, counters, wide):
        return
    for number in range(EVENTS * EVENTS):
        events = number % EVENTS, number // EVENTS
        if together(events[0], events[1]):
            kept, held = step_padding(pair, events, counters, hw, wide)
            kept_sums[pair, 0, events[0], events[1]] -= kept
            kept_sums[pair, 1, events[0], events[1]] -= held
    if passes(1, INPUT, wide):
        once, each = moment_padding(pair, counters, wide)
        wide.moment_sums[pair, 0] -= once
        wide.moment_sums[pair, 1] -= each


@inner_function
def take_off_padding(hw: IntTable, kept_sums: RowTable, wide: Wide) -> None:
    """Leave padding out of `kept_sums`, and out of `wide.moment_sums`."""
    dims = wide.tables.dims
    for pair in range(2):
        for y in range(dims[Y + pair, OUTER]):
            for y_in in range(inner_count(Y + pair, y, dims)):
                for tap in range(dims[R + pair, OUTER]):
                    for tap_in in range(inner_count(R + pair, tap, dims)):
                        take_off_step(pair, (y, y_in, tap, tap_in), hw, kept_sums, wide)


@inner_function
def take_off_span_padding(hw: IntTable, span_sums: RowTable, wide: Wide) -> None:
    """Leave padding out of `span_sums`."""
    dims = wide.tables.dims
    for pair in range(2):
        for y in range(dims[Y + pair, OUTER]):
            for tap in range(dims[R + pair, OUTER]):
                for number in range(9):
                    events = number % 3, number // 3
                    if events[0] == events[1] == 1:
                        continue
                    rows = padded_span(pair, events, y, tap, hw, wide)
                    span_sums[pair, events[0], events[1]] -= rows
