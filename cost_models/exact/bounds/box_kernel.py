"""The bound of one box, and of a range of boxes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import entry_point, shared_function, source_stamp
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    EXTENT,
    LANES,
    D,
    Floats,
    Ints,
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
from cost_models.exact.bounds.box_prices import BOX_PRICES, fill_prices
from cost_models.exact.bounds.box_ranges import fill_ranges
from cost_models.exact.bounds.box_rows import (
    ROW_FIELDS,
    fill_noc_rows,
    fill_outer_rows,
    fill_pe_rows,
    widen_ragged,
)
from cost_models.exact.bounds.box_traffic import (
    COLUMNS,
    FLOWS,
    TAP_LOOPS,
    fill_dram,
    fill_flows,
    taps_apart,
    taps_iterate,
)
from cost_models.exact.bounds.box_value import bound_value, fill_outer
from cost_models.exact.bounds.offers import Offers
from cost_models.exact.bounds.price_tables import PriceTables


@shared_function
def read_box(
    facts: Floats, flags: Ints, offers: Offers, outer: Ints, inner: Ints, box: Ints, work: Floats
) -> None:
    """The ranges of tiles of a box, and the units along each dimension, into the work table."""
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        n = facts[EXTENT + d]
        work[UNITS, d] = outer[d]
        work[MEMBERS, d] = inner[d]
        low, high = offers.tiles[0, d, box[0, d]], offers.tiles[0, d, box[1, d]]
        work[OUTER_LOW, d] = low
        work[OUTER_HIGH, d] = high
        work[INNER_LOW, d] = min(low, offers.tiles[1, d, box[2, d]])
        work[INNER_HIGH, d] = min(high, offers.tiles[1, d, box[3, d]])
        work[SPAN, d] = min(low * outer[d], n)


@shared_function
def bound_one(
    facts: Floats,
    flags: Ints,
    offers: Offers,
    clusters: Ints,
    members: Ints,
    tables: PriceTables,
    spread: int,
    pes: float,
    area: float,
    bypass: int,
    box: Ints,
    work: Floats,
    rows: Floats,
    dram: Floats,
    flows: Floats,
    clock: Floats,
    traffic: Floats,
    outer: Floats,
    prices: Floats,
) -> float:
    """Bound of one box.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        offers: The tiles that are offered.
        clusters: ``(D,)`` clusters along each dimension.
        members: ``(D,)`` PEs of a cluster along each dimension.
        tables: Prices by what the buffers must hold.
        spread: Dimensions that are in parallel, as bits.
        pes: PEs in use.
        area: Area but for what the buffers must hold [um^2].
        bypass: Row of the tables of prices.
        box: ``(4, D)`` positions of tiles.
        work: Work table, ``(BOX_FIELDS, D)``; ones where a dimension's extent is 1.
        rows: ``(2, ROW_FIELDS)``.
        dram: ``(5, 3)``.
        flows: ``(FLOWS, COLUMNS)``.
        clock: ``(CLOCK,)``.
        traffic: ``(3,)``.
        outer: ``(5, 3)``.
        prices: ``(BOX_PRICES,)``.
    """
    read_box(facts, flags, offers, clusters, members, box, work)
    if not shrink_outer(facts, flags, offers, work) or not shrink_inner(facts, flags, offers, work):
        return math.inf
    still = 0
    moves = 0
    macs = 1.0
    steps = 1.0
    first_compute = 1.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        resting, iterating = fill_ranges(facts, offers, d, box[0, d], box[1, d], work)
        still |= resting << d
        moves |= iterating << d
        macs *= work[LEAD, d]
        steps *= work[STEPS, d]
        first_compute *= work[FIRST_LEAD, d]
    compute = max(math.ceil(macs / facts[LANES]), steps)
    first_compute = math.ceil(first_compute / facts[LANES])
    outer_taps = taps_iterate(facts, flags, work)
    taps = outer_taps or (taps_apart(flags) and moves & TAP_LOOPS > 0)
    for pair in range(2):
        fill_outer_rows(facts, flags, pair, outer_taps, work, rows)
        fill_noc_rows(facts, flags, pair, spread, taps, work, rows)
        fill_pe_rows(facts, flags, pair, spread, taps, work, rows)
        widen_ragged(pair, work, rows)
    fill_dram(facts, flags, outer_taps, work, rows, dram)
    fill_flows(facts, flags, still, moves, taps, work, rows, flows)
    fill_clock(facts, flags, spread, macs, compute, first_compute, work, clock)
    fill_prices(facts, flags, tables, pes, area, bypass, work, prices)
    fill_outer(facts, flags, dram, clock, work, rows, traffic, outer, prices)
    return bound_value(
        facts, flags, still, moves, taps, dram, flows, clock, work, rows, traffic, outer, prices
    )


def _entry(stamp: int) -> Callable[..., int]:
    """The compiled entry point; `stamp` ties its cached machine code to all its sources."""

    @entry_point(error_model="numpy")
    def bound_boxes(
        problem: Any,
        allocations: Any,
        which: Any,
        boxes: Any,
        out: Any,
        low: int,
        high: int,
    ) -> int:
        work = np.ones((BOX_FIELDS, D), np.float64)
        work[RAGGED] = 0.0
        rows = np.empty((2, ROW_FIELDS), np.float64)
        dram = np.empty((5, 3), np.float64)
        flows = np.empty((FLOWS, COLUMNS), np.float64)
        clock = np.empty(CLOCK, np.float64)
        traffic = np.empty(3, np.float64)
        outer = np.empty((5, 3), np.float64)
        prices = np.empty(BOX_PRICES, np.float64)
        facts, flags, offers, tables = problem
        fans, spread, arrays, starts, pes, areas, refused = allocations
        for i in range(low, high):
            v = which[i] // starts[-1]
            if refused[v]:
                out[i] = math.inf
                continue
            rest = which[i] - v * starts[-1]
            g = np.searchsorted(starts, rest, side="right") - 1
            first = arrays[g, 0] + (rest - starts[g]) // arrays[g, 3]
            second = arrays[g, 2] + (rest - starts[g]) % arrays[g, 3]
            out[i] = bound_one(
                facts[v], flags[v], offers, fans[first], fans[second], tables,
                spread[first] | spread[second], pes[g], areas[g], v, boxes[i],
                work, rows, dram, flows, clock, traffic, outer, prices,
            )  # fmt: skip
        return stamp

    return bound_boxes


_SOURCES = (
    *(
        "bound_problem",
        "offers",
        "price_tables",
        "box_prices",
        "box_fields",
        "box_ranges",
        "box_capacity",
        "box_clock",
        "box_rows",
    ),
    *("box_traffic", "box_phases", "box_rounding", "box_value"),
)
bound_boxes = _entry(
    source_stamp(Path(__file__).with_name(f"{name}.py") for name in (*_SOURCES, "box_kernel"))
)
"""Bounds of boxes `low` to `high`, into `out`; it releases the interpreter lock."""
