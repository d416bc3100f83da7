"""Latency step by step: the longest of what is inside a step and of each port around it.

Steps of a level that are alike in every dimension, and follow on like ones, are a class; each
class is looked at once, and how many steps it has is counted. What happens inside a step but for
the first step inside it depends on the step's tiles alone, so it is worked out once (`rest_of`);
the first one follows the move that led there. All cycles and bits are worked out twice: for steps
whose partial sums do not come back at first, and for those where they do.
"""

from __future__ import annotations

from common import address, part
from cost_models.exact.records import (
    DIMS,
    FIRST,
    MEMO,
    NODE_BITS,
    OUTPUT,
    PAIRS,
    ROWS,
    STATES_A_WORD,
    Span,
    Work,
)
from cost_models.exact.rows import asked_rows
from cost_models.exact.states import inside, is_coupled
from cost_models.exact.step_traffic import add_lanes, add_moves, compute_cycles, port_cycles


@part
def stepwise(work: Work) -> None:
    """Fill in the latency of a nest, what binds it, and how long each port is busy."""
    counts = address(work.counts)
    for c in range(work.clocks + 1):
        work.memos[c] = 0
        for d in range(DIMS):
            # the root, and the move that is none: what dimensions without cuts keep
            work.clock[c].now[d], work.clock[c].move[d] = 0, 0
    scope = FIRST if work.nest.whole_tiles else FIRST | ROWS
    for j in range(work.ports):
        for pair in range(PAIRS):
            work.port[j].rows[pair] = asked_rows(work, pair, scope, work.port[j].level)
    rest = rest_of(work, 1)
    descend(work, 0)
    step(work, 1, True, 0, 1)
    first = address(work.span[1])
    counts.latency = first.time[0] + rest.time[0]
    by_ports = 0
    for j in range(work.ports):
        port = address(work.port[j])
        begun, _ = port_cycles(port, port.first, 0)
        counts.latency += begun
        passed = address(counts.port[port.level])
        passed.busy_in = begun + first.busy_in[j][0] + rest.busy_in[j][0]
        passed.busy_out = first.busy_out[j][0] + rest.busy_out[j][0]
        passed.bind_in = begun + first.bind_in[j][0] + rest.bind_in[j][0]
        passed.bind_out = first.bind_out[j][0] + rest.bind_out[j][0]
        by_ports += passed.bind_in + passed.bind_out
    counts.bind_compute = counts.latency - by_ports


@part
def descend(work: Work, c: int) -> None:
    """Find the move and the tiles of the first step inside a step."""
    outer, inner = address(work.clock[c]), address(work.clock[c + 1])
    inner.moved = 0
    for place in range(work.dims):
        d = work.cut_dim[place]
        dim = address(work.dim[d])
        number = outer.move[d]
        for k in range(dim.cuts_at[outer.level], dim.cuts_at[inner.level]):
            number = inside(work, d, k, number)
        inner.move[d] = number
        inner.now[d] = dim.move[number].new
        if dim.move[number].shift != 0:
            inner.moved |= 1 << d


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
    span.again = 0
    for j in range(clock.first, clock.outer):
        for again in range(2):
            span.into[j][again], span.out[j][again] = 0, 0
    clock.low, clock.high = low, high
    add_moves(work, c, initial)
    if c == work.clocks:
        if work.deepest > work.nest.depth:
            add_lanes(work, c)
        span.time[0] = compute_cycles(work, c)
        span.time[1] = span.time[0]
        if span.again == 0:
            clock.low, clock.high = 0, 1
        clear_cycles(work, c, clock.first, work.ports)
    else:
        rest = rest_of(work, c + 1)
        descend(work, c)
        step(work, c + 1, initial, low, high)
        join(work, c, rest)
    for again in range(clock.low, clock.high):
        limit(work, c, again)


@part
def clear_cycles(work: Work, c: int, first: int, end: int) -> None:
    """Let ports `first` to `end` be neither busy in a step nor bind it."""
    span = address(work.span[c])
    for j in range(first, end):
        for again in range(2):
            span.busy_in[j][again], span.busy_out[j][again] = 0, 0
            span.bind_in[j][again], span.bind_out[j][again] = 0, 0


@part
def join(work: Work, c: int, rest: Span) -> None:
    """Let a step take as long as the first step inside it and the rest of them together."""
    clock, inner = address(work.clock[c]), address(work.clock[c + 1])
    span, first = address(work.span[c]), address(work.span[c + 1])
    if first.again or rest.again:
        span.again = 1
    if span.again == 0:
        clock.low, clock.high = 0, 1
    clear_cycles(work, c, clock.first, inner.first)
    for again in range(clock.low, clock.high):
        i = again if first.again else 0
        k = again if rest.again else 0
        span.time[again] = first.time[i] + rest.time[k]
        for j in range(inner.first, work.ports):
            if j < clock.outer:
                span.into[j][again] += first.into[j][i] + rest.into[j][k]
                span.out[j][again] += first.out[j][i] + rest.out[j][k]
            span.busy_in[j][again] = first.busy_in[j][i] + rest.busy_in[j][k]
            span.busy_out[j][again] = first.busy_out[j][i] + rest.busy_out[j][k]
            span.bind_in[j][again] = first.bind_in[j][i] + rest.bind_in[j][k]
            span.bind_out[j][again] = first.bind_out[j][i] + rest.bind_out[j][k]


