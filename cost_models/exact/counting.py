"""The counts of one nest: first how its dimensions are cut, then traffic, then time."""

from __future__ import annotations

from cost_models.exact.clock import stepwise
from cost_models.exact.records import (
    COUNTED,
    DIMS,
    INPUT,
    OUTPUT,
    PADDING,
    PAIRS,
    STAMPS,
    TENSORS,
    TOO_LARGE_TILES,
    Work,
)
from cost_models.exact.states import cut_dim, grow
from cost_models.exact.sums import forget
from cost_models.exact.traffic import bound, count_ports, count_traffic, list_loops
from cost_models.exact.window import ceil_div, output_dim, pair_of, tap_dim, touched
from marl_common import address, part


@part
def count(work: Work) -> int:
    """Count the nest of a work space; returns COUNTED, or why there are no counts."""
    prepare(work)
    if work.status:
        return work.status
    counts = address(work.counts)
    for level in range(work.nest.depth + 2):
        counts.port[level] = work.nothing.port[0]
    counts.bind_compute = 0
    list_loops(work)
    count_steps(work)
    count_traffic(work)
    work.dram_width = work.nest.widths[OUTPUT]
    for level in range(1, work.nest.depth + 2):
        if counts.refill[level][0] > 0:
            work.dram_width = work.nest.partial
    if work.nest.every or not work.nest.stepwise:
        count_ports(work)
    if work.nest.stepwise:
        stepwise(work)
    else:
        bound(work)
    return work.status


@part
def prepare(work: Work) -> None:
    """Find out who keeps what, which ports limit, and how dimensions are cut."""
    nest = address(work.nest)
    everything = (1 << TENSORS) - 1
    work.status = COUNTED
    if work.stamp == STAMPS:
        forget(work)
    work.stamp += 1
    work.shares_lanes = 0
    for d in range(DIMS):
        if nest.levels[nest.depth + 1].units[d] > 1:
            work.shares_lanes = 1
    work.deepest = nest.depth
    if work.shares_lanes or nest.levels[nest.depth].keeps != everything:
        work.deepest += 1
    work.dims, work.windowed, work.turns, work.looping = 0, 0, 1, 0
    for tensor in range(TENSORS):
        work.plain[tensor], work.parts[tensor] = 1, 0
    for d in range(DIMS):
        dim = address(work.dim[d])
        dim.windowed, pair = 0, pair_of(d)
        if pair >= 0:
            dim.windowed = nest.windows[pair].live
        cut_dim(work, d)
        work.windowed |= dim.windowed << d
    for tensor in range(TENSORS):
        rows = work.windowed if tensor == INPUT else 0
        work.apart[tensor] = nest.coupled[tensor] & ~rows
    find_structure(work)
    check_room(work)
    for d in range(DIMS):
        if work.status == COUNTED:
            prepare_dim(work, d)


@part
def find_structure(work: Work) -> None:
    """Find what follows from who keeps what and which levels loop, if it is not known."""
    nest = address(work.nest)
    known = 0
    for level in range(1, nest.depth + 1):
        known = known << TENSORS | nest.levels[level].keeps
    known = known << (nest.depth + 2) | work.looping
    if known != work.known:
        work.known = known
        find_keepers(work)
        find_ports(work)
        find_alone(work)
        # what is not filled in for every level
        work.counts = work.nothing
    for j in range(work.ports):
        work.port[j].begun = 0


@part
def find_alone(work: Work) -> None:
    """Find the levels whose units share no transfer, by tensor and dimension."""
    nest = address(work.nest)
    for tensor in range(TENSORS):
        work.any_alone[tensor] = 0
        for d in range(DIMS):
            work.alone[tensor][d] = 0
        for level in range(1, nest.depth + 2):
            alone = nest.levels[level].alone[tensor]
            if alone:
                work.any_alone[tensor] = 1
                for d in range(DIMS):
                    work.alone[tensor][d] |= ((alone >> d) & 1) << level


