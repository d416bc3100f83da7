"""What of a box fits the buffers."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    COUPLED,
    DILATION,
    EXTENT,
    FILTER,
    HELD,
    IN,
    L1,
    L2,
    LIMITS,
    OUT,
    SLOT,
    SLOT_FIELDS,
    SLOTS,
    STRIDE,
    Floats,
    Ints,
    R,
    Y,
)
from cost_models.exact.bounds.box_fields import (
    INNER_HIGH,
    INNER_LOW,
    MEMBERS,
    OUTER_HIGH,
    OUTER_LOW,
    PART,
    RAGGED,
    SPAN,
    TILE,
    UNITS,
)
from cost_models.exact.bounds.offers import Offers


@shared_function
def row_count(outputs: float, taps: float, stride: float, dilation: float) -> float:
    """Input rows that a range of outputs and one of taps touch."""
    return outputs * min(stride, taps) + min(outputs, dilation) * max(taps - stride, 0.0)


@shared_function
def tensor_elements(facts: Floats, flags: Ints, tensor: int, work: Floats, tile: int) -> float:
    """Elements of a tensor that a tile of the layer's box, a row of the work table, touches."""
    if tensor == IN:
        return input_elements(facts, flags, 0, work, tile)
    elements = 1.0
    mask = flags[COUPLED + tensor]
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (mask >> d) & 1:
            elements *= work[tile, d]
    return elements


@shared_function
def input_elements(facts: Floats, flags: Ints, spread: int, work: Floats, tile: int) -> float:
    """Input elements that a tile touches at least.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        spread: Dimensions in parallel, as bits. What several clusters hold of them may lie apart:
            it touches as many rows as the sum of two sets has at least.
        work: Work table.
        tile: Row of the tile in it.
    """
    elements = 1.0
    for pair in range(2):
        outputs, taps = work[tile, Y + pair], work[tile, R + pair]
        if (spread >> (R + pair)) & 1:
            elements *= outputs + taps - 1
        else:
            dilation = 1.0 if (spread >> (Y + pair)) & 1 else facts[DILATION + pair]
            elements *= row_count(outputs, taps, facts[STRIDE + pair], dilation)
    mask = flags[COUPLED + IN]
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (mask >> d) & 1 and (d < Y or d > R + 1):
            elements *= work[tile, d]
    return elements


@shared_function
def three_sizes(facts: Floats, flags: Ints, work: Floats, tile: int) -> tuple[float, float, float]:
    """Elements of input, filter and output that a tile touches at least."""
    return (
        tensor_elements(facts, flags, IN, work, tile),
        tensor_elements(facts, flags, FILTER, work, tile),
        tensor_elements(facts, flags, OUT, work, tile),
    )


@shared_function
def weighed(facts: Floats, at: int, sizes: tuple[float, float, float]) -> float:
    """Sizes times the three numbers from `at` on."""
    return facts[at] * sizes[0] + facts[at + 1] * sizes[1] + facts[at + 2] * sizes[2]


@shared_function
def need(facts: Floats, flags: Ints, level: int, work: Floats) -> float:
    """Bits that a buffer needs at least: L2 (level 0) or an L1."""
    sizes = three_sizes(facts, flags, work, SPAN if level == L2 else INNER_LOW)
    return weighed(facts, HELD + 3 * level, sizes)


@shared_function
def fits(facts: Floats, flags: Ints, level: int, sizes: tuple[float, float, float]) -> bool:
    """Whether tiles fit a level's capacities."""
    for slot in range(flags[SLOTS + level]):
        at = SLOT + SLOT_FIELDS * (LIMITS * level + slot)
        if weighed(facts, at + 1, sizes) > facts[at]:
            return False
    return True


@shared_function
def largest_tile(
    facts: Floats,
    flags: Ints,
    level: int,
    work: Floats,
    tile: int,
    d: int,
    sizes: tuple[float, float, float],
    most: float,
) -> float:
    """Largest tile of `d`, at most `most`, that fits beside the others of a tile that fits.

    What a tile takes is linear in each dimension but the taps and axes of a dilated filter, which
    are left as they are.
    """
    if Y <= d <= R + 1 and (d >= R or facts[DILATION + d - Y] > 1):
        return most
    mine = work[tile, d]
    work[tile, d] = mine + 1
    more = three_sizes(facts, flags, work, tile)
    work[tile, d] = mine
    for slot in range(flags[SLOTS + level]):
        at = SLOT + SLOT_FIELDS * (LIMITS * level + slot)
        used = weighed(facts, at + 1, sizes)
        slope = weighed(facts, at + 1, more) - used
        if slope > 0:
            most = min(most, mine + math.floor((facts[at] - used) / slope))
    return most


@shared_function
def shrink_outer(facts: Floats, flags: Ints, offers: Offers, work: Floats) -> bool:
    """Cut the outer ranges to what fits L2; returns whether anything does."""
    if flags[SLOTS + L2] == 0:
        return True
    sizes = three_sizes(facts, flags, work, SPAN)
    if not fits(facts, flags, L2, sizes):
        return False
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if work[OUTER_HIGH, d] > work[OUTER_LOW, d]:
            n = facts[EXTENT + d]
            most = largest_tile(facts, flags, L2, work, SPAN, d, sizes, n)
            tile = math.floor(most / work[UNITS, d])
            if most < n and tile < work[OUTER_HIGH, d]:
                at = offers.below[0, offers.offset[d] + int(tile)]
                work[OUTER_HIGH, d] = offers.tiles[0, d, at]
                work[INNER_HIGH, d] = min(work[INNER_HIGH, d], work[OUTER_HIGH, d])
    return True


@shared_function
def shrink_inner(facts: Floats, flags: Ints, offers: Offers, work: Floats) -> bool:
    """Cut the inner ranges to what fits L1; returns whether anything does."""
    if flags[SLOTS + L1] == 0:
        return True
    sizes = three_sizes(facts, flags, work, INNER_LOW)
    if not fits(facts, flags, L1, sizes):
        return False
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        high = work[INNER_HIGH, d]
        if high > work[INNER_LOW, d]:
            most = largest_tile(facts, flags, L1, work, INNER_LOW, d, sizes, high)
            if most < high:
                at = offers.below[1, offers.offset[d] + int(most)]
                work[INNER_HIGH, d] = min(high, max(work[INNER_LOW, d], offers.tiles[1, d, at]))
    return True


@shared_function
def may_hold(facts: Floats, flags: Ints, mask: int, parts: bool, work: Floats) -> bool:
    """Whether PEs may hold a cluster's whole tile along the dimensions of `mask`.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        mask: Dimensions as bits.
        parts: Whether ragged dimensions need to hold their last part alone.
        work: Work table.
    """
    if flags[SLOTS + L1] == 0:
        return True
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        work[TILE, d] = work[INNER_LOW, d]
        if (mask >> d) & 1:
            whole = work[PART, d] if parts and work[RAGGED, d] > 0 else work[OUTER_LOW, d]
            work[TILE, d] = max(work[TILE, d], math.ceil(whole / work[MEMBERS, d]))
    return fits(facts, flags, L1, three_sizes(facts, flags, work, TILE))
