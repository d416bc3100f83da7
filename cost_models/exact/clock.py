"""Latency step by step: the longest of what is inside a step and of each port around it.

Steps of a level that are alike in every dimension, and follow on like ones, are a class; each
class is looked at once, and how many steps it has is counted. What happens inside a step but for
the first step inside it depends on the step's tiles alone, so it is worked out once (`rest_of`);
the first one follows the move that led there. All cycles and bits are worked out twice: for steps
whose partial sums do not come back at first, and for those where they do.
"""

from __future__ import annotations

from cost_models.exact.records import (
    DIMS,
    FIRST,
    MEMO,
    NODE_BITS,
    OUTPUT,
    PAIRS,
    ROWS,
    STATES_A_WORD,
    Case,
    Passed,
    Span,
    Work,
)
from cost_models.exact.rows import asked_rows
from cost_models.exact.states import inside, is_coupled
from cost_models.exact.step_traffic import add_lanes, add_moves, compute_cycles, port_cycles
from marl_common import address, part


@part
def stepwise(work: Work) -> None:
    """Fill in the latency of a nest, what binds it, and how long each port is busy."""
    counts = address(work.counts)
    for c in range(work.clocks + 1):
        work.memos[c], work.clock[c].fresh = 0, 1
        for number in range(work.loops_to[work.clock[c - 1].level] if c else 0):
            if not is_coupled(work, OUTPUT, work.loop[number].dim):
                work.clock[c].fresh = 0
        for d in range(DIMS):
            # the root, and the move that is none: what dimensions without cuts keep
            work.clock[c].now[d], work.clock[c].move[d] = 0, 0
    scope = FIRST if work.nest.whole_tiles else FIRST | ROWS
    for j in range(work.ports):
        for pair in range(PAIRS):
            port = address(work.port[j])
            port.rows[pair] = asked_rows(work, pair, scope, port.level)
            port.lanes[pair] = asked_rows(work, pair, scope | work.padding, port.level)
    by_ports = spare_cycles(work)
    if work.ports == 0:
        counts.latency = counts.compute + by_ports
        counts.bind_compute = counts.compute
        return
    rest = rest_of(work, 1)
    descend(work, 0, False)
    step(work, 1, True, 0, 1)
    first, more = address(work.span[1].cases[0]), address(rest.cases[0])
    counts.latency = first.time + more.time + by_ports
    for j in range(work.clock[1].first, work.ports):
        port = address(work.port[j])
        begun, _ = port_cycles(port, port.begun, 0)
        counts.latency += begun
        passed = address(counts.port[port.level])
        add_passed(passed, address(first.port[j]), 1, False)
        add_passed(passed, address(more.port[j]), 1, False)
        passed.busy_in += begun
        passed.bind_in += begun
        by_ports += passed.bind_in + passed.bind_out
    counts.bind_compute = counts.latency - by_ports


@part
def spare_cycles(work: Work) -> int:
    """Fill in the cycles of spare ports, and sum them: one each for first tiles, if there are."""
    nest = address(work.nest)
    found = 0
    for level in range(nest.depth):
        if not nest.levels[level].spare or nest.levels[level + 1].joined:
            continue
        used = 0
        for inner in range(level + 1, nest.depth + 1):
            for tensor in range(OUTPUT):
                keeps = (nest.levels[inner].keeps >> tensor) & 1
                if keeps and work.keeper[tensor][inner] <= level:
                    used = 1
        work.counts.port[level].busy_in, work.counts.port[level].bind_in = used, used
        found += used
    return found


@part
def descend(work: Work, c: int, stays: bool) -> None:
    """Find the move and the tiles of the first step inside a step, or inside one that `stays`."""
    outer, inner = address(work.clock[c]), address(work.clock[c + 1])
    inner.moved = 0
    for place in range(work.dims):
        d = work.cut_dim[place]
        dim = address(work.dim[d])
        number = dim.node[outer.now[d]].stay if stays else outer.move[d]
        for k in range(dim.cuts_at[outer.level], dim.cuts_at[inner.level]):
            inner.here[d] = dim.move[number].new
            number = inside(work, d, k, number)
        inner.move[d] = number
        inner.now[d] = dim.move[number].new
        inner.moved |= (dim.move[number].shift != 0) << d


