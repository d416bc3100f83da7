"""Compute cycles: PE (0, 0)'s MACs over the SIMD lanes, rounded up in every step."""

from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    CLASSES,
    COUNT,
    LEAD,
    LEAD_SUM,
    MAX_SEGMENTS,
    REPEAT,
    SEGMENTS,
    IntTable,
    SegTable,
)

MAX_SIZES = 4
"""At most so many different tiles a dimension: two classes, a full and a last tile."""


@inner_function
def tile_sizes(d: int, dims: IntTable, segs: SegTable, sizes: IntTable) -> int:
    """List PE (0, 0)'s different tiles of a dimension with how often each occurs."""
    found = 0
    for kind in range(dims[d, CLASSES]):
        first = MAX_SEGMENTS * kind
        for key in range(first, first + dims[d, SEGMENTS + kind]):
            size = segs[d, key, LEAD]
            times = dims[d, COUNT + kind] * segs[d, key, REPEAT]
            at = 0
            while at < found and sizes[at, 0] != size:
                at += 1
            if at == found:
                sizes[at, 0] = size
                sizes[at, 1] = 0
                found += 1
            sizes[at, 1] += times
    return found


@inner_function
def compute_cycles(
    dims: IntTable, segs: SegTable, count: int, lanes: int, products: IntTable, sizes: IntTable
) -> int:
    """Compute cycles of all steps.

    Args:
        dims: Dimension table.
        segs: Segment table.
        count: How many dimensions there are.
        lanes: SIMD lanes.
        products: Work array, ``(MAX_SIZES ** count, 2)``.
        sizes: Work array, ``(8, 2)``.
    """
    if lanes == 1:
        cycles = 1
        for d in range(count):
            cycles *= dims[d, LEAD_SUM]
        return cycles
    # grow the list of different products (MACs of a step, number of steps) one dimension a time
    length = 1
    products[0, 0] = 1
    products[0, 1] = 1
    for d in range(count):
        found = tile_sizes(d, dims, segs, sizes)
        for at in range(found - 1, -1, -1):
            for k in range(length):
                products[at * length + k, 0] = products[k, 0] * sizes[at, 0]
                products[at * length + k, 1] = products[k, 1] * sizes[at, 1]
        length *= found
    cycles = 0
    for k in range(length):
        cycles += products[k, 1] * ((products[k, 0] + lanes - 1) // lanes)
    return cycles
