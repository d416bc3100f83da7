"""From a box's ranges of tiles to steps, places and shares of each dimension."""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    FIRST,
    INNER,
    OUTER,
    SCANNED,
    Box,
    BoxDim,
    Offer,
)
from marl_common import Int16Array, address, part


@part
def read_tiles(box: Box, offers: Offer, boxes: Int16Array, at: int) -> None:
    """The ranges of tiles of a box, whose positions begin at a place of `boxes`."""
    for d in range(DIMS):
        dim = address(box.dim[d])
        for level in range(2):
            low, high = boxes[at + 2 * DIMS * level + d], boxes[at + DIMS * (2 * level + 1) + d]
            dim.low[level] = offers[dim.at + low].tile[level]
            dim.high[level] = offers[dim.at + high].tile[level]
        dim.low[INNER] = min(dim.low[OUTER], dim.low[INNER])
        dim.high[INNER] = min(dim.high[OUTER], dim.high[INNER])
        dim.tile[OUTER] = min(dim.low[OUTER] * dim.units, dim.extent)
        dim.tile[INNER] = dim.low[INNER]


@part
def ragged_share(dim: BoxDim, tile: float, offers: Offer) -> float:
    """Share of a dimension in a last step of an outer tile that is still while others are not.

    That takes an inner tile of the range that covers the last step's part but not `tile`.
    """
    steps = math.ceil(dim.extent / (tile * dim.units))
    last = dim.extent - (steps - 1) * tile * dim.units
    if steps == 1 or last >= tile:
        return 0.0
    start = max(dim.low[INNER], math.ceil(last / dim.members))
    inner = offers[dim.at + int(start)].above
    return last / dim.extent if inner <= dim.high[INNER] and inner * dim.members < tile else 0.0


@part
def ragged_most(dim: BoxDim, first: int, last: int, offers: Offer) -> float:
    """Largest ragged share over a range of outer tiles, given by their places."""
    most = 0.0
    if dim.low[OUTER] * dim.units >= dim.extent:
        return most
    single = dim.units == 1 and dim.members == 1
    if not single and last - first >= SCANNED:
        return 1.0 / max(2.0, dim.steps[OUTER])
    for i in range(dim.at + first, dim.at + last + 1):
        share = offers[i].uneven if single else ragged_share(dim, offers[i].tile[OUTER], offers)
        most = max(most, share)
    return most


@part
def busiest(dim: BoxDim, extent: float) -> float:
    """Least that the first PE gets of a cluster's extent."""
    low = dim.low[INNER]
    if low == dim.high[INNER]:
        whole = math.floor(extent / (low * dim.members))
        return whole * low + min(low, extent - whole * low * dim.members)
    return max(math.ceil(extent / dim.members), min(low, extent))


@part
def first_cover(dim: BoxDim, span: float) -> float:
    """What all PEs cover in the first inner step of an outer step that covers `span`."""
    tile = dim.low[OUTER]
    block = min(dim.low[INNER] * dim.members, tile)
    full = math.floor(span / tile)
    return full * block + min(block, span - full * tile)


@part
def fill_decided(dim: BoxDim) -> None:
    """Fields of a dimension whose outer tile is known; inner ones at the largest inner tile."""
    n, tile, units, members = dim.extent, dim.low[OUTER], dim.units, dim.members
    low, high = dim.low[INNER], dim.high[INNER]
    before = dim.steps[OUTER] - 1
    last = n - before * tile * units
    end = min(last, tile)
    wide, narrow = high * members, low * members
    dim.part = end
    dim.steps[INNER] = before * math.ceil(tile / wide) + math.ceil(end / wide)
    dim.most_steps = before * math.ceil(tile / narrow) + math.ceil(end / narrow)
    tiles = math.floor(n / tile)
    rest = n - tiles * tile
    dim.blocks = tiles * math.ceil(tile / wide) + math.ceil(rest / wide)
    each, others = math.ceil(tile / high), math.ceil(rest / high)
    dim.places = tiles * each + others
    dim.first_places = tiles * min(members, each) + min(members, others)
    dim.first_lead[OUTER] = busiest(dim, tile)
    dim.first_lead[INNER] = before * min(low, tile) + min(low, end)
    dim.lead = before * dim.first_lead[OUTER] + busiest(dim, end)
    dim.tile[FIRST] = first_cover(dim, dim.tile[OUTER])
    dim.first_span[INNER] = before * first_cover(dim, tile * units) + first_cover(dim, last)


@part
def fill_open(dim: BoxDim) -> None:
    """Fields of a dimension whose outer tile is not known yet."""
    n, units, members = dim.extent, dim.units, dim.members
    low, high = dim.low[OUTER], dim.high[OUTER]
    dim.part = 1.0
    fewest = math.ceil(n / (dim.high[INNER] * members * units))
    dim.steps[INNER] = max(dim.steps[OUTER], fewest)
    narrow = min(dim.low[INNER] * members, low)
    dim.most_steps = math.floor(n / narrow) + math.ceil(n / low)
    dim.blocks = dim.steps[INNER]
    dim.places = math.ceil(n / dim.high[INNER])
    working = min(members, math.ceil(low / dim.high[INNER]))
    dim.first_places = max(dim.cluster_tiles, math.floor(n / high) * working)
    dim.first_lead[OUTER] = max(math.ceil(low / members), min(dim.low[INNER], low))
    dim.lead = max(math.ceil(n / (units * members)), dim.first_lead[OUTER])
    dim.tile[FIRST] = narrow * max(1.0, min(units, math.floor(n / high)))


@part
def fill_dim(dim: BoxDim, first: int, last: int, offers: Offer) -> None:
    """Fill a dimension's fields; the ranges of its tiles and its units are there.

    Args:
        dim: The dimension.
        first: Place of its smallest outer tile.
        last: Place of its largest outer tile.
        offers: The tiles that are offered.
    """
    n, units, low, high = dim.extent, dim.units, dim.low[OUTER], dim.high[OUTER]
    dim.steps[OUTER] = math.ceil(n / min(high * units, n))
    dim.cluster_tiles = math.ceil(n / high)
    working = min(dim.members, math.ceil(low / dim.high[INNER]))
    dim.holders = max(1.0, min(units, math.floor(n / high))) * working
    dim.first_span[OUTER] = dim.tile[OUTER]
    if low == high:
        fill_decided(dim)
        dim.ragged = ragged_share(dim, low, offers)
    else:
        fill_open(dim)
        dim.ragged = ragged_most(dim, first, last, offers)