@part
def step(work: Work, c: int, initial: bool, low: int, high: int) -> None:
    """Fill in the `span` of one step of a level, whose moves and tiles are at hand.

    Args:
        work: The work space.
        c: The level.
        initial: Whether it is the first of all steps.
        low: The first of the two cases that is asked for, where they differ.
        high: The one behind the last.
    """
    clock, span = address(work.clock[c]), address(work.span[c])
    if initial:
        clock.moved = -1
    clock.low, clock.high, span.again = low, high, 0
    for again in range(2):
        clear_case(work, address(span.cases[again]), clock.first)
    add_moves(work, c, initial)
    if c < work.clocks:
        rest = rest_of(work, c + 1)
        descend(work, c, False)
        step(work, c + 1, initial, low, high)
        join(work, c, rest)
    else:
        if work.deepest > work.nest.depth:
            add_lanes(work, c)
        if span.again == 0:
            clock.low, clock.high = 0, 1
        cycles = compute_cycles(work, c)
        span.cases[0].time, span.cases[1].time = cycles, cycles
    for again in range(clock.low, clock.high):
        limit(work, c, address(span.cases[again]))


@part
def clear_case(work: Work, case: Case, first: int) -> None:
    """Begin with no time, in which nothing passes the ports from `first` on."""
    case.time = 0
    for j in range(first, work.ports):
        case.port[j] = work.nothing.port[0]


@part
def add_case(work: Work, c: int, total: Case, case: Case, times: int) -> None:
    """Add a case of a step to one of others, so many times; bits only of ports outside a level."""
    outer = work.clock[c - 1].outer
    total.time += times * case.time
    for j in range(work.clock[c].first, work.ports):
        add_passed(address(total.port[j]), address(case.port[j]), times, j < outer)


@part
def add_passed(passed: Passed, more: Passed, times: int, bits: bool) -> None:
    """Add cycles of a port, and bits where they are asked for."""
    if bits:
        passed.into += times * more.into
        passed.out += times * more.out
    passed.busy_in += times * more.busy_in
    passed.busy_out += times * more.busy_out
    passed.bind_in += times * more.bind_in
    passed.bind_out += times * more.bind_out


@part
def join(work: Work, c: int, rest: Span) -> None:
    """Let a step take as long as the first step inside it and the rest of them together."""
    clock, span, first = address(work.clock[c]), address(work.span[c]), address(work.span[c + 1])
    if first.again or rest.again:
        span.again = 1
    if span.again == 0:
        clock.low, clock.high = 0, 1
    for again in range(clock.low, clock.high):
        case = address(span.cases[again])
        inner = address(first.cases[again & first.again])
        others = address(rest.cases[again & rest.again])
        case.time = inner.time + others.time
        for j in range(work.clock[c + 1].first, work.ports):
            bits = j < clock.outer
            add_passed(address(case.port[j]), address(inner.port[j]), 1, bits)
            add_passed(address(case.port[j]), address(others.port[j]), 1, bits)


@part
def add_class(work: Work, c: int, times: int, first: int) -> None:
    """Add steps that are alike; `first` of them have no partial sums back if those around have not.

    Args:
        work: The work space.
        c: The level that they are steps of.
        times: How many.
        first: How many of them have all counters of reduced dimensions at 0.
    """
    clock = address(work.clock[c])
    step(work, c, False, 0 if first else 1, 1 if clock.fresh and first == times else 2)
    total, span = address(work.memo[c][clock.slot]), address(work.span[c])
    if span.again == 0:
        for again in range(1 + total.again):
            add_case(work, c, address(total.cases[again]), address(span.cases[0]), times)
        return
    if clock.fresh == 0:
        if total.again == 0:
            # so far both were alike
            total.again = 1
            clear_case(work, address(total.cases[1]), clock.first)
            add_case(work, c, address(total.cases[1]), address(total.cases[0]), 1)
        add_case(work, c, address(total.cases[1]), address(span.cases[1]), times)
    if first > 0:
        add_case(work, c, address(total.cases[0]), address(span.cases[0]), first)
    if first < times:
        add_case(work, c, address(total.cases[0]), address(span.cases[1]), times - first)


