"""The kernel: one mapping to one row of integers, and a range of mappings to a range of rows."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import entry_point, inner_function, source_stamp
from cost_models.exact.bound import bound_latency
from cost_models.exact.compute import compute_cycles
from cost_models.exact.dims import fill_dim
from cost_models.exact.input_volume import fill_kept, fill_span_kept
from cost_models.exact.kept import touched
from cost_models.exact.layout import (
    ACTIVE_PE_STEPS,
    ALL_DIMS,
    ALL_STEPS,
    COMPUTE,
    EXTENT,
    FREE,
    HW_BOUND,
    HW_BUFFERS,
    HW_DIMS,
    HW_EXTENT,
    HW_FILTER,
    HW_INPUT,
    HW_L1,
    HW_L2,
    HW_LANES,
    HW_OUTPUT,
    HW_PES,
    HW_STEP,
    HW_STRIDE,
    INPUT,
    L1_BITS,
    L1_PEAK,
    L2_BITS,
    L2_PEAK,
    LEAD,
    MACS,
    OUTER,
    OUTER_STEPS,
    PLACES,
    PLAIN_MASK,
    SPAN,
    SPREAD,
    STEPS,
    IntTable,
    MoveTable,
    R,
    RowTable,
    S,
    SegTable,
    X,
    Y,
)
from cost_models.exact.moments import fill_moments
from cost_models.exact.moves import fill_moves, fill_span_moves
from cost_models.exact.padding import take_off_padding, take_off_span_padding
from cost_models.exact.padding_runs import fill_runs
from cost_models.exact.steps import stepwise
from cost_models.exact.tables import Tables, new_tables
from cost_models.exact.traffic import fill_traffic
from cost_models.exact.wide import (
    Wide,
    fans_out,
    kept_at,
    needed_bits,
    passes,
    second_mask,
    units_along,
)
from cost_models.exact.wide_traffic import route, wide_bound

# reasons, as in cost_models.ReasonCode
L1_CAPACITY = 1
L2_CAPACITY = 2
PE_COUNT = 3
MALFORMED = -1
"""Not a mapping at all: no order of six loops, no dimension, or a number below 1."""


@inner_function
def well_formed(orders: Any, spatial: Any, tiles: Any, pes: int, num_pes: int) -> bool:
    """Whether a row of a batch can be a mapping; tables are indexed by what it holds."""
    for level in range(2):
        seen = 0
        for d in range(ALL_DIMS):
            place = int(orders[level, d])
            if tiles[level, d] < 1 or place < 0 or place >= ALL_DIMS:
                return False
            seen |= 1 << place
        if seen != (1 << ALL_DIMS) - 1 or spatial[level] < 0 or spatial[level] >= ALL_DIMS:
            return False
    return pes >= 1 and num_pes >= 1


@inner_function
def take_order(order: IntTable, orders: Any, level: int, count: int) -> None:
    """Copy a loop order without the dimensions from `count` on, whose extent is 1."""
    place = 0
    for k in range(ALL_DIMS):
        if orders[level, k] < count:
            order[level, place] = orders[level, k]
            place += 1


@inner_function
def lead_range(d: int, level: int, dims: IntTable, segs: SegTable) -> int:
    """What L2 (level 0) or PE (0, 0) (level 1) holds of a dimension in the first step."""
    return segs[d, 0, LEAD] if level else dims[d, SPAN]


@inner_function
def peak(
    level: int, hw: IntTable, dims: IntTable, segs: SegTable, wide: Wide | None
) -> tuple[int, int, int]:
    """Elements of input, filter and output in the first step, which is the largest."""
    filters = 1
    outputs = 1
    inputs = 1
    for d in range(hw[HW_DIMS]):
        held = lead_range(d, level, dims, segs)
        if (hw[HW_FILTER] >> d) & 1:
            filters *= held
        if (hw[HW_OUTPUT] >> d) & 1:
            outputs *= held
        if (hw[HW_INPUT] & PLAIN_MASK) >> d & 1:
            inputs *= held
    for pair in range(2):
        inputs *= touched(
            lead_range(Y + pair, level, dims, segs), lead_range(R + pair, level, dims, segs),
            hw[HW_STRIDE + pair], hw[HW_STEP + pair], wide,
        )  # fmt: skip
    return inputs, filters, outputs


@inner_function
def broken_limit(
    row: IntTable, hw: IntTable, dims: IntTable, segs: SegTable, wide: Wide | None
) -> int:
    """What the buffers must hold, into `row`; returns the reason code of a capacity it exceeds."""
    l1, l2 = peak(1, hw, dims, segs, wide), peak(0, hw, dims, segs, wide)
    if wide is not None:
        row[L1_PEAK], row[L2_PEAK] = kept_at(1, l1, wide), kept_at(0, l2, wide)
        row[L1_BITS], fits = needed_bits(1, l1, wide)
        row[L2_BITS], fits_l2 = needed_bits(0, l2, wide)
        if not fits:
            return L1_CAPACITY
        return 0 if fits_l2 else L2_CAPACITY
    row[L1_PEAK] = l1[0] + l1[1] + l1[2]
    row[L2_PEAK] = l2[0] + l2[1] + l2[2]
    if hw[HW_L1] >= 0 and row[L1_PEAK] * hw[HW_BUFFERS] > hw[HW_L1]:
        return L1_CAPACITY
    if hw[HW_L2] >= 0 and row[L2_PEAK] * hw[HW_BUFFERS] > hw[HW_L2]:
        return L2_CAPACITY
    return 0


@inner_function
def gap_of(d: int, hw: IntTable) -> int:
    """After how many places along a dimension rows repeat themselves; see `dims.fill_segment`."""
    if Y <= d <= X:
        return hw[HW_STEP + d - Y]
    return hw[HW_STRIDE + d - R] if R <= d <= S else 1


@inner_function
def fill_tables(
    hw: IntTable,
    tiles: Any,
    spatial: Any,
    clusters: int,
    pes: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    wide: Wide | None,
) -> None:
    """The tables of all dimensions; tiles are clipped to the extents first."""
    for d in range(hw[HW_DIMS]):
        n = hw[HW_EXTENT + d]
        t1[d] = min(n, int(tiles[0, d]))
        t0 = min(t1[d], int(tiles[1, d]))
        # clusters and PEs beyond the extent never work; leaving them out keeps widths small
        if wide is None:
            across = min(clusters, n) if spatial[0] == d else 1
            within = min(pes, n) if spatial[1] == d else 0
        else:
            across = max(min(units_along(d, 0, int(spatial[0]), clusters, wide), n), 1)
            within = min(units_along(d, 1, int(spatial[1]), pes, wide), n)
        fill_dim(dims, segs, d, n, t1[d], t0, across, within, gap_of(d, hw))


@inner_function
def fill_pairs(
    hw: IntTable,
    fixed: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    moves: MoveTable,
    lists: MoveTable,
    kept: RowTable,
    kept_sums: RowTable,
    spans: MoveTable,
    span_kept: RowTable,
    span_sums: RowTable,
    spots: MoveTable,
    intervals: IntTable,
    wide: Wide | None,
) -> None:
    """The tables of rows and of columns: what tiles touch, and what buffers still hold."""
    for d in range(Y, S + 1):
        fill_moves(moves, lists, d, dims, segs)
        fill_span_moves(spans, d, dims)
    for pair in range(2):
        fill_kept(
            kept, kept_sums, pair, fixed, hw, moves, lists, t1, dims, segs, spots, intervals, wide
        )
        fill_span_kept(span_kept, span_sums, pair, hw, spans, wide)


@inner_function
def evaluate_one(
    row: IntTable,
    hw: IntTable,
    orders: IntTable,
    spatial: Any,
    tiles: Any,
    pes: int,
    num_pes: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    moves: MoveTable,
    lists: MoveTable,
    kept: RowTable,
    kept_sums: RowTable,
    spans: MoveTable,
    span_kept: RowTable,
    span_sums: RowTable,
    spots: MoveTable,
    intervals: IntTable,
    steps: IntTable,
    products: IntTable,
    sizes: IntTable,
    wide: Wide | None,
) -> int:
    """Evaluate one mapping; returns the reason code, 0 when feasible, -1 when malformed.

    Args:
        row: Result row, ``(ROW_FIELDS,)``; where a limit is broken only what the limit needs is
            filled in.
        hw: Layer, accelerator and options, ``(HW_FIELDS,)``.
        orders: Loop orders, ``(2, 8)``.
        spatial: Spatial dimensions, ``(2,)``.
        tiles: Tiles, ``(2, 8)``.
        pes: PEs of a cluster.
        num_pes: PEs in all.
        t1: Work table, as all that follow; see `tables`.
        dims: Dimension table.
        segs: Segment table.
        moves: How each dimension's ranges move.
        lists: Its moves by event.
        kept: Input rows still held after two moves.
        kept_sums: The same summed over steps, by event.
        spans: Moves of what L2 holds.
        span_kept: Input rows L2 still holds after two moves.
        span_sums: The same summed over outer steps, by event.
        spots: The places of PEs along two dimensions.
        intervals: Rows that PEs lack.
        steps: State of the walk over step classes.
        products: Different tiles and how often they occur.
        sizes: The same of one dimension.
        wide: Chip and mapping, where more is to be known; None where not.
    """
    row[:] = 0
    clusters = num_pes // pes
    if clusters < 1:
        return PE_COUNT
    fixed = (1 << int(spatial[0])) | (1 << int(spatial[1]))
    if wide is not None:
        if not fans_out(clusters, pes, wide):
            return PE_COUNT
        fixed |= second_mask(wide)
        wide.n[SPREAD] = fixed
    fill_tables(hw, tiles, spatial, clusters, pes, t1, dims, segs, wide)
    broken = broken_limit(row, hw, dims, segs, wide)
    if broken != 0:
        return broken
    fill_pairs(
        hw, fixed, t1, dims, segs, moves, lists, kept, kept_sums, spans, span_kept, span_sums,
        spots, intervals, wide,
    )  # fmt: skip
    macs = 1
    all_steps = 1
    active = 1
    outer_steps = 1
    for d in range(hw[HW_DIMS]):
        macs *= dims[d, EXTENT]
        all_steps *= dims[d, STEPS]
        active *= dims[d, PLACES]
        outer_steps *= dims[d, OUTER]
    row[MACS] = macs
    row[ALL_STEPS] = all_steps
    row[ACTIVE_PE_STEPS] = active
    row[OUTER_STEPS] = outer_steps
    row[COMPUTE] = compute_cycles(dims, segs, hw[HW_DIMS], hw[HW_LANES], products, sizes)
    if wide is not None:
        if passes(1, INPUT, wide):
            fill_moments(hw, moves, t1, dims, segs, spots, intervals, wide)
        if wide.n[FREE]:
            take_off_padding(hw, kept_sums, wide)
            take_off_span_padding(hw, span_sums, wide)
            fill_runs(hw, wide)
    fill_traffic(row, hw, orders[0], orders[1], dims, kept_sums, span_sums, steps)
    if wide is not None:
        route(row, hw, dims, wide)
    if not hw[HW_BOUND]:
        stepwise(row, hw, orders[0], orders[1], dims, segs, kept, span_kept, steps, wide)
    elif wide is None:
        bound_latency(row, hw)
    else:
        wide_bound(row, hw, wide)
    return 0


@inner_function
def most_pes(hw: IntTable, num_pes: Any, low: int, high: int) -> int:
    """The most PEs that one of the mappings `low` to `high` has."""
    most = hw[HW_PES]
    for i in range(low, high if len(num_pes) else low):
        most = max(most, num_pes[i])
    return most


@inner_function
def pes_of(i: int, hw: IntTable, num_pes: Any) -> int:
    """PEs of a mapping: its own, or the chip's."""
    return int(num_pes[i]) if len(num_pes) else hw[HW_PES]


