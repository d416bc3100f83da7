"""Elements of tiles, and what of a box fits the buffers."""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    FILTER,
    IN,
    INNER,
    OUT,
    OUTER,
    PAIRS,
    TRIED,
    WINDOWS,
    Box,
    Offer,
    P,
    R,
    Room,
    S,
)
from marl_common import address, part


@part
def row_count(outputs: float, taps: float, stride: float, dilation: float) -> float:
    """Input rows that a range of outputs and one of taps touch."""
    return outputs * min(stride, taps) + min(outputs, dilation) * max(taps - stride, 0.0)


@part
def elements(box: Box, tensor: int, kind: int, spread: int) -> float:
    """Elements of a tensor that a tile touches, of the input at least.

    Args:
        box: The box.
        tensor: The tensor.
        kind: The kind of tile.
        spread: Dimensions in parallel. What several clusters hold of them may lie apart: it touches
            as many input rows as the sum of two sets has at least.
    """
    problem, found, beside = address(box.problem), 1.0, 0
    if tensor == IN:
        beside = WINDOWS
        for pair in range(PAIRS):
            outputs, taps = box.dim[P + pair].tile[kind], box.dim[R + pair].tile[kind]
            if (spread >> (R + pair)) & 1:
                found *= outputs + taps - 1
            else:
                dilation = 1.0 if (spread >> (P + pair)) & 1 else problem.dilation[pair]
                found *= row_count(outputs, taps, problem.stride[pair], dilation)
    for d in range(DIMS):
        if ((problem.coupled[tensor] & ~beside) >> d) & 1:
            found *= box.dim[d].tile[kind]
    return found


@part
def three_sizes(box: Box, kind: int) -> tuple[float, float, float]:
    """Elements of input, filter and output that a tile touches at least."""
    filters, outputs = elements(box, FILTER, kind, 0), elements(box, OUT, kind, 0)
    return elements(box, IN, kind, 0), filters, outputs


@part
def taken(room: Room, sizes: tuple[float, float, float]) -> float:
    """Bits that so many elements of each tensor take."""
    return room.input * sizes[0] + room.filter * sizes[1] + room.output * sizes[2]


@part
def need(box: Box, level: int) -> float:
    """Bits that L2, or an L1, needs at least."""
    return taken(address(box.problem.held[level]), three_sizes(box, level))


@part
def fits(box: Box, level: int, sizes: tuple[float, float, float]) -> bool:
    """Whether tiles fit a level's capacities."""
    for i in range(box.problem.slots[level]):
        if taken(address(box.problem.slot[level][i]), sizes) > box.problem.slot[level][i].bits:
            return False
    return True


@part
def largest_tile(
    box: Box, level: int, d: int, sizes: tuple[float, float, float], most: float
) -> float:
    """Largest tile of `d`, at most `most`, that fits beside the others of a tile that fits.

    What a tile takes is linear in each dimension but the taps and axes of a dilated filter, which
    are left as they are.
    """
    if P <= d <= S and (d >= R or box.problem.dilation[d - P] > 1):
        return most
    dim = address(box.dim[d])
    mine = dim.tile[level]
    dim.tile[level] = mine + 1
    more = three_sizes(box, level)
    dim.tile[level] = mine
    for i in range(box.problem.slots[level]):
        slot = address(box.problem.slot[level][i])
        used = taken(slot, sizes)
        slope = taken(slot, more) - used
        if slope > 0:
            most = min(most, mine + math.floor((slot.bits - used) / slope))
    return most


@part
def shrink(box: Box, level: int, offers: Offer) -> bool:
    """Cut the ranges of a level's tiles to what fits its buffer; returns whether anything does."""
    if box.problem.slots[level] == 0:
        return True
    sizes = three_sizes(box, level)
    if not fits(box, level, sizes):
        return False
    for d in range(DIMS):
        dim = address(box.dim[d])
        low, high = dim.low[level], dim.high[level]
        if high <= low:
            continue
        # L2 holds what all clusters cover
        whole = dim.extent if level == OUTER else high
        most = largest_tile(box, level, d, sizes, whole)
        tile = math.floor(most / dim.units) if level == OUTER else most
        if most < whole and tile < high:
            dim.high[level] = min(high, max(low, offers[dim.at + int(tile)].below[level]))
            dim.high[INNER] = min(dim.high[INNER], dim.high[OUTER])
    return True


@part
def may_hold(box: Box, mask: int, parts: bool) -> bool:
    """Whether PEs may hold a cluster's whole tile along some dimensions.

    Args:
        box: The box.
        mask: The dimensions.
        parts: Whether ragged dimensions need to hold their last part alone.
    """
    if box.problem.slots[INNER] == 0:
        return True
    for d in range(DIMS):
        dim = address(box.dim[d])
        dim.tile[TRIED] = dim.low[INNER]
        if (mask >> d) & 1:
            whole = dim.part if parts and dim.ragged > 0 else dim.low[OUTER]
            dim.tile[TRIED] = max(dim.tile[TRIED], math.ceil(whole / dim.members))
    return fits(box, INNER, three_sizes(box, TRIED))