@part
def prepare_dim(work: Work, d: int) -> None:
    """Find the steps of one dimension, or count it among those without cuts."""
    nest, dim = address(work.nest), address(work.dim[d])
    if dim.cuts or dim.windowed:
        grow(work, d)
    if dim.cuts:
        work.cut_dim[work.dims] = d
        work.dims += 1
        for tensor in range(TENSORS):
            if (work.apart[tensor] >> d) & 1:
                work.part[tensor][work.parts[tensor]] = d
                work.parts[tensor] += 1
        return
    work.turns *= ceil_div(nest.extents[d], nest.levels[nest.depth + 1].units[d])
    for tensor in range(TENSORS):
        work.plain[tensor] *= nest.extents[d] if (work.apart[tensor] >> d) & 1 else 1


@part
def find_keepers(work: Work) -> None:
    """Find the nearest level outside each level that keeps a tensor."""
    nest = address(work.nest)
    memory = 0
    for level in range(1, nest.depth + 1):
        if nest.levels[level].port and not nest.levels[level].joined:
            memory = level
    for tensor in range(TENSORS):
        keeper = 0
        for level in range(1, nest.depth + 2):
            work.keeper[tensor][level] = keeper
            if level <= nest.depth and (nest.levels[level].keeps >> tensor) & 1:
                keeper = level
        if tensor == INPUT:
            work.padding = PADDING if keeper >= memory else 0


@part
def find_ports(work: Work) -> None:
    """List the ports that can limit, and the levels that have steps of their own."""
    nest = address(work.nest)
    work.ports, work.clocks = 0, 0
    work.clock[0].level, work.clock[0].outer = 0, 0
    for level in range(nest.depth + 1):
        spec = address(nest.levels[level])
        loops = (work.looping >> level) & 1
        steps = level == nest.depth or spec.port or spec.keeps or loops
        if level > 0 and steps:
            work.clocks += 1
            clock = address(work.clock[work.clocks])
            clock.level, clock.outer = level, work.ports
        limits = spec.port and not spec.spare
        if level < nest.depth and limits and not nest.levels[level + 1].joined:
            port = address(work.port[work.ports])
            port.level, port.both = level, spec.both
            port.read, port.write = spec.read, spec.write
            port.read_shift, port.write_shift = shift_of(spec.read), shift_of(spec.write)
            work.ports += 1
    find_meters(work)


@part
def shift_of(rate: int) -> int:
    """The logarithm of a rate that is a power of two, else -1."""
    if rate & (rate - 1):
        return -1
    shift = 0
    while rate >> shift > 1:
        shift += 1
    return shift


@part
def find_meters(work: Work) -> None:
    """Find the level whose steps each port is metered by, and the ports that a step can use."""
    nest = address(work.nest)
    for j in range(work.ports):
        port = address(work.port[j])
        port.meter = work.clocks
        for c in range(work.clocks, 0, -1):
            level = work.clock[c].level
            inner = level < nest.depth and not nest.levels[level + 1].joined
            metered = level == nest.depth or (nest.levels[level].port and inner)
            if level > port.level and metered:
                port.meter = c
    for c in range(1, work.clocks + 1):
        find_links(work, c)


@part
def find_links(work: Work, c: int) -> None:
    """Find the ports that steps of a level, or of those inside it, can use."""
    nest, clock = address(work.nest), address(work.clock[c])
    clock.first, clock.links = work.ports, 0
    for j in range(work.ports - 1, -1, -1):
        clock.through[j] = 0
        port = work.port[j].level
        for level in range(clock.level, nest.depth + 2):
            for tensor in range(TENSORS):
                if port == 0 and (nest.resident >> tensor) & 1:
                    continue
                keeps = level > nest.depth or (nest.levels[level].keeps >> tensor) & 1
                if not keeps or work.keeper[tensor][level] > port or port >= level:
                    continue
                clock.first = j
                if port < clock.level:
                    clock.through[j] = 1
                    if level == clock.level:
                        link = address(clock.link[clock.links])
                        link.tensor, link.port, link.dims = tensor, j, nest.coupled[tensor]
                        clock.links += 1
        if work.port[j].meter >= c and port >= clock.level:
            clock.first = j


