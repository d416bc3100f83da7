"""What every level fetches, gives and takes, in closed form.

A tensor's traffic is that of all tiles of all steps, less what steps share with those before them.
What is shared factorises: for each loop that may have advanced it is a product of what every
dimension contributes (:mod:`cost_models.exact.sums`).
"""

from __future__ import annotations

from cost_models.exact.records import (
    ADVANCES,
    DIMS,
    DISTINCT,
    EACH,
    FIRST,
    INPUT,
    OUTPUT,
    PAIRS,
    SHARED,
    TENSORS,
    TILES,
    Work,
)
from cost_models.exact.rows import asked_rows
from cost_models.exact.states import is_coupled
from cost_models.exact.step_traffic import port_cycles
from cost_models.exact.sums import fill_coupled, fill_sums, pair_sum
from cost_models.exact.window import output_dim, tap_dim
from marl_common import address, part


@part
def list_loops(work: Work) -> None:
    """List the loops that iterate, outermost first."""
    work.loops, work.loops_to[0] = 0, 0
    for level in range(1, work.nest.depth + 1):
        for place in range(DIMS):
            d = work.nest.levels[level].order[place]
            dim = address(work.dim[d])
            cut = dim.cuts_at[level] - 1
            if cut < 0 or dim.cut[cut].level != level or dim.steps[cut + 1] == dim.steps[cut]:
                continue
            loop = address(work.loop[work.loops])
            loop.dim, loop.cut = d, cut
            work.loops += 1
        work.loops_to[level] = work.loops


@part
def volume(work: Work, tensor: int, level: int, scope: int, port: int) -> int:
    """Elements that a level's instances lack of their tiles, summed over all steps.

    Args:
        work: The work space.
        tensor: The tensor; of outputs the elements of all tiles that begin.
        level: The level; that of the MACs holds nothing from step to step.
        scope: Which instances count, see `records`.
        port: The level that a scope refers to.
    """
    if level > work.nest.depth:
        scope |= work.padding
    fill_sums(work, tensor, level, scope, port)
    for d in range(DIMS):
        work.event[d] = work.dim[d].cuts_at[level]
    for pair in range(PAIRS):
        if tensor == INPUT:
            work.asked[pair] = asked_rows(work, pair, scope, port)
    found = shared_elements(work, tensor, level, -1)
    if level > work.nest.depth:
        return found
    for number in range(work.loops_to[level] - 1, -1, -1):
        loop = address(work.loop[number])
        # tiles along a dimension that advances are others, but for rows
        others = (work.apart[tensor] >> loop.dim) & 1
        if not others:
            found -= shared_elements(work, tensor, level, number)
        work.event[loop.dim] = loop.cut
        if others and work.sums[loop.dim][loop.cut] == 0:
            # no loop outside this one leaves a tile as it was
            break
    return found


@part
def shared_elements(work: Work, tensor: int, level: int, number: int) -> int:
    """Elements that steps share with those before them when a loop advances.

    Args:
        work: The work space; `event` tells from which cut on each dimension goes back, `asked`
            whose rows are meant.
        tensor: The tensor.
        level: Whose tiles are meant.
        number: The loop, of another dimension than the tensor's or one of rows; -1 for none, so
            that steps share all with themselves.
    """
    advances, cut = -1, 0
    if number >= 0:
        advances, cut = work.loop[number].dim, work.loop[number].cut
    found = work.plain[tensor]
    for place in range(work.dims):
        d = work.cut_dim[place]
        if tensor == INPUT and work.dim[d].windowed:
            continue
        if d == advances:
            found *= work.sums[d][cut + 1] - work.sums[d][cut]
        else:
            found *= work.sums[d][work.event[d]]
    if tensor == INPUT:
        for pair in range(PAIRS):
            if found and work.nest.windows[pair].live:
                y, t = work.event[output_dim(pair)], work.event[tap_dim(pair)]
                if advances == output_dim(pair):
                    y = ADVANCES | cut
                elif advances == tap_dim(pair):
                    t = ADVANCES | cut
                found *= pair_sum(work, pair, level, y, t, work.asked[pair])
    return found


@part
def count_traffic(work: Work) -> None:
    """Count what crosses every boundary."""
    nest = address(work.nest)
    depth = nest.depth
    for level in range(1, depth + 2):
        for tensor in range(TENSORS):
            if level <= depth and (nest.levels[level].keeps >> tensor) & 1 == 0:
                continue
            if work.keeper[tensor][level] == depth and not work.shares_lanes:
                count_macs(work, tensor)
            elif tensor == OUTPUT:
                count_outputs(work, level)
            else:
                count_fetched(work, tensor, level)


@part
def count_fetched(work: Work, tensor: int, level: int) -> None:
    """Count what a level fetches of inputs or filters, and what it is read from."""
    counts = address(work.counts)
    keeper = work.keeper[tensor][level]
    windows = work.windowed if tensor == INPUT else 0
    along = fans_along(work, level, windows)
    across = fans_along(work, level, ~(work.nest.coupled[tensor] | windows))
    each = volume(work, tensor, level, EACH, 0)
    counts.fill[tensor][level] = each
    for port in range(keeper, level if work.nest.every else keeper + 1):
        counts.read[tensor][level][port] = each
        if along or across:
            counts.read[tensor][level][port] = volume(work, tensor, level, SHARED, port)
    counts.tiles[tensor][level] = counts.read[tensor][level][keeper]
    if along:
        counts.tiles[tensor][level] = volume(work, tensor, level, TILES, keeper)


