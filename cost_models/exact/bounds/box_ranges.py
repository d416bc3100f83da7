"""From a box's ranges of tiles to steps, places and shares of each dimension."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common import shared_function
from cost_models.exact.bounds.bound_problem import EXTENT, Floats
from cost_models.exact.bounds.box_fields import (
    BLOCKS,
    CLUSTER_TILES,
    FIRST_INNER_LEAD,
    FIRST_INNER_SPAN,
    FIRST_LEAD,
    FIRST_PLACES,
    FIRST_SPAN,
    HOLDERS,
    INNER_HIGH,
    INNER_LOW,
    LEAD,
    MEMBERS,
    MOST_STEPS,
    OUTER_HIGH,
    OUTER_LOW,
    OUTER_STEPS,
    PART,
    PLACES,
    RAGGED,
    SPAN,
    STEPS,
    UNITS,
)
from cost_models.exact.bounds.offers import Offers

SCANNED = 24
"""Most outer tiles of a range that are looked at one by one for ragged last steps."""


@shared_function
def last_part(n: float, tile: float, units: float) -> float:
    """Cluster 0's tile in the last outer step."""
    wide = tile * units
    return min(n - (math.ceil(n / wide) - 1) * wide, tile)


@shared_function
def ragged_share(
    offers: Offers,
    d: int,
    n: float,
    tile: float,
    units: float,
    members: float,
    low: float,
    high: float,
) -> float:
    """Share of a dimension in a last outer step that is still while others are not.

    That takes an inner tile from `low` to `high` that covers the last step's part but not `tile`.
    """
    steps = math.ceil(n / (tile * units))
    last = n - (steps - 1) * tile * units
    if steps == 1 or last >= tile:
        return 0.0
    start = max(low, math.ceil(last / members))
    inner = offers.above[offers.offset[d] + int(start)]
    if inner <= high and inner * members < tile:
        return last / n
    return 0.0


@shared_function
def ragged_most(offers: Offers, d: int, n: float, first: int, last: int, work: Floats) -> float:
    """Largest ragged share over a range of outer tiles."""
    units, members = work[UNITS, d], work[MEMBERS, d]
    most = 0.0
    if work[OUTER_LOW, d] * units >= n:
        return most
    if units == 1 and members == 1:
        for i in range(first, last + 1):
            most = max(most, offers.uneven[d, i])
        return most
    if last - first >= SCANNED:
        return 1.0 / max(2.0, work[OUTER_STEPS, d])
    for i in range(first, last + 1):
        tile = offers.tiles[0, d, i]
        share = ragged_share(
            offers, d, n, tile, units, members, work[INNER_LOW, d], work[INNER_HIGH, d]
        )
        most = max(most, share)
    return most


@shared_function
def busiest(extent: float, low: float, high: float, members: float) -> float:
    """Least that the first PE gets of a cluster's extent with inner tiles from `low` to `high`."""
    if low == high:
        whole = math.floor(extent / (low * members))
        return whole * low + min(low, extent - whole * low * members)
    return max(math.ceil(extent / members), min(low, extent))


@shared_function
def first_span(span: float, tile: float, wide: float) -> float:
    """What all PEs cover in the first inner step of an outer step.

    Args:
        span: What the outer step covers.
        tile: Tile of a cluster.
        wide: What the PEs of a cluster cover.
    """
    block = min(wide, tile)
    full = math.floor(span / tile)
    return full * block + min(block, span - full * tile)