@part
def count_steps(work: Work) -> None:
    """Count MACs, steps, active instances, compute cycles, and what the first tiles hold."""
    nest, counts = address(work.nest), address(work.counts)
    counts.macs = 1
    for d in range(DIMS):
        counts.macs *= nest.extents[d]
    for level in range(1, nest.depth + 1):
        counts.steps[level], counts.active[level] = 1, 1
        for place in range(work.dims):
            dim = address(work.dim[work.cut_dim[place]])
            cuts = dim.cuts_at[level]
            active = 0
            for v in range(dim.first[cuts], dim.first[cuts + 1]):
                active += dim.node[v].times * dim.node[v].active
            counts.steps[level] *= dim.steps[cuts]
            counts.active[level] *= active
    counts.compute = all_cycles(work, 0, work.turns, 1)


@part
def check_room(work: Work) -> None:
    """Find what first tiles hold, and the innermost memory that has too little room for them."""
    nest, counts = address(work.nest), address(work.counts)
    shared = 0
    for level in range(nest.depth, 0, -1):
        spec = address(nest.levels[level])
        if level == nest.depth or not nest.levels[level + 1].joined:
            shared, counts.bits[level] = 0, 0
            for tensor in range(TENSORS):
                work.own_room[tensor] = 0
        else:
            counts.bits[level] = counts.bits[level + 1]
        for tensor in range(TENSORS):
            counts.peak[tensor][level] = 0
            if (spec.keeps >> tensor) & 1 == 0 or (level == 1 and (nest.resident >> tensor) & 1):
                continue
            counts.peak[tensor][level] = first_tile(work, tensor, level)
            width = nest.partial if tensor == OUTPUT else nest.widths[tensor]
            bits = counts.peak[tensor][level] * width * nest.unit * spec.copies[tensor]
            counts.bits[level] += bits
            if spec.own_bits[tensor] < 0:
                shared += bits
                continue
            work.own_room[tensor] += bits
            if work.own_room[tensor] > spec.own_bits[tensor] and work.status == COUNTED:
                work.status, work.full = TOO_LARGE_TILES, level
        if 0 <= spec.shared_bits < shared and work.status == COUNTED:
            work.status, work.full = TOO_LARGE_TILES, level


@part
def first_tile(work: Work, tensor: int, level: int) -> int:
    """Elements of the first tile of a level's first instance, which is the largest."""
    nest = address(work.nest)
    found = 1
    for d in range(DIMS):
        found *= work.dim[d].lead[level] if (work.apart[tensor] >> d) & 1 else 1
    if tensor == INPUT:
        for pair in range(PAIRS):
            if nest.windows[pair].live:
                outputs = work.dim[output_dim(pair)].lead[level]
                taps = work.dim[tap_dim(pair)].lead[level]
                found *= touched(address(nest.windows[pair]), outputs, taps)
    return found


@part
def all_cycles(work: Work, place: int, turns: int, times: int) -> int:
    """Compute cycles of all steps.

    Args:
        work: The work space.
        place: The first of the dimensions that are still to be looked at.
        turns: Cycles of a step's tile along the others.
        times: Steps that have such tiles.
    """
    lanes = work.nest.lanes
    if place == work.dims:
        return times * (turns if lanes == 1 else ceil_div(turns, lanes))
    d = work.cut_dim[place]
    dim = address(work.dim[d])
    cuts = dim.cuts_at[work.nest.depth]
    found = 0
    if lanes == 1:
        for v in range(dim.first[cuts], dim.first[cuts + 1]):
            found += dim.node[v].times * dim.node[v].turns
        return all_cycles(work, place + 1, turns * found, times)
    for v in range(dim.first[cuts], dim.first[cuts + 1]):
        node = address(dim.node[v])
        found += all_cycles(work, place + 1, turns * node.turns, times * node.times)
    return found
