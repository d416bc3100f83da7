"""What a dimension contributes to a tensor's traffic, summed over the steps that an event leads to.

From one step to the next one loop advances, the loops inside it go back to their first counter,
those outside stay. Entry `k` of a table is for "this dimension's loops go back from cut `k` on"
(all of them: 0; none, so that it stays: its number of cuts). That cut `k` advances has no entry:
its steps are those of ``k + 1`` less those of ``k``.
"""

from __future__ import annotations

from cost_models.exact.records import (
    ADVANCES,
    ALL,
    FIRST,
    KNOWN,
    LEVELS,
    MEMO,
    PAIR_SUMS,
    UNITS,
    Work,
)
from cost_models.exact.rows import known_rows
from cost_models.exact.states import inside, is_coupled, within
from cost_models.exact.window import output_dim, tap_dim
from marl_common import address, part


@part
def forget(work: Work) -> None:
    """Forget what is known of earlier nests, and count their stamps anew."""
    work.stamp = 0
    for place in range(KNOWN):
        work.rows[place].key = 0
    for place in range(PAIR_SUMS):
        work.pair_sum[place].key = 0
    for level in range(LEVELS):
        for place in range(MEMO):
            work.memo_at[level][place] = 0


@part
def first_inside(work: Work, d: int, v: int, cuts: int, alone: bool) -> int:
    """The node of the first step inside a node, behind so many cuts; -1 where it must be alone."""
    dim = address(work.dim[d])
    for _ in range(dim.node[v].cuts, cuts):
        node = address(dim.node[v])
        v = dim.run[node.run].node
        if alone and (node.runs > 1 or dim.run[node.run].count > 1):
            return -1
    return v


@part
def sum_inside(work: Work, d: int, level: int, lead: int, coupled: bool) -> None:
    """Fill the `sums` of a dimension from the first steps inside its nodes."""
    dim = address(work.dim[d])
    cuts = dim.cuts_at[level]
    for k in range(cuts + 1):
        found = 0
        for v in range(dim.first[k], dim.first[k + 1]):
            inner = first_inside(work, d, v, cuts, coupled)
            if inner >= 0:
                found += dim.node[v].times * within(work, d, inner, lead, not coupled)
        work.sums[d][k] = found


@part
def fill_coupled(work: Work, d: int, level: int, lead: int) -> None:
    """Elements that a step shares with the one before, into `sums`; only a like tile is shared.

    Args:
        work: The work space.
        d: A dimension of the tensor, each of whose indices is in one tile.
        level: Whose tiles are meant.
        lead: Levels whose first unit alone counts.
    """
    dim = address(work.dim[d])
    cuts = dim.cuts_at[level]
    lead &= dim.fans
    if lead == 0 and dim.still_at == cuts:
        for k in range(cuts + 1):
            work.sums[d][k] = dim.still[k]
        return
    sum_inside(work, d, level, lead, True)
    if lead == 0:
        for k in range(cuts + 1):
            dim.still[k] = work.sums[d][k]
        dim.still_at = cuts


@part
def fill_uncoupled(work: Work, d: int, level: int, lead: int) -> None:
    """Instances that take part in a step, into `sums`; arguments as `fill_coupled`."""
    dim = address(work.dim[d])
    if dim.fans & ((2 << level) - 1) & ~lead:
        sum_inside(work, d, level, lead, False)
        return
    for k in range(dim.cuts_at[level] + 1):
        work.sums[d][k] = dim.steps[k]


@part
def fill_sums(work: Work, tensor: int, level: int, scope: int, port: int) -> None:
    """Fill the `sums` of all dimensions that have cuts, but for those of an input's rows.

    Args:
        work: The work space.
        tensor: The tensor.
        level: Whose tiles are meant.
        scope: Which instances count, see `records`.
        port: The level that a scope refers to.
    """
    outer = (2 << port) - 1
    lead = outer if scope & FIRST else 0
    for place in range(work.dims):
        d = work.cut_dim[place]
        if (work.apart[tensor] >> d) & 1:
            fill_coupled(work, d, level, lead)
            continue
        if is_coupled(work, tensor, d):
            continue
        sharing = ~outer if scope & UNITS else 0
        if scope & ALL == 0:
            sharing &= ~work.alone[tensor][d]
        fill_uncoupled(work, d, level, lead | sharing)


@part
def pair_sum(work: Work, pair: int, level: int, y: int, t: int, asked: int) -> int:
    """Rows that are still held, summed over the steps that an event leads to; they may be known.

    Args are those of `sum_pair`.
    """
    key = asked << 14 | level << 10 | y << 5 | t
    place = (key ^ key >> 5 ^ (asked & 255) * 37) & (PAIR_SUMS - 1)
    known = address(work.pair_sum[place])
    if known.key != key:
        known.key = key
        known.found = sum_pair(work, pair, level, y, t, asked)
    return known.found


@part
def sum_pair(work: Work, pair: int, level: int, y: int, t: int, asked: int) -> int:
    """Sum rows that are still held over the steps that an event leads to.

    Args:
        work: The work space.
        pair: Rows or columns.
        level: Whose tiles are meant.
        y: What the event does to outputs: the entry of a table, or ADVANCES and a cut.
        t: What it does to taps, likewise.
        asked: Whose rows, see `rows.asked_rows`.
    """
    list_turns(work, 0, output_dim(pair), level, y)
    list_turns(work, 1, tap_dim(pair), level, t)
    found = 0
    for i in range(work.turned[0]):
        output = address(work.turn[0][i])
        for k in range(work.turned[1]):
            tap = address(work.turn[1][k])
            kept = known_rows(work, output.move, tap.move, asked)
            found += output.times * tap.times * kept
    return found


@part
def list_turns(work: Work, side: int, d: int, level: int, event: int) -> None:
    """List the moves that a level's tiles make along a dimension in the steps of an event."""
    dim = address(work.dim[d])
    cut = event & ~ADVANCES
    work.turned[side] = 0
    for v in range(dim.first[cut], dim.first[cut + 1]):
        node = address(dim.node[v])
        if event & ADVANCES == 0:
            add_turn(work, side, move_inside(work, d, cut, node.stay, level), node.times)
            continue
        for r in range(node.run, node.run + node.runs):
            run = address(dim.run[r])
            if run.enter >= 0:
                add_turn(work, side, move_inside(work, d, cut + 1, run.enter, level), node.times)
            if run.within >= 0:
                steps = node.times * (run.count - 1)
                add_turn(work, side, move_inside(work, d, cut + 1, run.within, level), steps)


@part
def add_turn(work: Work, side: int, move: int, times: int) -> None:
    """Add a move, and in how many steps it is made."""
    turn = address(work.turn[side][work.turned[side]])
    turn.move, turn.times = move, times
    work.turned[side] += 1


@part
def move_inside(work: Work, d: int, cuts: int, number: int, level: int) -> int:
    """The move that the tiles of a level make when those behind so many cuts make a move."""
    for k in range(cuts, work.dim[d].cuts_at[level]):
        number = inside(work, d, k, number)
    return number
