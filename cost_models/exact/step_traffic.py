"""What one step moves through the ports around it, and the cycles that this takes."""

from __future__ import annotations

from cost_models.exact.records import INPUT, OUTPUT, PAIRS, TENSORS, Port, Work
from cost_models.exact.rows import known_rows, rows_now
from cost_models.exact.states import is_coupled, within
from cost_models.exact.window import ceil_div, output_dim, tap_dim
from marl_common import address, part


@part
def compute_cycles(work: Work, c: int) -> int:
    """Cycles of the MACs of the first instance of the innermost level in a step."""
    found = work.turns
    for place in range(work.dims):
        d = work.cut_dim[place]
        found *= work.dim[d].node[work.clock[c].now[d]].turns
    return found if work.nest.lanes == 1 else ceil_div(found, work.nest.lanes)


@part
def transfer(bits: int, rate: int, shift: int) -> int:
    """Cycles that bits take at a rate [bits/cycle]."""
    return (bits + rate - 1) >> shift if shift >= 0 else ceil_div(bits, rate)


@part
def port_cycles(port: Port, into: int, out: int) -> tuple[int, int]:
    """Cycles of a port in both directions; together where they share it."""
    if port.both:
        cycles = transfer(into + out, port.read, port.read_shift)
        if into >= out:
            return cycles, 0
        return 0, cycles
    return (transfer(into, port.read, port.read_shift), transfer(out, port.write, port.write_shift))


@part
def tile_elements(work: Work, c: int, tensor: int, j: int) -> int:
    """Elements of a tensor in the tiles below a port's first instance; of inputs without rows."""
    clock = address(work.clock[c])
    found = work.plain[tensor]
    for place in range(work.parts[tensor]):
        d = work.part[tensor][place]
        found *= work.dim[d].node[clock.now[d]].span[j]
    return found


@part
def groups_alone(work: Work, c: int, tensor: int, level: int) -> int:
    """Groups of instances below a level's first one that share no transfer."""
    found = 1
    if not work.any_alone[tensor]:
        return found
    for place in range(work.dims):
        d = work.cut_dim[place]
        alone = work.alone[tensor][d]
        if alone and not is_coupled(work, tensor, d):
            lead = (2 << level) - 1 | ~alone
            found *= within(work, d, work.clock[c].now[d], lead, True)
    return found


@part
def add_moves(work: Work, c: int, initial: bool) -> None:
    """Add what a step brings to the level that it is a step of, and takes from it.

    First tiles of inputs and filters go before all steps: they are added to the ports' `first`.
    """
    clock = address(work.clock[c])
    for place in range(clock.links):
        link = address(clock.link[place])
        if clock.moved & link.dims == 0:
            continue
        if link.tensor == OUTPUT:
            add_outputs(work, c, link.port)
        else:
            add_fetched(work, c, link.tensor, link.port, initial)


@part
def add_outputs(work: Work, c: int, j: int) -> None:
    """Add the output tiles that begin in a step to a port's bits."""
    port, span = address(work.port[j]), address(work.span[c])
    distinct = tile_elements(work, c, OUTPUT, j)
    partial = work.nest.partial
    written = distinct * groups_alone(work, c, OUTPUT, port.level)
    bits = written * (partial if port.level else work.dram_width)
    span.cases[0].port[j].out += bits
    span.cases[1].port[j].out += bits
    span.cases[1].port[j].into += distinct * partial
    span.again = 1


@part
def add_fetched(work: Work, c: int, tensor: int, j: int, initial: bool) -> None:
    """Add the inputs or filters that a step fetches to a port's bits."""
    port, span = address(work.port[j]), address(work.span[c])
    elements = tile_elements(work, c, tensor, j)
    if tensor == INPUT:
        elements *= fresh_rows(work, c, j, initial)
    elements *= groups_alone(work, c, tensor, port.level)
    bits = elements * work.nest.widths[tensor]
    if initial:
        port.begun += bits
        return
    for again in range(2):
        span.cases[again].port[j].into += bits