@part
def add_class(work: Work, c: int, times: int, first: int) -> None:
    """Add steps that are alike; `first` of them have no partial sums back if those around have not.

    Args:
        work: The work space.
        c: The level that they are steps of.
        times: How many.
        first: How many of them have all counters of reduced dimensions at 0.
    """
    step(work, c, False, 0 if first else 1, 1 if c == 1 and first == times else 2)
    total = address(work.memo[c][work.clock[c].slot])
    if work.span[c].again == 0:
        add_case(work, c, times, 0, 0)
        if total.again:
            add_case(work, c, times, 0, 1)
        return
    # around the outermost steps there are none, so that nobody asks for their second case
    if c > 1:
        if total.again == 0:
            total.again = 1
            copy_case(work, c, total)
        add_case(work, c, times, 1, 1)
    if first > 0:
        add_case(work, c, first, 0, 0)
    if first < times:
        add_case(work, c, times - first, 1, 0)


@part
def copy_case(work: Work, c: int, total: Span) -> None:
    """Begin the second case of a sum of steps with what the first has: so far they were alike."""
    total.time[1] = total.time[0]
    for j in range(work.clock[c].first, work.ports):
        total.into[j][1], total.out[j][1] = total.into[j][0], total.out[j][0]
        total.busy_in[j][1], total.busy_out[j][1] = total.busy_in[j][0], total.busy_out[j][0]
        total.bind_in[j][1], total.bind_out[j][1] = total.bind_in[j][0], total.bind_out[j][0]


@part
def add_case(work: Work, c: int, times: int, case: int, to: int) -> None:
    """Add one of the two cases of a step, so many times, to one of those of the steps together."""
    clock, span = address(work.clock[c]), address(work.span[c])
    total = address(work.memo[c][clock.slot])
    total.time[to] += times * span.time[case]
    for j in range(clock.first, work.ports):
        if j < clock.outer:
            total.into[j][to] += times * span.into[j][case]
            total.out[j][to] += times * span.out[j][case]
        total.busy_in[j][to] += times * span.busy_in[j][case]
        total.busy_out[j][to] += times * span.busy_out[j][case]
        total.bind_in[j][to] += times * span.bind_in[j][case]
        total.bind_out[j][to] += times * span.bind_out[j][case]


@part
def limit(work: Work, c: int, again: int) -> None:
    """Let a step take as long as the ports around it need; the first of equals binds it."""
    clock, span = address(work.clock[c]), address(work.span[c])
    time, binds, outwards = span.time[again], -1, False
    for j in range(clock.outer - 1, clock.first - 1, -1):
        if not clock.through[j]:
            continue
        port = address(work.port[j])
        into, out = port_cycles(port, span.into[j][again], span.out[j][again])
        if port.meter == c:
            span.busy_in[j][again] += into
            span.busy_out[j][again] += out
        if into > time:
            time, binds, outwards = into, j, False
        if out > time:
            time, binds, outwards = out, j, True
    if binds < 0:
        return
    span.time[again] = time
    for j in range(clock.first, work.ports):
        span.bind_in[j][again], span.bind_out[j][again] = 0, 0
    if outwards:
        span.bind_out[binds][again] = time
    else:
        span.bind_in[binds][again] = time


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
        known.time[0] = 0
        for j in range(work.clock[c].first, work.ports):
            known.into[j][0], known.out[j][0] = 0, 0
            known.busy_in[j][0], known.busy_out[j][0] = 0, 0
            known.bind_in[j][0], known.bind_out[j][0] = 0, 0
        add_classes(work, c, slot)
    return known


@part
def add_classes(work: Work, c: int, slot: int) -> None:
    """Add all classes of steps of a level inside one step around it, into the `memo`."""
    outer, clock = address(work.clock[c - 1]), address(work.clock[c])
    spec = address(work.nest.levels[clock.level])
    clock.slot, clock.loops = slot, 0
    for place in range(work.dims):
        d = work.cut_dim[place]
        dim = address(work.dim[d])
        number = dim.node[outer.now[d]].stay
        for k in range(dim.cuts_at[outer.level], dim.cuts_at[clock.level]):
            clock.here[d] = dim.move[number].new
            number = inside(work, d, k, number)
        clock.move[d] = number
        clock.now[d] = dim.move[number].new
    for place in range(DIMS):
        d = spec.order[place]
        dim = address(work.dim[d])
        cut = dim.cuts_at[clock.level] - 1
        if cut >= 0 and dim.cut[cut].level == clock.level:
            node = address(dim.node[clock.here[d]])
            if node.runs > 1 or dim.run[node.run].count > 1:
                clock.loop[clock.loops] = d
                clock.loops += 1
    clock.moved = 0
    for number in range(clock.loops):
        clock.moved |= 1 << clock.loop[number]
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