@shared_function
def fill_decided(d: int, n: float, work: Floats) -> None:
    """Fields of a dimension whose outer tile is known; inner ones at the largest inner tile."""
    tile, units, members = work[OUTER_LOW, d], work[UNITS, d], work[MEMBERS, d]
    low, high = work[INNER_LOW, d], work[INNER_HIGH, d]
    before = work[OUTER_STEPS, d] - 1
    part = last_part(n, tile, units)
    wide = high * members
    work[PART, d] = part
    work[STEPS, d] = before * math.ceil(tile / wide) + math.ceil(part / wide)
    work[MOST_STEPS, d] = before * math.ceil(tile / (low * members)) + math.ceil(
        part / (low * members)
    )
    tiles = math.floor(n / tile)
    rest = n - tiles * tile
    work[BLOCKS, d] = tiles * math.ceil(tile / wide) + math.ceil(rest / wide)
    each, last = math.ceil(tile / high), math.ceil(rest / high)
    work[PLACES, d] = tiles * each + last
    work[FIRST_PLACES, d] = tiles * min(members, each) + min(members, last)
    work[FIRST_LEAD, d] = busiest(tile, low, high, members)
    work[LEAD, d] = before * work[FIRST_LEAD, d] + busiest(part, low, high, members)
    work[FIRST_SPAN, d] = first_span(work[SPAN, d], tile, low * members)
    work[FIRST_INNER_LEAD, d] = before * min(low, tile) + min(low, part)
    last = n - before * tile * units
    work[FIRST_INNER_SPAN, d] = before * first_span(tile * units, tile, low * members)
    work[FIRST_INNER_SPAN, d] += first_span(last, tile, low * members)


@shared_function
def fill_open(d: int, n: float, work: Floats) -> None:
    """Fields of a dimension whose outer tile is not known yet."""
    low, high = work[OUTER_LOW, d], work[OUTER_HIGH, d]
    units, members = work[UNITS, d], work[MEMBERS, d]
    inner_low, inner_high = work[INNER_LOW, d], work[INNER_HIGH, d]
    work[PART, d] = 1.0
    fewest = math.ceil(n / (inner_high * members * units))
    work[STEPS, d] = max(work[OUTER_STEPS, d], fewest)
    work[MOST_STEPS, d] = math.floor(n / (min(inner_low * members, low))) + math.ceil(n / low)
    work[BLOCKS, d] = work[STEPS, d]
    work[PLACES, d] = math.ceil(n / inner_high)
    working = min(members, math.ceil(low / inner_high))
    work[FIRST_PLACES, d] = max(work[CLUSTER_TILES, d], math.floor(n / high) * working)
    work[FIRST_LEAD, d] = max(math.ceil(low / members), min(inner_low, low))
    work[LEAD, d] = max(math.ceil(n / (units * members)), work[FIRST_LEAD, d])
    clusters = max(1.0, min(units, math.floor(n / high)))
    work[FIRST_SPAN, d] = min(inner_low * members, low) * clusters


@shared_function
def fill_ranges(
    facts: Floats, offers: Offers, d: int, first: int, last: int, work: Floats
) -> tuple[bool, bool]:
    """Fill a dimension's fields; the ranges of its tiles and its units stand in `work`.

    Args:
        facts: Numbers of the problem.
        offers: The tiles that are offered.
        d: The dimension.
        first: Position of its smallest outer tile.
        last: Position of its largest outer tile.
        work: Work table.

    Returns:
        Whether its inner loop may be still in every outer step, and whether it may iterate in one.
    """
    n, units, members = facts[EXTENT + d], work[UNITS, d], work[MEMBERS, d]
    low, high = work[OUTER_LOW, d], work[OUTER_HIGH, d]
    work[OUTER_STEPS, d] = math.ceil(n / min(high * units, n))
    work[CLUSTER_TILES, d] = math.ceil(n / high)
    working = min(members, math.ceil(low / work[INNER_HIGH, d]))
    work[HOLDERS, d] = max(1.0, min(units, math.floor(n / high))) * working
    if low == high:
        fill_decided(d, n, work)
        work[RAGGED, d] = ragged_share(
            offers, d, n, low, units, members, work[INNER_LOW, d], work[INNER_HIGH, d]
        )
    else:
        fill_open(d, n, work)
        work[RAGGED, d] = ragged_most(offers, d, n, first, last, work)
    return work[INNER_HIGH, d] * members >= low, work[INNER_LOW, d] * members < high