@part
def fans_along(work: Work, level: int, dims: int) -> bool:
    """Whether instances of a level lie along some of the given dimensions."""
    fans = 0
    for place in range(work.dims):
        d = work.cut_dim[place]
        if (dims >> d) & 1:
            fans |= work.dim[d].fans
    return fans & ((2 << level) - 1) != 0


@part
def count_outputs(work: Work, level: int) -> None:
    """Count what a level gives of outputs, and what it gets back.

    Over one tile of its keeper, a level gets back all that it works on but what the keeper has not
    had yet: the first time that it works on elements that the keeper did not get back itself.
    """
    counts = address(work.counts)
    keeper = work.keeper[OUTPUT][level]
    across = fans_along(work, level, ~work.nest.coupled[OUTPUT])
    each = volume(work, OUTPUT, level, EACH, 0)
    distinct = each
    if across:
        distinct = volume(work, OUTPUT, level, DISTINCT, keeper)
    for port in range(keeper, level if work.nest.every else keeper + 1):
        counts.write[level][port] = distinct
        if across and (port > keeper or work.any_alone[OUTPUT]):
            counts.write[level][port] = volume(work, OUTPUT, level, SHARED, port)
        counts.refill[level][port] = distinct - begun(work, keeper)
    counts.drain[level] = each
    counts.add[level] = counts.write[level][keeper] - distinct
    counts.tiles[OUTPUT][level] = counts.write[level][keeper]


@part
def begun(work: Work, keeper: int) -> int:
    """Output elements that a level begins without a partial sum from outside."""
    if keeper == 0:
        found = 1
        for d in range(DIMS):
            if is_coupled(work, OUTPUT, d):
                found *= work.nest.extents[d]
        return found
    return work.counts.drain[keeper] - work.counts.refill[keeper][work.keeper[OUTPUT][keeper]]


@part
def count_macs(work: Work, tensor: int) -> None:
    """Count the accesses of MACs to a tensor that the innermost level keeps: one each."""
    counts = address(work.counts)
    depth = work.nest.depth
    macs = counts.macs
    counts.tiles[tensor][depth + 1] = macs
    if tensor != OUTPUT:
        counts.fill[tensor][depth + 1] = macs
        counts.read[tensor][depth + 1][depth] = macs
    else:
        counts.drain[depth + 1] = macs
        counts.write[depth + 1][depth] = macs
        counts.refill[depth + 1][depth] = macs - begun(work, depth)


@part
def count_ports(work: Work) -> None:
    """Count the bits that pass the port of each level's first instance."""
    nest, counts = address(work.nest), address(work.counts)
    whole = TILES if nest.whole_tiles else SHARED
    partial = nest.partial * nest.unit
    for level in range(1, nest.depth + 2):
        for tensor in range(TENSORS):
            keeper = work.keeper[tensor][level]
            if level <= nest.depth and (nest.levels[level].keeps >> tensor) & 1 == 0:
                continue
            if keeper == nest.depth and not work.shares_lanes:
                count_lead_macs(work, tensor)
                continue
            for port in range(keeper, level):
                if port == 0 and (nest.resident >> tensor) & 1:
                    continue
                if tensor != OUTPUT:
                    elements = volume(work, tensor, level, FIRST | whole, port)
                    counts.port[port].into += elements * nest.widths[tensor] * nest.unit
                    continue
                written = volume(work, OUTPUT, level, FIRST | SHARED, port)
                width = partial if port else work.dram_width * nest.unit
                counts.port[port].out += written * width
                back = volume(work, OUTPUT, level, FIRST | DISTINCT, port)
                back -= lead_tiles(work, nest.coupled[tensor], min(level, nest.depth), port)
                counts.port[port].into += back * partial


@part
def lead_tiles(work: Work, dims: int, level: int, port: int) -> int:
    """Tiles below the first instance of `port` along some dimensions, summed over steps."""
    found = 1
    for d in range(DIMS):
        dim = address(work.dim[d])
        if (dims >> d) & 1 and dim.cuts:
            fill_coupled(work, d, level, (2 << port) - 1)
            found *= work.sums[d][dim.cuts_at[level]]
        elif (dims >> d) & 1:
            found *= work.nest.extents[d]
    return found


@part
def count_lead_macs(work: Work, tensor: int) -> None:
    """Count the bits that the MACs of the first instance of the innermost level move."""
    nest, counts, depth = address(work.nest), address(work.counts), work.nest.depth
    macs = lead_tiles(work, (1 << DIMS) - 1, depth, depth)
    if tensor != OUTPUT:
        counts.port[depth].into += macs * nest.widths[tensor] * nest.unit
        return
    fresh = lead_tiles(work, nest.coupled[tensor], depth, depth)
    counts.port[depth].out += macs * nest.partial * nest.unit
    counts.port[depth].into += (macs - fresh) * nest.partial * nest.unit


@part
def bound(work: Work) -> None:
    """Fill in the latency as the longest of all compute cycles and of each port's."""
    counts = address(work.counts)
    counts.latency = counts.compute
    binds, outwards = -1, False
    for j in range(work.ports - 1, -1, -1):
        port = address(work.port[j])
        passed = address(counts.port[port.level])
        into, out = port_cycles(port, passed.into // work.nest.unit, passed.out // work.nest.unit)
        passed.busy_in, passed.busy_out = into, out
        if into > counts.latency:
            counts.latency, binds, outwards = into, port.level, False
        if out > counts.latency:
            counts.latency, binds, outwards = out, port.level, True
    if binds < 0:
        counts.bind_compute = counts.latency
    elif outwards:
        counts.port[binds].bind_out = counts.latency
    else:
        counts.port[binds].bind_in = counts.latency
