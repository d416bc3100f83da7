"""The work tables of one thread; `layout` and `moves` give the meaning of their fields."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from common import allocating_function, inner_function
from cost_models.exact.compute import MAX_SIZES
from cost_models.exact.kept import SPOT_FIELDS
from cost_models.exact.layout import (
    ALL_DIMS,
    DIM_FIELDS,
    HW_DIMS,
    HW_EXTENT,
    HW_LANES,
    ROW_KEYS,
    SEG_FIELDS,
    IntTable,
    MoveTable,
    R,
    RowTable,
    SegTable,
    Y,
)
from cost_models.exact.moves import (
    ALL_MOVES,
    EVENTS,
    LIST_FIELDS,
    MOVE_FIELDS,
    SPAN_MOVES,
)

# --- table `steps[row]`: state of the walk over step classes; a column a dimension or a loop ---
KINDS: Final = 0  # class of each dimension's outer step
KEY: Final = 1  # each dimension's segment
LOOPS: Final = 2  # inner loops with more than one iteration, outermost first
OUTER_LOOPS: Final = 3
RAGGED: Final = 4  # positions of outer loops with a smaller last step
DIGITS: Final = 5  # state of the odometer over segments: digit a loop,
TIMES: Final = 6  # steps, and
FIRSTS: Final = 7  # steps that write partial sums for the first time
TOTALS: Final = 8  # sums over the inner steps; fields in `inner`
STEP0: Final = 9
L2_TILES: Final = 10  # what moves in one step; fields in `step_tiles`
PE_TILES: Final = 11
PE_MOVES: Final = 12  # each dimension's move
L2_MOVES: Final = 13
EVENT: Final = 14  # each dimension's event
RUNS: Final = 15  # with a table `wide`, a dimension's class of outer steps (see `padding_runs`);
OUTER_AT: Final = 16  # where it is cut into runs, the outer,
INNER_AT: Final = 17  # and the inner counter of a step that stands for all of its run
STEP_ROWS: Final = 18
STEP_COLUMNS: Final = 16


class Tables(NamedTuple):
    """Work tables; a mapping overwrites what the one before left.

    Args:
        t1: ``(8,)``: tiles of a cluster.
        dims: ``(8, DIM_FIELDS)``: how each dimension is cut.
        segs: ``(8, ROW_KEYS, SEG_FIELDS)``: inner iterations that are alike.
        moves: ``(6, ALL_MOVES, MOVE_FIELDS)``: how each dimension's ranges move.
        lists: ``(6, EVENTS, LIST_FIELDS)``: its moves by event.
        kept: ``(2, 2, ALL_MOVES, ALL_MOVES)``: input rows still held after two moves.
        kept_sums: ``(2, 2, EVENTS, EVENTS)``: the same summed over steps, by event.
        spans: ``(6, SPAN_MOVES, MOVE_FIELDS)``: moves of what L2 holds.
        span_kept: ``(2, SPAN_MOVES, SPAN_MOVES)``: input rows L2 still holds after two moves.
        span_sums: ``(2, 3, 3)``: the same summed over outer steps, by event.
        spots: ``(2, places, SPOT_FIELDS)``: the places of PEs along two dimensions.
        intervals: ``(4 * places, 2)``: rows that PEs lack.
        steps: ``(STEP_ROWS, STEP_COLUMNS)``: state of the walk over step classes.
        products: ``(MAX_SIZES ** dimensions, 2)``: different tiles and how often they occur.
        sizes: ``(8, 2)``: the same of one dimension.
    """

    t1: IntTable
    dims: IntTable
    segs: SegTable
    moves: MoveTable
    lists: MoveTable
    kept: RowTable
    kept_sums: RowTable
    spans: MoveTable
    span_kept: RowTable
    span_sums: RowTable
    spots: MoveTable
    intervals: IntTable
    steps: IntTable
    products: IntTable
    sizes: IntTable


@inner_function
def most_places(hw: IntTable, num_pes: int, least_taps: int) -> int:
    """Most places of PEs along an axis and its taps, where there are as many taps as said."""
    most = 1
    for pair in range(2):
        taps = hw[HW_EXTENT + R + pair]
        if taps >= least_taps:
            most = max(most, min(num_pes, hw[HW_EXTENT + Y + pair]) * min(num_pes, taps))
    return min(most, num_pes)


@allocating_function
def new_tables(hw: IntTable, num_pes: int, least_taps: int) -> Tables:
    """Tables for mappings of a layer on at most `num_pes` PEs.

    Args:
        hw: Layer, accelerator and options.
        num_pes: Most PEs.
        least_taps: From how many taps on places are listed: 2 where one leaves nothing to share.
    """
    places = most_places(hw, num_pes, least_taps)
    return Tables(
        np.empty(ALL_DIMS, np.int64),
        np.empty((ALL_DIMS, DIM_FIELDS), np.int64),
        np.empty((ALL_DIMS, ROW_KEYS, SEG_FIELDS), np.int64),
        np.empty((6, ALL_MOVES, MOVE_FIELDS), np.int64),
        np.empty((6, EVENTS, LIST_FIELDS), np.int64),
        np.empty((2, 2, ALL_MOVES, ALL_MOVES), np.int64),
        np.zeros((2, 2, EVENTS, EVENTS), np.int64),
        np.empty((6, SPAN_MOVES, MOVE_FIELDS), np.int64),
        np.empty((2, SPAN_MOVES, SPAN_MOVES), np.int64),
        np.empty((2, 3, 3), np.int64),
        np.empty((2, places, SPOT_FIELDS), np.int64),
        np.empty((4 * places, 2), np.int64),
        np.empty((STEP_ROWS, STEP_COLUMNS), np.int64),
        np.empty((MAX_SIZES ** hw[HW_DIMS] if hw[HW_LANES] > 1 else 1, 2), np.int64),
        np.empty((8, 2), np.int64),
    )