@part
def limit(work: Work, c: int, case: Case) -> None:
    """Let a step take as long as the ports around it need; the first of equals binds it."""
    clock = address(work.clock[c])
    binds, outwards = -1, False
    for j in range(clock.outer - 1, clock.first - 1, -1):
        if not clock.through[j]:
            continue
        port, passed = address(work.port[j]), address(case.port[j])
        into, out = port_cycles(port, passed.into, passed.out)
        if port.meter == c:
            passed.busy_in += into
            passed.busy_out += out
        if into > case.time:
            case.time, binds, outwards = into, j, False
        if out > case.time:
            case.time, binds, outwards = out, j, True
    if binds < 0:
        return
    for j in range(clock.first, work.ports):
        case.port[j].bind_in, case.port[j].bind_out = 0, 0
    if outwards:
        case.port[binds].bind_out = case.time
    else:
        case.port[binds].bind_in = case.time


@part
def rest_of(work: Work, c: int) -> Span:
    """All steps of a level inside one step around it, but the first; they may be known."""
    outer = address(work.clock[c - 1])
    low, high = 0, 0
    for place in range(work.dims):
        node = outer.now[work.cut_dim[place]]
        if place < STATES_A_WORD:
            low = low << NODE_BITS | node
        else:
            high = high << NODE_BITS | node
    place = (low + (low >> 9) + (low >> 19) + high) & (MEMO - 1)
    slot = work.memo_at[c][place] - work.stamp * MEMO
    known = address(work.memo[c][max(slot, 0)])
    if slot < 0 or known.low != low or known.high != high:
        if slot < 0:
            slot = work.memos[c]
            work.memos[c] += 1
            work.memo_at[c][place] = work.stamp * MEMO + slot
            known = address(work.memo[c][slot])
        known.low, known.high, known.again = low, high, 0
        clear_case(work, address(known.cases[0]), work.clock[c].first)
        add_classes(work, c, slot)
    return known


@part
def add_classes(work: Work, c: int, slot: int) -> None:
    """Add all classes of steps of a level inside one step around it, into the `memo`."""
    clock = address(work.clock[c])
    spec = address(work.nest.levels[clock.level])
    clock.slot, clock.loops = slot, 0
    descend(work, c - 1, True)
    for place in range(DIMS):
        d = spec.order[place]
        if (clock.moved >> d) & 1:
            clock.loop[clock.loops] = d
            clock.loops += 1
    for number in range(clock.loops):
        walk(work, c, 0, number, 1, 1)
        clock.moved &= ~(1 << clock.loop[number])


@part
def walk(work: Work, c: int, place: int, number: int, times: int, first: int) -> None:
    """Add the classes in which loop `number` advances, from loop `place` inwards.

    Args:
        work: The work space; loops inside `number` are at their first counters.
        c: The level.
        place: The loop that is looked at.
        number: The loop that advances.
        times: Steps of the loops outside `place`.
        first: Those of them with all counters of reduced dimensions at 0.
    """
    clock = address(work.clock[c])
    d = clock.loop[place]
    dim = address(work.dim[d])
    node = address(dim.node[clock.here[d]])
    reduced = not is_coupled(work, OUTPUT, d)
    for r in range(node.run, node.run + node.runs):
        run = address(dim.run[r])
        clock.now[d] = run.node
        if place < number:
            clock.move[d] = dim.node[run.node].stay
            fresh = first * run.count
            if reduced:
                fresh = first if run.at == 0 else 0
            walk(work, c, place + 1, number, times * run.count, fresh)
            continue
        entered = 0
        if run.enter >= 0:
            entered = 1 if dim.windowed else run.count - (1 if run.at == 0 else 0)
            clock.move[d] = run.enter
            add_class(work, c, times * entered, 0 if reduced else first * entered)
        if run.within >= 0:
            more = run.count - 1
            clock.move[d] = run.within
            add_class(work, c, times * more, 0 if reduced else first * more)