@inner_function
def evaluate_row(
    i: int,
    orders: Any,
    spatial: Any,
    tiles: Any,
    cluster_size: Any,
    num_pes: Any,
    hw: IntTable,
    out: Any,
    order: IntTable,
    tables: Tables,
    wide: Wide | None,
) -> int:
    """Evaluate a row of a batch into `out`; returns its reason code.

    Args:
        i: The row; the arrays up to `num_pes`, and `out`, are those of the entry points.
        orders: Loop orders.
        spatial: Spatial dimensions.
        tiles: Tiles.
        cluster_size: PEs of a cluster.
        num_pes: PEs in all, or nothing.
        hw: Layer, accelerator and options.
        out: Result rows.
        order: Work array, ``(2, 8)``.
        tables: Work tables.
        wide: Chip and mapping, where more is to be known; None where not.
    """
    pes = pes_of(i, hw, num_pes)
    if not well_formed(orders[i], spatial[i], tiles[i], cluster_size[i], pes):
        return MALFORMED
    for level in range(2):
        take_order(order, orders[i], level, hw[HW_DIMS])
    return evaluate_one(
        out[i], hw, order, spatial[i], tiles[i], int(cluster_size[i]), pes,
        tables.t1, tables.dims, tables.segs, tables.moves, tables.lists, tables.kept,
        tables.kept_sums, tables.spans, tables.span_kept, tables.span_sums, tables.spots,
        tables.intervals, tables.steps, tables.products, tables.sizes, wide,
    )  # fmt: skip


