"""The bound of one box, and of a range of boxes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common.jit import entry_point, inner_function, source_stamp
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    EXTENT,
    LANES,
    D,
    Floats,
    Ints,
    Offers,
)
from cost_models.exact.bounds.box_capacity import shrink_inner, shrink_outer
from cost_models.exact.bounds.box_clock import CLOCK, fill_clock
from cost_models.exact.bounds.box_fields import (
    BOX_FIELDS,
    FIRST_LEAD,
    INNER_HIGH,
    INNER_LOW,
    LEAD,
    MEMBERS,
    OUTER_HIGH,
    OUTER_LOW,
    RAGGED,
    SPAN,
    STEPS,
    UNITS,
)
from cost_models.exact.bounds.box_ranges import fill_ranges
from cost_models.exact.bounds.box_traffic import (
    FLOWS,
    ROW_KINDS,
    fill_dram,
    fill_flows,
    fill_rows_of,
)
from cost_models.exact.bounds.box_value import bound_value
from cost_models.exact.layout import X, Y


@inner_function
def read_box(
    facts: Floats, flags: Ints, offers: Offers, units: Ints, box: Ints, work: Floats
) -> None:
    """The ranges of tiles of a box, and the units along each dimension, into the work table."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        n = facts[EXTENT + d]
        work[UNITS, d] = units[0, d]
        work[MEMBERS, d] = units[1, d]
        low, high = offers.tiles[0, d, box[0, d]], offers.tiles[0, d, box[1, d]]
        work[OUTER_LOW, d] = low
        work[OUTER_HIGH, d] = high
        work[INNER_LOW, d] = min(low, offers.tiles[1, d, box[2, d]])
        work[INNER_HIGH, d] = min(high, offers.tiles[1, d, box[3, d]])
        work[SPAN, d] = min(low * units[0, d], n)


@inner_function
def bound_one(
    facts: Floats,
    flags: Ints,
    offers: Offers,
    units: Ints,
    spread: int,
    box: Ints,
    work: Floats,
    rows: Floats,
    dram: Floats,
    flows: Floats,
    clock: Floats,
) -> float:
    """Bound of one box.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        offers: The tiles that are offered.
        units: ``(2, D)`` clusters and PEs of a cluster along each dimension; 0: there is none.
        spread: Dimensions that are in parallel, as bits.
        box: ``(4, D)`` positions of tiles.
        work: Work table, ``(BOX_FIELDS, D)``; ones where a dimension's extent is 1.
        rows: ``(2, ROW_KINDS)``.
        dram: ``(3, 3)``.
        flows: ``(FLOWS, 4)``.
        clock: ``(CLOCK,)``.
    """
    if units[0, 0] == 0:
        return math.inf
    read_box(facts, flags, offers, units, box, work)
    if not shrink_outer(facts, flags, offers, work) or not shrink_inner(facts, flags, offers, work):
        return math.inf
    still = 0
    moves = 0
    compute = 1.0
    steps = 1.0
    first_compute = 1.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        resting, iterating = fill_ranges(facts, offers, d, box[0, d], box[1, d], work)
        still |= resting << d
        moves |= iterating << d
        compute *= work[LEAD, d]
        steps *= work[STEPS, d]
        first_compute *= work[FIRST_LEAD, d]
    compute = max(math.ceil(compute / facts[LANES]), steps)
    first_compute = math.ceil(first_compute / facts[LANES])
    for pair in range(2):
        fill_rows_of(facts, flags, pair, spread, work, rows)
    fill_dram(facts, flags, work, rows, dram)
    ragged_axes = work[RAGGED, Y] > 0 or work[RAGGED, X] > 0
    fill_flows(facts, flags, ragged_axes, work, rows, flows)
    fill_clock(facts, flags, compute, first_compute, work, clock)
    return bound_value(facts, flags, still, moves, dram, flows, clock, work)


def _entry(stamp: int) -> Callable[..., int]:
    """The compiled entry point; `stamp` ties its cached machine code to all its sources."""

    @entry_point(error_model="numpy")
    def bound_boxes(
        problem: Any, units: Any, spread: Any, which: Any, boxes: Any, out: Any, low: int, high: int
    ) -> int:
        work = np.ones((BOX_FIELDS, D), np.float64)
        work[RAGGED] = 0.0
        rows = np.empty((2, ROW_KINDS), np.float64)
        dram = np.empty((3, 3), np.float64)
        flows = np.empty((FLOWS, 4), np.float64)
        clock = np.empty(CLOCK, np.float64)
        facts, flags, offers = problem
        for i in range(low, high):
            a = which[i]
            out[i] = bound_one(
                facts,
                flags,
                offers,
                units[a],
                spread[a],
                boxes[i],
                work,
                rows,
                dram,
                flows,
                clock,
            )
        return stamp

    return bound_boxes


_SOURCES = (
    *("bound_problem", "box_fields", "box_ranges", "box_capacity", "box_clock"),
    *("box_traffic", "box_value"),
)
bound_boxes = _entry(
    source_stamp(
        [
            *(Path(__file__).with_name(f"{name}.py") for name in (*_SOURCES, "box_kernel")),
            Path(__file__).parents[1] / "layout.py",
        ]
    )
)
"""Bounds of boxes `low` to `high`, into `out`; it releases the interpreter lock."""