@part
def fresh_rows(work: Work, c: int, j: int, initial: bool) -> int:
    """Rows times columns that instances below a port's first one lack in a step."""
    clock = address(work.clock[c])
    own, kept = 1, 1
    if initial or clock.moved & work.apart[INPUT]:
        kept = 0
    for pair in range(PAIRS):
        if work.nest.windows[pair].live:
            y, t, asked = output_dim(pair), tap_dim(pair), work.port[j].rows[pair]
            own *= rows_now(work, clock.now[y], clock.now[t], asked)
            if kept:
                kept *= known_rows(work, clock.move[y], clock.move[t], asked)
    return own - kept


@part
def add_lanes(work: Work, c: int) -> None:
    """Add what MACs read and write past the innermost level in a step."""
    depth = work.nest.depth
    span = address(work.span[c])
    for tensor in range(TENSORS):
        if (work.nest.levels[depth].keeps >> tensor) & 1:
            continue
        like, rows, steps = -1, 1, 0
        for j in range(work.ports):
            port = address(work.port[j])
            if port.level < work.keeper[tensor][depth + 1]:
                continue
            elements = tile_elements(work, c, tensor, j)
            if tensor == INPUT:
                for pair in range(PAIRS):
                    if like >= 0 and port.lanes[pair] != work.port[like].lanes[pair]:
                        like = -1
                if like < 0:
                    like, rows = j, lane_rows(work, c, j)
                elements *= rows
            if steps == 0 or work.any_alone[tensor]:
                steps = lane_steps(work, c, tensor, port.level, False)
            moved = elements * steps
            if tensor == OUTPUT:
                span.again, back = 1, moved
                if work.any_alone[OUTPUT]:
                    back = elements * lane_steps(work, c, tensor, port.level, True)
            for again in range(2):
                passed, partial = address(span.cases[again].port[j]), work.nest.partial
                if tensor == OUTPUT:
                    passed.out += moved * (partial if port.level else work.dram_width)
                    passed.into += (back - (0 if again else elements)) * partial
                else:
                    passed.into += moved * work.nest.widths[tensor]


@part
def lane_steps(work: Work, c: int, tensor: int, level: int, distinct: bool) -> int:
    """Steps of the MACs in which an element is used anew, times the groups that do so alone."""
    found = 1
    for place in range(work.dims):
        d = work.cut_dim[place]
        if is_coupled(work, tensor, d):
            continue
        dim = address(work.dim[d])
        node = address(dim.node[work.clock[c].now[d]])
        alone = 0 if distinct else work.alone[tensor][d]
        if alone == 0:
            found *= node.turns
            continue
        lead = (2 << level) - 1 | ~alone
        groups = 0 if node.runs else within(work, d, work.clock[c].now[d], lead, True)
        for r in range(node.run, node.run + node.runs):
            groups += dim.run[r].count * within(work, d, dim.run[r].node, lead, True)
        found *= groups
    return found


@part
def lane_rows(work: Work, c: int, j: int) -> int:
    """Rows times columns that MACs touch, summed over their steps along windows."""
    found = 1
    for pair in range(PAIRS):
        if not work.nest.windows[pair].live:
            continue
        y, t = output_dim(pair), tap_dim(pair)
        y_node, t_node = work.clock[c].now[y], work.clock[c].now[t]
        asked, rows = work.port[j].lanes[pair], 0
        for i in range(max(work.dim[y].node[y_node].runs, 1)):
            y_move, y_count = lane_move(work, y, y_node, i)
            for k in range(max(work.dim[t].node[t_node].runs, 1)):
                t_move, t_count = lane_move(work, t, t_node, k)
                rows += y_count * t_count * known_rows(work, y_move, t_move, asked)
        found *= rows
    return found


@part
def lane_move(work: Work, d: int, v: int, place: int) -> tuple[int, int]:
    """A run of the MACs' steps inside a node: the move that is none there, and how many steps."""
    dim = address(work.dim[d])
    node = address(dim.node[v])
    if node.runs == 0:
        return node.stay, 1
    run = address(dim.run[node.run + place])
    return dim.node[run.node].stay, run.count