def _entry(stamp: int) -> Callable[..., None]:
    """The compiled entry point; `stamp` ties its cached machine code to all its sources."""

    @entry_point
    def evaluate_rows(
        orders: Any,
        spatial: Any,
        tiles: Any,
        cluster_size: Any,
        num_pes: Any,
        hw: Any,
        out: Any,
        reasons: Any,
        low: int,
        high: int,
    ) -> int:
        tables = new_tables(hw, most_pes(hw, num_pes, low, high), 2)
        order = np.empty((2, ALL_DIMS), np.int64)
        for i in range(low, high):
            reasons[i] = evaluate_row(
                i, orders, spatial, tiles, cluster_size, num_pes, hw, out, order, tables, None
            )
        return stamp

    return evaluate_rows


_SOURCES = (
    *("layout", "dims", "rows", "counts", "moves", "kept", "compute", "tables", "input_volume"),
    *("inner", "bound", "step_tiles", "step_elements", "step_totals", "steps", "traffic", "kernel"),
    *("wide", "wide_steps", "wide_traffic", "moments", "padding"),
    *("padding_rows", "padding_runs", "padding_steps"),
)
STAMP = source_stamp(Path(__file__).with_name(f"{name}.py") for name in _SOURCES)
"""What stands for all sources of the kernel."""
evaluate_rows = _entry(STAMP)
"""Evaluate mappings `low` to `high` of a batch.

``evaluate_rows(orders (B, 2, 8), spatial (B, 2), tiles (B, 2, 8), cluster_size (B,), num_pes (B,)
or (0,), hw (HW_FIELDS,), out (B, ROW_FIELDS) int64, reasons (B,) int8, low, high)``; it releases
the interpreter lock.
"""
