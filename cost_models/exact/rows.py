"""Rows (or columns) that all instances still hold after a move; where nothing moves, all rows.

The instances along a dimension are listed first: where they are, what they have, and what they had
before.
"""

from __future__ import annotations

from cost_models.exact.records import (
    FAR,
    FIRST,
    INPUT,
    INTERVALS,
    KNOWN,
    MOVE_BITS,
    PADDING,
    PAIRS,
    PLACES,
    ROWS,
    TOO_MANY_STATES,
    Places,
    Window,
    Work,
)
from cost_models.exact.states import fill_path
from cost_models.exact.window import (
    classes_of,
    interval,
    output_dim,
    overlap,
    real_interval,
    tap_dim,
    touched,
)
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


@part
def asked_rows(work: Work, pair: int, scope: int, port: int) -> int:
    """What `known_rows` is asked for, without what does not matter where nothing is spread.

    Args:
        work: The work space.
        pair: Rows or columns.
        scope: Whose rows: FIRST, ROWS and PADDING, see `records`.
        port: The keeper's level, or one that the transfer passes.
    """
    fans = work.dim[output_dim(pair)].fans | work.dim[tap_dim(pair)].fans
    scope &= FIRST | ROWS | PADDING if fans else PADDING
    if fans & ((2 << port) - 1) == 0:
        scope &= ~FIRST
    if scope & (FIRST | ROWS) == 0:
        port = 0
    return ((work.stamp << 3 | scope) << 4 | port) << 1 | pair


@part
def known_rows(work: Work, y_move: int, t_move: int, asked: int) -> int:
    """Rows that are still held after a move of outputs and of taps; all where nothing moves.

    Where instances share rows, those that none of a group lacks; groups are summed. What was found
    for the same moves is kept.
    """
    key = (asked << MOVE_BITS | y_move) << MOVE_BITS | t_move
    place = (y_move + t_move * 61 + (asked & 255) * 131) & (KNOWN - 1)
    known = address(work.rows[place])
    if known.key != key:
        found = count_rows(work, y_move, t_move, asked)
        known.key, known.found = key, found
    return known.found


@part
def rows_now(work: Work, y_node: int, t_node: int, asked: int) -> int:
    """Rows of all instances at a step's outputs and taps; `asked` as in :func:`known_rows`."""
    pair = asked & 1
    y_move = work.dim[output_dim(pair)].node[y_node].stay
    return known_rows(work, y_move, work.dim[tap_dim(pair)].node[t_node].stay, asked)


@part
def count_rows(work: Work, y_move: int, t_move: int, asked: int) -> int:
    """Count what `known_rows` returns."""
    pair, port, scope = asked & 1, (asked >> 1) & 15, (asked >> 5) & 7
    window = address(work.nest.windows[pair])
    y_dim, t_dim = address(work.dim[output_dim(pair)]), address(work.dim[tap_dim(pair)])
    y, t = address(y_dim.move[y_move]), address(t_dim.move[t_move])
    moved = y.shift != 0 or t.shift != 0
    # the first instance has the most now and had the most before
    held = 0
    if not moved:
        held = touched(window, y_dim.node[y.new].lead, t_dim.node[t.new].lead)
    elif work.nest.retain:
        held = overlap(
            window, y_dim.node[y.new].lead, t_dim.node[t.new].lead,
            y_dim.node[y.old].lead, t_dim.node[t.old].lead, y.shift, t.shift,
        )  # fmt: skip
    lead = 0
    if scope & FIRST:
        lead = (2 << port) - 1
    near = window.padded and y_dim.node[y.new].base >= 0 and scope & PADDING == 0
    if held == 0 or ((y_dim.fans | t_dim.fans) & ~lead == 0 and not near):
        return held
    found = 0
    if moved and scope & ROWS:
        found = rows_now(work, y.new, t.new, asked)
    work.near, work.y_shift, work.t_shift = near, y.shift, t.shift
    work.lacking = moved
    for side in range(PAIRS):
        listing = address(work.listing[side])
        listing.dim = tap_dim(pair) if side else output_dim(pair)
        listing.lead, listing.own = lead, 0
        if scope & ROWS:
            listing.own = (2 << port) - 1 | work.alone[INPUT][listing.dim]
        list_places(work, side, t_move if side else y_move)
        if work.status:
            return 0
    if scope & ROWS == 0:
        return count_each(work, window)
    distinct = count_distinct(work, window)
    return found - distinct if moved else distinct


@part
def count_each(work: Work, window: Window) -> int:
    """Sum over instances the rows that each has and had before."""
    found = 0
    for i in range(work.listing[0].places):
        y = address(work.place[0][i])
        for j in range(work.listing[1].places):
            t = address(work.place[1][j])
            if work.near:
                found += count_real(work, window, y, t)
            elif work.y_shift == 0 and work.t_shift == 0:
                found += y.count * t.count * touched(window, y.now, t.now)
            elif y.before > 0 and t.before > 0:
                some = overlap(window, y.now, t.now, y.before, t.before, work.y_shift, work.t_shift)
                found += y.count * t.count * some
    return found


