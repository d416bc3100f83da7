"""The compiled entry point: bounds of boxes."""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    INNER,
    OUTER,
    TAP_LOOPS,
    ArrayRow,
    Box,
    Fan,
    Offer,
    Price,
    Problem,
)
from cost_models.exact.bounds.box_rows import fill_rows
from cost_models.exact.bounds.box_sizes import shrink
from cost_models.exact.bounds.box_tiles import fill_dim, read_tiles
from cost_models.exact.bounds.box_time import fill_clock
from cost_models.exact.bounds.box_traffic import fill_dram, fill_flows, may_iterate, taps_apart
from cost_models.exact.bounds.box_value import bound_value, fill_prices, fill_ways
from marl_common import FloatArray, Int16Array, IntArray, address, entry, part


@entry
def bound_boxes(
    works: Box,
    problems: Problem,
    arrays: ArrayRow,
    fans: Fan,
    offers: Offer,
    prices: Price,
    which: IntArray,
    boxes: Int16Array,
    out: FloatArray,
    count: int,
) -> None:
    """Bound boxes of one layer on one accelerator.

    Args:
        works: ``(1,)`` work space as `exact_bounds` makes it; its bypass is -1.
        problems: ``(V,)``, one for each choice of tensors that bypass a level.
        arrays: ``(G + 1,)``; the last begins behind the last allocation.
        fans: ``(F,)``.
        offers: The tiles that are offered.
        prices: ``(V, 2, n)``: what prices are above the fixed ones, by the bits in L2 and in L1.
        which: ``(B,)`` allocations.
        boxes: ``(B, 4, DIMS)`` places of tiles.
        out: ``(B,)`` gets the bounds.
        count: How many boxes.
    """
    box = address(works[0])
    for i in range(count):
        bypass = which[i] // arrays[box.arrays].start
        if bypass != box.bypass:
            box.bypass = bypass
            box.problem = problems[bypass]
        out[i] = math.inf
        if not box.problem.refused:
            take_allocation(box, arrays, fans, which[i] % arrays[box.arrays].start)
            read_tiles(box, offers, boxes, 4 * DIMS * i)
            out[i] = bound_one(box, offers, prices, boxes, 4 * DIMS * i)


@part
def take_allocation(box: Box, arrays: ArrayRow, fans: Fan, number: int) -> None:
    """Units along each dimension, and PEs, of an allocation of one bypass."""
    low, high = 0, box.arrays
    while high - low > 1:
        middle = (low + high) // 2
        if arrays[middle].start <= number:
            low = middle
        else:
            high = middle
    row = address(arrays[low])
    outer = address(fans[row.outer + (number - row.start) // row.inners])
    inner = address(fans[row.inner + (number - row.start) % row.inners])
    for d in range(DIMS):
        box.dim[d].units, box.dim[d].members = outer.units[d], inner.units[d]
    box.spread, box.pes, box.area = outer.spread | inner.spread, row.pes, row.area


@part
def bound_one(box: Box, offers: Offer, prices: Price, boxes: Int16Array, at: int) -> float:
    """Bound of the box whose places begin at `at`; its ranges of tiles are read."""
    if not shrink(box, OUTER, offers) or not shrink(box, INNER, offers):
        return math.inf
    box.still, box.moves = 0, 0
    for d in range(DIMS):
        dim = address(box.dim[d])
        fill_dim(dim, boxes[at + d], boxes[at + DIMS + d], offers)
        if dim.high[INNER] * dim.members >= dim.low[OUTER]:
            box.still |= 1 << d
        if dim.low[INNER] * dim.members < dim.high[OUTER]:
            box.moves |= 1 << d
    box.outer_taps = taps_apart(box) and may_iterate(box, TAP_LOOPS)
    box.taps = box.outer_taps or (taps_apart(box) and (box.moves & TAP_LOOPS) > 0)
    fill_rows(box)
    fill_dram(box)
    fill_flows(box)
    fill_clock(box)
    fill_prices(box, prices)
    fill_ways(box)
    return bound_value(box)
