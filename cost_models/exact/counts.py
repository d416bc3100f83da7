"""Traffic of filters and outputs in closed form: the truncated nest.

A tensor moves when a counter of one of its own dimensions changes. Loops inside the innermost such
loop that has more than one iteration never move it, all loops outside do. Whether an inner loop has
more than one iteration depends on the outer step, so the sums run over "still" steps (one
iteration) and the others apart.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    EXTENT,
    OUTER,
    PLACES,
    PLACES_FIRST,
    PLACES_J0,
    STEPS,
    STILL,
    IntTable,
)


@inner_function
def innermost(order: IntTable, mask: int, count: int, dims: IntTable) -> int:
    """Position of the innermost outer loop of `mask` with more than one iteration, or -1."""
    for place in range(count - 1, -1, -1):
        d = order[place]
        if (mask >> d) & 1 and dims[d, OUTER] > 1:
            return place
    return -1


@inner_function
def uncoupled_outer(order: IntTable, mask: int, place: int, dims: IntTable) -> int:
    """Iterations of the outer loops not in `mask` that lie outside position `place`."""
    times = 1
    for k in range(place):
        if not (mask >> order[k]) & 1:
            times *= dims[order[k], OUTER]
    return times


@inner_function
def sent_by_inner(d: int, mask: int, inside: int, count: int, dims: IntTable) -> tuple[int, int]:
    """What moves in the steps whose innermost moving loop is the inner one of `d`; as `volume`.

    Args:
        d: A dimension of the tensor.
        mask: Dimensions the tensor is coupled to.
        inside: Dimensions whose inner loops lie inside that of `d`.
        count: How many dimensions there are.
        dims: Dimension table.
    """
    once = dims[d, EXTENT] - dims[d, STILL + 1]
    each = once
    for e in range(count):
        within = (inside >> e) & 1
        if e == d:
            continue
        if (mask >> e) & 1:
            size = dims[e, STILL + within]
            once *= size
            each *= size
        elif within:
            once *= dims[e, OUTER]
            each *= dims[e, PLACES_J0]
        else:
            once *= dims[e, STEPS]
            each *= dims[e, PLACES]
    return once, each


@inner_function
def sent_by_outer(mask: int, outer_order: IntTable, count: int, dims: IntTable) -> tuple[int, int]:
    """What moves in the steps in which all inner loops of the tensor are still; as `volume`."""
    last = innermost(outer_order, mask, count, dims)
    once = 1
    each = 1
    for place in range(count):
        d = outer_order[place]
        if (mask >> d) & 1:
            once *= dims[d, STILL + 1]
            each *= dims[d, STILL + 1]
        elif place < last:
            once *= dims[d, OUTER]
            each *= dims[d, PLACES_J0]
        else:
            each *= dims[d, PLACES_FIRST]
    return once, each


@inner_function
def volume(
    mask: int, outer_order: IntTable, inner_order: IntTable, count: int, dims: IntTable
) -> tuple[int, int]:
    """Elements of a filter or output tensor that cross the NoC, and that PEs receive in all.

    Args:
        mask: Dimensions the tensor is coupled to.
        outer_order: Loop order of the outer level, outermost first.
        inner_order: Loop order of the inner level.
        count: How many dimensions there are.
        dims: Dimension table.

    Returns:
        Distinct elements a step summed over steps, and the same summed over PEs.
    """
    distinct = 0
    delivered = 0
    inside = 0
    for place in range(count - 1, -1, -1):
        d = inner_order[place]
        if (mask >> d) & 1:
            once, each = sent_by_inner(d, mask, inside, count, dims)
            distinct += once
            delivered += each
            if dims[d, STILL + 1] == 0:
                return distinct, delivered
        inside |= 1 << d
    once, each = sent_by_outer(mask, outer_order, count, dims)
    return distinct + once, delivered + each


@inner_function
def dram_tensor(mask: int, outer_order: IntTable, count: int, dims: IntTable) -> int:
    """Filter elements read from DRAM, or output elements written to it."""
    last = innermost(outer_order, mask, count, dims)
    elements = uncoupled_outer(outer_order, mask, last, dims)
    for d in range(count):
        if (mask >> d) & 1:
            elements *= dims[d, EXTENT]
    return elements
