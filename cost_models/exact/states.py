"""How a dimension is cut into steps: its nodes, runs and moves.

A dimension under some levels is a tree of counters. Steps in which all instances have tiles of the
same shape are one *node*; a node's counters of the next cut fall into *runs* of one shape each.
From one step to the next a dimension makes a *move*: it stays, advances by one counter, or goes
back from the last counter to the first. Nodes of like shape are one, wherever in the tree they are;
where padding is near, and shapes are at different distances from it, they are not.
"""

from __future__ import annotations

from cost_models.exact.records import FAR, MOVES, NODES, RUNS, TOO_MANY_STATES, Dim, Node, Work
from cost_models.exact.window import ceil_div, pair_of, tap_dim
from marl_common import address, part


@part
def is_coupled(work: Work, tensor: int, d: int) -> bool:
    """Whether a tensor depends on a dimension."""
    return (work.nest.coupled[tensor] >> d) & 1 != 0


@part
def cut_dim(work: Work, d: int) -> None:
    """List the levels that loop over a dimension, or spread it over units.

    Tiles are clipped to those around them; units that never have one are left out.
    """
    dim = address(work.dim[d])
    most = work.nest.extents[d]
    instances = 1
    dim.cuts, dim.fans = 0, 0
    for level in range(1, work.deepest + 1):
        spec = address(work.nest.levels[level])
        tile = spec.tile[d]
        if tile < most:
            units = min(spec.units[d], ceil_div(most, tile))
            cut = address(dim.cut[dim.cuts])
            cut.level, cut.tile, cut.units, cut.width = level, tile, units, tile * units
            instances *= units
            cut.instances = instances
            dim.cuts += 1
            if units > 1:
                dim.fans |= 1 << level
            if cut.width < most:
                work.looping |= 1 << level
            most = tile
        dim.cuts_at[level], dim.lead[level] = dim.cuts, most


@part
def grow(work: Work, d: int) -> None:
    """Find the nodes, runs and moves of a dimension, cut by cut."""
    dim = address(work.dim[d])
    extent = work.nest.extents[d]
    dim.runs, dim.moves, dim.still_at = 0, 0, -1
    dim.first[0], dim.first[1] = 0, 1
    dim.steps[0] = 1
    root = address(dim.node[0])
    root.parent, root.at, root.lead, root.times = 0, 0, extent, 1
    root.base, pair = -1, pair_of(d)
    if pair >= 0 and work.nest.windows[pair].padded:
        root.base = 0  # where a tile lies decides what of it is padding
    root.kinds, root.size[0], root.count[0] = 1, extent, 1
    measure_node(work, d, 0, 0)
    for k in range(dim.cuts):
        inner = k + 1
        dim.first[inner + 1] = dim.first[inner]
        dim.steps[inner] = 0
        for v in range(dim.first[k], dim.first[k + 1]):
            split(work, d, k, v)
            if work.status:
                return


@part
def split(work: Work, d: int, k: int, v: int) -> None:
    """Divide the counters of cut `k` inside a node into runs."""
    dim = address(work.dim[d])
    node, cut = address(dim.node[v]), address(dim.cut[k])
    count = ceil_div(node.lead, cut.width)
    node.run, node.runs = dim.runs, 0
    at, before = 0, -1
    while at < count:
        after = min(next_break(node, cut.width, at), count)
        if node.base >= 0:
            after = padding_break(work, d, k, v, at, after)
        child = child_of(work, d, k, v, at)
        if work.status:
            return
        dim.node[child].times += node.times * (after - at)
        run = address(dim.run[dim.runs])
        run.node, run.at, run.count = child, at, after - at
        run.enter, run.within = -1, -1
        if at > 0:
            run.enter = add_move(work, d, before, child, cut.width)
        if dim.windowed and run.count > 1:
            run.within = add_move(work, d, child, child, cut.width)
        elif run.count > 1 and at == 0:
            run.enter = add_move(work, d, child, child, cut.width)
        dim.runs += 1
        node.runs += 1
        if dim.runs == RUNS:
            work.status = TOO_MANY_STATES
            return
        before, at = child, after
    dim.steps[k + 1] += node.times * count


