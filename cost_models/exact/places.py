"""The instances along a dimension: where they are, what they have, and what they had before."""

from __future__ import annotations

from cost_models.exact.records import PLACES, TOO_MANY_STATES, Work
from cost_models.exact.states import fill_path
from marl_common import address, part


@part
def list_places(work: Work, side: int, number: int) -> None:
    """List instances with a tile after a move, as `listing` of that side says.

    Instances at even distances with like tiles now and before are one entry, unless they are groups
    of their own.
    """
    listing = address(work.listing[side])
    dim = address(work.dim[listing.dim])
    move = address(dim.move[number])
    new = address(dim.node[move.new])
    listing.cuts, listing.places, listing.groups, listing.spread = new.cuts, 0, 1, -1
    listing.start = max(new.base, 0) if work.near else 0
    for k in range(new.cuts):
        cut = address(dim.cut[k])
        if cut.units > 1 and not (listing.lead >> cut.level) & 1:
            listing.spread = k
            if (listing.own >> cut.level) & 1:
                listing.groups *= cut.units
    fill_path(work, 0, listing.dim, move.new)
    fill_path(work, 1, listing.dim, move.old)
    around = address(work.around[0])
    around.start, around.count, around.pitch, around.group = 0, 1, 0, 0
    around.now, around.before = dim.node[0].lead, dim.node[0].lead
    list_inside(work, side, 0)


@part
def list_inside(work: Work, side: int, k: int) -> None:
    """List the instances inside the tiles of `around`, from cut `k` on."""
    listing = address(work.listing[side])
    around = address(work.around[k])
    if k == listing.cuts:
        add_places(work, side, k)
        return
    cut = address(work.dim[listing.dim].cut[k])
    block = min(around.now - work.path[0][k] * cut.width, cut.width)
    held = min(around.before - work.path[1][k] * cut.width, cut.width)
    inner = address(work.around[k + 1])
    inner.count, inner.pitch, inner.group = around.count, around.pitch, around.group
    units = 1 if (listing.lead >> cut.level) & 1 else cut.units
    own = units > 1 and (listing.own >> cut.level) & 1
    unit = 0
    while unit < units and unit * cut.tile < block:
        inner.start = around.start + unit * cut.tile
        inner.now = min(block - unit * cut.tile, cut.tile)
        inner.before = max(min(held - unit * cut.tile, cut.tile), 0)
        alike = 1
        if k == listing.spread and not own:
            if inner.now == cut.tile and inner.before == cut.tile:
                alike = min(block, held) // cut.tile - unit
            elif inner.now == cut.tile and inner.before == 0:
                alike = block // cut.tile - unit
            inner.count, inner.pitch = alike, cut.tile
        if own:
            inner.group = around.group * cut.units + unit
        list_inside(work, side, k + 1)
        unit += alike


@part
def add_places(work: Work, side: int, k: int) -> None:
    """Add what `around` says as an entry."""
    listing = address(work.listing[side])
    if listing.places == PLACES:
        work.status = TOO_MANY_STATES
        return
    around, place = address(work.around[k]), address(work.place[side][listing.places])
    place.start, place.now, place.before = around.start, around.now, around.before
    place.count, place.pitch, place.group = around.count, around.pitch, around.group
    listing.places += 1
