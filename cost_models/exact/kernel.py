"""The kernel: one mapping to one row of integers, and a range of mappings to a range of rows."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common.jit import entry_point, inner_function, source_stamp
from cost_models.exact.bound import bound_latency
from cost_models.exact.compute import compute_cycles
from cost_models.exact.dims import fill_dim
from cost_models.exact.layout import (
    ACTIVE_PE_STEPS,
    ALL_STEPS,
    COMPUTE,
    EXTENT,
    HALO_RETAIN,
    HW_BOUND,
    HW_BUFFERS,
    HW_DEPTHWISE,
    HW_EXTENT,
    HW_HALO,
    HW_L1,
    HW_L2,
    HW_LANES,
    HW_PES,
    HW_REPEATS,
    HW_STRIDE,
    HW_TILE,
    L1_PEAK,
    L2_PEAK,
    LEAD,
    MACS,
    OUTER,
    OUTER_STEPS,
    PLACES,
    ROW_FIELDS,
    SPAN,
    STEPS,
    C,
    IntTable,
    K,
    MoveTable,
    R,
    RowTable,
    S,
    SegTable,
    X,
    Y,
)
from cost_models.exact.moves import fill_moves, fill_span_moves
from cost_models.exact.retain import fill_kept, fill_span_kept
from cost_models.exact.rows import fill_row_sums, fill_rows, footprint
from cost_models.exact.steps import stepwise
from cost_models.exact.tables import new_tables
from cost_models.exact.traffic import fill_traffic

# reasons, as in cost_models.ReasonCode
L1_CAPACITY = 1
L2_CAPACITY = 2
PE_COUNT = 3
MALFORMED = -1
"""Not a mapping at all: no order of six loops, no dimension, or a number below 1."""


@inner_function
def well_formed(
    orders: IntTable, spatial: IntTable, tiles: IntTable, pes: int, num_pes: int
) -> bool:
    """Whether a row of a batch can be a mapping; tables are indexed by what it holds."""
    for level in range(2):
        seen = 0
        for d in range(6):
            if tiles[level, d] < 1 or orders[level, d] < 0 or orders[level, d] > 5:
                return False
            seen |= 1 << orders[level, d]
        if seen != 63 or spatial[level] < 0 or spatial[level] > 5:
            return False
    return pes >= 1 and num_pes >= 1


@inner_function
def peak(k: int, c: int, y: int, x: int, r: int, s: int, depthwise: int, stride: int) -> int:
    """Elements of the three tensors that a tile of the box touches."""
    inputs = c * footprint(y, r, stride) * footprint(x, s, stride)
    return inputs + k * c * r * s + (c if depthwise else k) * y * x


@inner_function
def fill_tables(
    hw: IntTable,
    tiles: IntTable,
    spatial: IntTable,
    clusters: int,
    pes: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
) -> None:
    """The tables of all six dimensions; tiles are clipped to the extents first."""
    for d in range(6):
        n = hw[HW_EXTENT + d]
        t1[d] = min(n, tiles[0, d])
        t0 = min(t1[d], tiles[1, d])
        # clusters and PEs beyond the extent never work; leaving them out keeps widths small
        across = min(clusters, n) if spatial[0] == d else 1
        within = min(pes, n) if spatial[1] == d else 0
        fill_dim(dims, segs, d, n, t1[d], t0, across, within, hw[HW_STRIDE])


@inner_function
def fill_pairs(
    hw: IntTable,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    sums: RowTable,
    moves: MoveTable,
    lists: MoveTable,
    kept: RowTable,
    kept_sums: RowTable,
    spans: MoveTable,
    span_kept: RowTable,
    span_sums: RowTable,
    spots: MoveTable,
    intervals: IntTable,
) -> None:
    """The tables of rows and of columns: what tiles touch, and what buffers still hold."""
    stride = hw[HW_STRIDE]
    retains = hw[HW_HALO] == HALO_RETAIN
    if retains:
        for d in range(Y, S + 1):
            fill_moves(moves, lists, d, dims, segs)
            fill_span_moves(spans, d, dims)
    for pair in range(2):
        fill_rows(rows, pair, dims, segs, t1, stride, hw[HW_TILE] == 1)
        if retains:
            fill_kept(
                kept, kept_sums, pair, stride, moves, lists, t1, dims, segs, rows, spots, intervals
            )
            fill_span_kept(span_kept, span_sums, pair, stride, spans)
        else:
            fill_row_sums(sums, rows, pair, dims, segs)


@inner_function
def evaluate_one(
    row: IntTable,
    hw: IntTable,
    orders: IntTable,
    spatial: IntTable,
    tiles: IntTable,
    pes: int,
    num_pes: int,
    t1: IntTable,
    dims: IntTable,
    segs: SegTable,
    rows: RowTable,
    sums: RowTable,
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
) -> int:
    """Evaluate one mapping; returns the reason code, 0 when feasible, -1 when malformed.

    Args:
        row: Result row, ``(ROW_FIELDS,)``; where a limit is broken only what the limit needs is
            filled in.
        hw: Layer, accelerator and options, ``(HW_FIELDS,)``.
        orders: Loop orders, ``(2, 6)``.
        spatial: Spatial dimensions, ``(2,)``.
        tiles: Tiles, ``(2, 6)``.
        pes: PEs of a cluster.
        num_pes: PEs in all.
        t1: Work table, as all that follow; see `tables`.
        dims: Dimension table.
        segs: Segment table.
        rows: Input rows that two segments touch.
        sums: The same summed over steps.
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
    """
    row[:] = 0
    if not well_formed(orders, spatial, tiles, pes, num_pes):
        return MALFORMED
    clusters = num_pes // pes
    if clusters < 1:
        return PE_COUNT
    fill_tables(hw, tiles, spatial, clusters, pes, t1, dims, segs)
    stride, depthwise = hw[HW_STRIDE], hw[HW_DEPTHWISE]
    row[L1_PEAK] = peak(
        segs[K, 0, LEAD], segs[C, 0, LEAD], segs[Y, 0, LEAD],
        segs[X, 0, LEAD], segs[R, 0, LEAD], segs[S, 0, LEAD], depthwise, stride,
    )  # fmt: skip
    row[L2_PEAK] = peak(
        dims[K, SPAN], dims[C, SPAN], dims[Y, SPAN],
        dims[X, SPAN], dims[R, SPAN], dims[S, SPAN], depthwise, stride,
    )  # fmt: skip
    if hw[HW_L1] >= 0 and row[L1_PEAK] * hw[HW_BUFFERS] > hw[HW_L1]:
        return L1_CAPACITY
    if hw[HW_L2] >= 0 and row[L2_PEAK] * hw[HW_BUFFERS] > hw[HW_L2]:
        return L2_CAPACITY
    fill_pairs(
        hw, t1, dims, segs, rows, sums, moves, lists, kept, kept_sums, spans, span_kept, span_sums,
        spots, intervals,
    )  # fmt: skip
    macs = 1
    all_steps = 1
    active = 1
    outer_steps = 1
    for d in range(6):
        macs *= dims[d, EXTENT]
        all_steps *= dims[d, STEPS]
        active *= dims[d, PLACES]
        outer_steps *= dims[d, OUTER]
    row[MACS] = macs
    row[ALL_STEPS] = all_steps
    row[ACTIVE_PE_STEPS] = active
    row[OUTER_STEPS] = outer_steps
    row[COMPUTE] = compute_cycles(dims, segs, hw[HW_LANES], products, sizes)
    fixed = (1 << spatial[0]) | (1 << spatial[1])
    fill_traffic(row, hw, orders[0], orders[1], fixed, dims, sums, kept_sums, span_sums, steps)
    if hw[HW_BOUND]:
        bound_latency(row, hw)
    else:
        stepwise(row, hw, orders[0], orders[1], fixed, dims, segs, rows, kept, span_kept, steps)
    if hw[HW_REPEATS] > 1:
        for field in range(ROW_FIELDS):
            if field != L1_PEAK and field != L2_PEAK:
                row[field] *= hw[HW_REPEATS]
    return 0


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
        most = hw[HW_PES]
        for i in range(low, high if len(num_pes) else low):
            most = max(most, num_pes[i])
        (
            t1, dims, segs, rows, sums, moves, lists, kept, kept_sums, spans, span_kept, span_sums,
            spots, intervals, steps, products, sizes,
        ) = new_tables(hw, most)  # fmt: skip
        own = np.empty((2, 6), np.int64)
        order = np.empty((2, 6), np.int64)
        axes = np.empty(2, np.int64)
        for i in range(low, high):
            for level in range(2):
                axes[level] = spatial[i, level]
                for d in range(6):
                    own[level, d] = tiles[i, level, d]
                    order[level, d] = orders[i, level, d]
            pes = num_pes[i] if len(num_pes) else hw[HW_PES]
            reasons[i] = evaluate_one(
                out[i], hw, order, axes, own, cluster_size[i], pes,
                t1, dims, segs, rows, sums, moves, lists, kept, kept_sums, spans, span_kept,
                span_sums, spots, intervals, steps, products, sizes,
            )  # fmt: skip
        return stamp

    return evaluate_rows


_SOURCES = (
    *("layout", "dims", "rows", "counts", "moves", "kept", "compute", "tables", "retain"),
    *("inner", "bound", "step_tiles", "steps", "traffic", "kernel"),
)
evaluate_rows = _entry(source_stamp(Path(__file__).with_name(f"{n}.py") for n in _SOURCES))
"""Evaluate mappings `low` to `high` of a batch.

``evaluate_rows(orders (B, 2, 6), spatial (B, 2), tiles (B, 2, 6), cluster_size (B,), num_pes (B,)
or (0,), hw (HW_FIELDS,), out (B, ROW_FIELDS) int64, reasons (B,) int8, low, high)``; it releases
the interpreter lock.
"""