@part
def next_break(node: Node, width: int, at: int) -> int:
    """The counter behind `at` from which on some instance has less than before."""
    found = FAR
    for kind in range(node.kinds):
        size = node.size[kind]
        if size >= (at + 1) * width:
            found = min(found, size // width)
        elif size > at * width:
            found = min(found, at + 1)
    return found


@part
def padding_break(work: Work, d: int, k: int, v: int, at: int, after: int) -> int:
    """The end of a run from `at` that holds no step near padding, or one such step alone."""
    if near_padding(work, d, k, v, at):
        return at + 1
    while after > at + 1 and near_padding(work, d, k, v, after - 1):
        after -= 1
    return after


@part
def near_padding(work: Work, d: int, k: int, v: int, at: int) -> bool:
    """Whether instances may touch padding at a counter of cut `k` inside a node."""
    pair = pair_of(d)
    if d == tap_dim(pair):
        return True
    dim = address(work.dim[d])
    window = address(work.nest.windows[pair])
    first = dim.node[v].base + at * dim.cut[k].width
    reach = dim.cut[k].tile
    for other in range(k + 1):
        reach += (dim.cut[other].units - 1) * dim.cut[other].tile
    last = min(first + reach, work.nest.extents[d]) - 1
    taps = work.nest.extents[tap_dim(pair)]
    end = window.stride * last + window.dilation * (taps - 1)
    return window.stride * first < window.low or end >= window.high


@part
def child_of(work: Work, d: int, k: int, v: int, at: int) -> int:
    """The node of a counter of cut `k` inside a node: one that is there, or a new one."""
    dim = address(work.dim[d])
    node, cut = address(dim.node[v]), address(dim.cut[k])
    inner = k + 1
    found = dim.first[inner + 1]
    if found == NODES:
        work.status = TOO_MANY_STATES
        return 0
    child = address(dim.node[found])
    child.kinds = 0
    for kind in range(node.kinds):
        block = min(node.size[kind] - at * cut.width, cut.width)
        if block >= cut.tile:
            whole = 1 if cut.units == 1 else block // cut.tile
            add_kind(child, cut.tile, whole * node.count[kind])
            block -= whole * cut.tile
        if block > 0:
            add_kind(child, block, node.count[kind])
    child.lead = min(node.lead - at * cut.width, cut.tile)
    child.base = -1
    if node.base >= 0 and near_padding(work, d, k, v, at):
        child.base = node.base + at * cut.width
    child.parent, child.at, child.times = v, at, 0
    uniform = child.kinds == 1 and child.count[0] == cut.instances
    if uniform and child.base < 0:
        for other in range(dim.first[inner], found):
            like = address(dim.node[other])
            alike = like.kinds == 1 and like.active == cut.instances
            if alike and like.base < 0 and like.lead == child.lead:
                return other
    dim.first[inner + 1] = found + 1
    measure_node(work, d, inner, found)
    return found


@part
def add_kind(node: Node, size: int, count: int) -> None:
    """Add instances with tiles of a size."""
    for kind in range(node.kinds):
        if node.size[kind] == size:
            node.count[kind] += count
            return
    node.size[node.kinds] = size
    node.count[node.kinds] = count
    node.kinds += 1


@part
def measure_node(work: Work, d: int, k: int, v: int) -> None:
    """Fill in what follows from the tiles of a node's instances."""
    dim = address(work.dim[d])
    node = address(dim.node[v])
    node.run, node.runs = 0, 0
    node.total, node.active = 0, 0
    for kind in range(node.kinds):
        node.total += node.size[kind] * node.count[kind]
        node.active += node.count[kind]
    node.cuts = k
    node.turns = node.lead
    if work.shares_lanes:
        node.turns = ceil_div(node.lead, work.nest.levels[work.nest.depth + 1].units[d])
    for port in range(work.ports):
        lead = (2 << work.port[port].level) - 1
        node.span[port] = within(work, d, v, lead, False)
    node.stay = add_move(work, d, v, v, 0)


@part
def within(work: Work, d: int, v: int, lead: int, instances: bool) -> int:
    """Tiles of a node's instances together; of the `lead` levels only the first unit counts.

    Args:
        work: The work space.
        d: The dimension.
        v: The node.
        lead: A mask of levels.
        instances: Count instances with a tile instead of what is in their tiles.
    """
    dim = address(work.dim[d])
    node = address(dim.node[v])
    if dim.fans & lead == 0:
        return node.active if instances else node.total
    if dim.fans & ~lead == 0:
        return 1 if instances else node.lead
    fill_path(work, 0, d, v)
    return tiles_of(work, dim, 0, node.cuts, dim.node[0].lead, lead, instances)


@part
def fill_path(work: Work, side: int, d: int, v: int) -> None:
    """Write the counters that lead to a node into a `path`."""
    dim = address(work.dim[d])
    for cut in range(dim.node[v].cuts - 1, -1, -1):
        work.path[side][cut] = dim.node[v].at
        v = dim.node[v].parent


@part
def tiles_of(work: Work, dim: Dim, k: int, last: int, size: int, lead: int, instances: bool) -> int:
    """The part of `within` that lies in a tile of a size, from cut `k` on."""
    if k == last:
        return 1 if instances else size
    cut = address(dim.cut[k])
    block = min(size - work.path[0][k] * cut.width, cut.width)
    if block <= 0:
        return 0
    whole, rest = block // cut.tile, block % cut.tile
    if (lead >> cut.level) & 1:
        whole, rest = min(whole, 1), 0 if whole else rest
    found = 0
    if whole:
        found = whole * tiles_of(work, dim, k + 1, last, cut.tile, lead, instances)
    if rest:
        found += tiles_of(work, dim, k + 1, last, rest, lead, instances)
    return found


@part
def add_move(work: Work, d: int, old: int, new: int, shift: int) -> int:
    """A new move; returns its number."""
    dim = address(work.dim[d])
    number = dim.moves
    if number == MOVES:
        work.status = TOO_MANY_STATES
        return 0
    move = address(dim.move[number])
    move.old, move.new, move.shift, move.down = old, new, shift, -1
    dim.moves += 1
    return number


@part
def inside(work: Work, d: int, k: int, number: int) -> int:
    """The move that cut `k` makes when the cuts outside it make a move.

    It goes from the last step inside the old node to the first inside the new one.
    """
    dim = address(work.dim[d])
    move = address(dim.move[number])
    if move.down < 0:
        old = address(dim.node[move.old])
        run = address(dim.run[old.run + old.runs - 1])
        first = dim.run[dim.node[move.new].run].node
        shift = move.shift - (run.at + run.count - 1) * dim.cut[k].width
        if shift == 0:
            move.down = dim.node[first].stay
        else:
            # the table of moves does not move, so `move` still points into it
            move.down = add_move(work, d, run.node, first, shift)
    return move.down