@part
def count_real(work: Work, window: Window, y: Places, t: Places) -> int:
    """The same of two entries' instances, where rows may be padding, which does not count."""
    found = 0
    for number in range(classes_of(window)):
        start, stop = real_interval(window, number)
        for u in range(y.count):
            first = work.listing[0].start + y.start + u * y.pitch
            for v in range(t.count):
                tap = work.listing[1].start + t.start + v * t.pitch
                low, high = interval(window, number, first, y.now, tap, t.now)
                low, high = max(low, start), min(high, stop)
                before, end = held_before(work, window, number, first, y, tap, t)
                if high > low and end > before:
                    found += max(min(high, end) - max(low, before), 0)
    return found


@part
def held_before(
    work: Work, window: Window, number: int, first: int, y: Places, tap: int, t: Places
) -> tuple[int, int]:
    """What instances at an output and a tap had of one class of rows before they moved."""
    return interval(window, number, first - work.y_shift, y.before, tap - work.t_shift, t.before)


@part
def count_distinct(work: Work, window: Window) -> int:
    """Rows that some instance of a group has, or lacks of what it has; groups are summed."""
    y_side, t_side = address(work.listing[0]), address(work.listing[1])
    in_order = t_side.places == 1 and work.place[1][0].count == 1 and y_side.groups == 1
    if (not window.box and window.dilation > 1) or work.near:
        in_order = False
    found = 0
    for number in range(classes_of(window)):
        some = -1
        if in_order:
            some = sweep(work, window, number)
        if some < 0:
            some = 0
            for y_group in range(y_side.groups):
                for t_group in range(t_side.groups):
                    work.intervals = 0
                    list_intervals(work, window, number, y_group, t_group)
                    some += covered(work)
        found += some
    return found


@part
def sweep(work: Work, window: Window, number: int) -> int:
    """Rows of one class, where instances lie along outputs alone; -1 if they are out of order."""
    t = address(work.place[1][0])
    end, last, found = -FAR, -FAR, 0
    for i in range(work.listing[0].places):
        y = address(work.place[0][i])
        pitch = y.pitch * window.stride if window.box else y.pitch
        low, high = interval(window, number, y.start, y.now, t.start, t.now)
        if work.lacking and high > low:
            before, after = held_before(work, window, number, y.start, y, t.start, t)
            if min(high, after) > max(low, before):
                if low < before and after < high:
                    return -1
                if low < before:
                    high = before
                else:
                    low = after
        if high <= low:
            continue
        if low < last or (end > high and y.count > 1):
            return -1
        found += max(high - max(low, end), 0) + (y.count - 1) * min(high - low, pitch)
        last = low + (y.count - 1) * pitch
        end = max(end, high + (y.count - 1) * pitch)
    return found


@part
def list_intervals(work: Work, window: Window, number: int, y_group: int, t_group: int) -> None:
    """List the intervals of one class that instances of a group have, or lack."""
    for i in range(work.listing[0].places):
        y = address(work.place[0][i])
        if y.group != y_group:
            continue
        for j in range(work.listing[1].places):
            t = address(work.place[1][j])
            if t.group != t_group:
                continue
            for u in range(y.count):
                first = work.listing[0].start + y.start + u * y.pitch
                for v in range(t.count):
                    tap = work.listing[1].start + t.start + v * t.pitch
                    low, high = interval(window, number, first, y.now, tap, t.now)
                    before, after = low, low
                    if work.lacking:
                        before, after = held_before(work, window, number, first, y, tap, t)
                    if min(high, after) <= max(low, before):
                        add_interval(work, window, number, low, high)
                    else:
                        add_interval(work, window, number, low, before)
                        add_interval(work, window, number, after, high)


@part
def add_interval(work: Work, window: Window, number: int, low: int, high: int) -> None:
    """Insert an interval in the order of starts; padding is cut off where it may be near."""
    if work.near:
        start, stop = real_interval(window, number)
        low, high = max(low, start), min(high, stop)
    if high <= low:
        return
    at = work.intervals
    if at == INTERVALS:
        work.status = TOO_MANY_STATES
        return
    while at > 0 and work.low[at - 1] > low:
        work.low[at], work.high[at] = work.low[at - 1], work.high[at - 1]
        at -= 1
    work.low[at], work.high[at] = low, high
    work.intervals += 1


@part
def covered(work: Work) -> int:
    """Length of the union of the listed intervals."""
    found, end = 0, -FAR
    for i in range(work.intervals):
        found += max(work.high[i] - max(work.low[i], end), 0)
        end = max(end, work.high[i])
    return found
