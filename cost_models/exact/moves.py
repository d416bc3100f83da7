"""How a dimension's range moves from one step to the next.

Between two steps one loop advances, the loops inside it wrap from last to first, and those outside
stay. So a dimension stays, its inner loop advances, its inner loop wraps, its outer loop advances
(and the inner one wraps), or both wrap. Moves that shift and cut the tiles alike share one entry.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from common import inner_function
from cost_models.exact.layout import (
    CLASSES,
    COUNT,
    INNER,
    INNER_WIDTH,
    MAX_SEGMENTS,
    OUTER,
    OUTER_WIDTH,
    REPEAT,
    SEGMENTS,
    SPAN,
    IntTable,
    MoveTable,
    SegTable,
)

# what happens to a dimension between two inner steps
STAYS: Final = 0
INNER_ADVANCES: Final = 1
INNER_WRAPS: Final = 2
OUTER_ADVANCES: Final = 3
OUTER_WRAPS: Final = 4
EVENTS: Final = 5

# --- table `moves[d, move, field]`: the moves of a dimension ----------------------------------
AT: Final = 0  # +segment: no move
WITHIN: Final = 8  # +segment: to the next iteration of the same segment
ENTER: Final = 16  # +segment: into it from the segment before
REWIND: Final = 24  # +class: from an outer step's last iteration to its first
NEXT: Final = 26  # +class: into an outer step of the class from the one before
RESTART: Final = 28  # from the last outer step to the first
ALL_MOVES: Final = 29

OLD: Final = 0  # segment before
NEW: Final = 1  # segment after
SHIFT: Final = 2  # how far PE (0, 0)'s range starts after where it started
TIMES: Final = 3  # how often, over all values of the dimension's own counters
MOVE_FIELDS: Final = 4

# --- table `lists[d, event, field]`: the moves of each event ----------------------------------
LENGTH: Final = 0
MEMBER: Final = 1  # +index
LIST_FIELDS: Final = 16

# --- the same of L2's ranges between two outer steps ------------------------------------------
SPAN_AT: Final = 0  # +class
SPAN_NEXT: Final = 2  # +class
SPAN_RESTART: Final = 4
SPAN_MOVES: Final = 5


@inner_function
def event_of(move: int) -> int:
    """The event that a move belongs to."""
    if move < WITHIN:
        return STAYS
    if move < REWIND:
        return INNER_ADVANCES
    if move < NEXT:
        return INNER_WRAPS
    return OUTER_ADVANCES if move < RESTART else OUTER_WRAPS


@inner_function
def span_event(move: int) -> int:
    """0 where L2's range stays, 1 where its loop advances, 2 where it wraps."""
    if move < SPAN_NEXT:
        return 0
    return 1 if move < SPAN_RESTART else 2


@inner_function
def add_move(
    moves: MoveTable,
    lists: MoveTable,
    d: int,
    event: int,
    move: int,
    old: int,
    new: int,
    shift: int,
    times: int,
) -> None:
    """Enter a move that happens at least once."""
    if times <= 0:
        return
    moves[d, move, OLD] = old
    moves[d, move, NEW] = new
    moves[d, move, SHIFT] = shift
    moves[d, move, TIMES] = times
    length = lists[d, event, LENGTH]
    lists[d, event, MEMBER + length] = move
    lists[d, event, LENGTH] = length + 1


@inner_function
def fill_moves(moves: MoveTable, lists: MoveTable, d: int, dims: IntTable, segs: SegTable) -> None:
    """List the moves of PE ranges along a dimension."""
    for event in range(EVENTS):
        lists[d, event, LENGTH] = 0
    inner, outer = dims[d, INNER_WIDTH], dims[d, OUTER_WIDTH]
    classes = dims[d, CLASSES]
    for kind in range(classes):
        first = MAX_SEGMENTS * kind
        last = first + dims[d, SEGMENTS + kind] - 1
        count = dims[d, COUNT + kind]
        for key in range(first, last + 1):
            repeat = segs[d, key, REPEAT]
            add_move(moves, lists, d, STAYS, AT + key, key, key, 0, count * repeat)
            add_move(
                moves, lists, d, INNER_ADVANCES, WITHIN + key, key, key, inner,
                count * (repeat - 1),
            )  # fmt: skip
            if key > first:
                add_move(moves, lists, d, INNER_ADVANCES, ENTER + key, key - 1, key, inner, count)
        back = inner * (dims[d, INNER + kind] - 1)
        add_move(moves, lists, d, INNER_WRAPS, REWIND + kind, last, first, -back, count)
    before = dims[d, SEGMENTS] - 1
    shift = outer - inner * (dims[d, INNER] - 1)
    add_move(moves, lists, d, OUTER_ADVANCES, NEXT, before, 0, shift, dims[d, COUNT] - 1)
    if classes > 1:
        add_move(moves, lists, d, OUTER_ADVANCES, NEXT + 1, before, MAX_SEGMENTS, shift, 1)
    final = classes - 1
    last = MAX_SEGMENTS * final + dims[d, SEGMENTS + final] - 1
    back = inner * (dims[d, INNER + final] - 1) + outer * (dims[d, OUTER] - 1)
    add_move(moves, lists, d, OUTER_WRAPS, RESTART, last, 0, -back, 1)


@inner_function
def fill_span_moves(moves: MoveTable, d: int, dims: IntTable) -> None:
    """The moves of L2's range along a dimension; `OLD` and `NEW` are lengths."""
    classes = dims[d, CLASSES]
    final = dims[d, SPAN + classes - 1]
    for kind in range(2):
        present = kind < classes
        span = dims[d, SPAN + kind] if present else 0
        moves[d, SPAN_AT + kind, OLD] = span
        moves[d, SPAN_AT + kind, NEW] = span
        moves[d, SPAN_AT + kind, SHIFT] = 0
        moves[d, SPAN_AT + kind, TIMES] = dims[d, COUNT + kind] if present else 0
        moves[d, SPAN_NEXT + kind, OLD] = dims[d, SPAN]
        moves[d, SPAN_NEXT + kind, NEW] = span
        moves[d, SPAN_NEXT + kind, SHIFT] = dims[d, OUTER_WIDTH]
        moves[d, SPAN_NEXT + kind, TIMES] = (dims[d, COUNT] - 1 if kind == 0 else 1) * present
    moves[d, SPAN_RESTART, OLD] = final
    moves[d, SPAN_RESTART, NEW] = dims[d, SPAN]
    moves[d, SPAN_RESTART, SHIFT] = -dims[d, OUTER_WIDTH] * (dims[d, OUTER] - 1)
    moves[d, SPAN_RESTART, TIMES] = 1
