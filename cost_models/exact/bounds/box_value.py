"""From the least traffic of a box to a bound of its objective."""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    EVERYTHING,
    FILTER,
    IN,
    INNER,
    NOTHING,
    OUT,
    OUTER,
    PSUMS,
    TAP_LOOPS,
    TAPS,
    TENSORS,
    WAYS,
    WINDOW,
    Box,
    Price,
)
from cost_models.exact.bounds.box_sizes import may_hold, need
from cost_models.exact.bounds.box_time import (
    arriving_bits,
    dram_cycles,
    dram_loads,
    leaving_bits,
    past_first,
    phases,
)
from cost_models.exact.bounds.box_traffic import (
    iterates,
    loops_beside,
    may_iterate,
    reductions,
)
from marl_common import address, part


@part
def fill_prices(box: Box, prices: Price) -> None:
    """Fill the prices of a box; its smallest tiles decide what the buffers must hold at least.

    Args:
        box: The box.
        prices: By bypass, level and what the buffer holds: what they are above the fixed ones.
    """
    problem, price = address(box.problem), address(box.price)
    box.price = problem.fixed
    for level in range(2):
        if problem.scale[level] > 0:
            place = int(math.log2(max(need(box, level), 1.0)) * problem.scale[level])
            row = (2 * box.bypass + level) * problem.sizes + min(place, problem.sizes - 1)
            more = address(prices[row])
            for tensor in range(TENSORS):
                price.dram[tensor] += more.dram[tensor]
                price.noc[tensor] += more.noc[tensor]
                price.pe[tensor] += more.pe[tensor]
            price.base += more.base
            price.leakage += more.leakage
            price.pe_leakage += more.pe_leakage
    price.leakage += box.pes * price.pe_leakage
    box.scale = 1.0
    if problem.power[2] > 0:
        area = box.area + problem.area[OUTER] * need(box, OUTER)
        area += problem.area[INNER] * box.pes * need(box, INNER)
        for _ in range(problem.power[2]):
            box.scale *= area


@part
def objective(box: Box, latency: float, energy: float) -> float:
    """The objective of a latency and of an energy but leakage; inf where they break a limit."""
    problem, cycles = address(box.problem), math.ceil(latency - 1e-6)
    energy += cycles * box.price.leakage
    if cycles > problem.most_cycles or energy > problem.most_energy * (1 + 1e-12):
        return math.inf
    value = box.scale
    for _ in range(problem.power[0]):
        value *= cycles
    for _ in range(problem.power[1]):
        value *= energy
    return value


@part
def ragged_of(box: Box, loops: int) -> float:
    """Largest share of ragged last steps among some loops."""
    most = 0.0
    for d in range(DIMS):
        if (loops >> d) & 1:
            most = max(most, box.dim[d].ragged)
    return most


@part
def held_share(box: Box, mask: int) -> float:
    """Largest share of a tensor that PEs may hold over outer steps, because no loop moves it."""
    least, most = 1.0, ragged_of(box, mask)
    for d in range(DIMS):
        if ((mask & ~box.still) >> d) & 1:
            least = min(least, box.dim[d].ragged)
    if least == 0.0:
        return 0.0
    if least == 1.0:
        if may_hold(box, mask, False):
            return 1.0
        least = most
    return least if least > 0.0 and may_hold(box, mask, True) else 0.0


@part
def blend(share: float, most: float, least: float) -> float:
    """A figure of which a share is `least`."""
    return (1 - share) * most + share * least


@part
def window_flow(box: Box, least: float, once: float, served: float) -> tuple[float, float]:
    """`noc_flow` of the input where taps iterate: it may stay otherwise, or its window move on."""
    flow, moving = address(box.flow[IN]), address(box.flow[WINDOW])
    held, ragged = box.inner.window, box.inner.ragged
    noc = min(blend(held, flow.kept, least), blend(ragged, moving.each, least))
    pe = min(blend(held, flow.kept_pe, once), blend(ragged, moving.each_pe, once))
    noc = max(noc, served)
    return noc, max(pe, noc, once)


@part
def noc_flow(box: Box, tensor: int, kept: int) -> tuple[float, float]:
    """Least elements of a tensor over the NoC and into PEs, where another stays in L2.

    What crosses DRAM's boundary crosses the NoC too.
    """
    stays, held, ragged = box.inner.stays, box.inner.held, box.inner.ragged
    flow, least = address(box.flow[tensor]), box.dram[kept][tensor]
    once, served = max(least, flow.once_pe), max(least, flow.served)
    if stays == EVERYTHING:
        # PEs hold tiles as long as L2 does: where they move, they move in every outer step
        if tensor == IN and kept != OUT and kept != NOTHING:
            flow = address(box.flow[WINDOW])
        if tensor == kept or (kept == TAPS and tensor != FILTER):
            return served, max(once, flow.once_pe)
        return max(served, flow.each), max(once, flow.each_pe)
    if stays == TAPS and tensor == IN:
        return window_flow(box, least, once, served)
    if tensor == stays or (stays == TAPS and tensor == OUT):
        flow = address(box.flow[PSUMS if stays == TAPS else tensor])
        noc = max(blend(held, flow.kept, least), served)
        return noc, max(blend(held, flow.kept_pe, once), once)
    if tensor == IN and stays == FILTER:
        flow = address(box.flow[WINDOW])
    noc = max(blend(ragged, flow.each, least), served)
    return noc, max(blend(ragged, flow.each_pe, once), noc, once)


@part
def fill_ways(box: Box) -> None:
    """Cycles, energy and loads by what stays in L2."""
    any_loop = False
    for stays in range(WAYS):
        way = address(box.way[stays])
        way.cycles = math.inf
        outputs = box.problem.coupled[OUT]
        taps_iterate = stays == TAPS and iterates(box, outputs | TAP_LOOPS)
        if taps_iterate and not may_iterate(box, outputs):
            continue
        if not may_iterate(box, loops_beside(box, stays)) and (stays != NOTHING or any_loop):
            continue
        any_loop = True
        way.cycles = dram_cycles(box, stays)
        if stays < TENSORS:
            way.cycles = max(way.cycles, phases(box, OUTER, stays))
        way.loads = dram_loads(box, stays)
        way.energy = box.price.base
        for tensor in range(TENSORS):
            past = past_first(box, tensor, box.dram[stays][tensor])
            way.energy += box.price.dram[tensor] * past


@part
def bound_staying(box: Box) -> float:
    """Bound where `Box.inner` says what stays in the PEs: the least over what stays in L2."""
    problem, price, clock = address(box.problem), address(box.price), address(box.clock)
    best = math.inf
    for kept in range(WAYS):
        way = address(box.way[kept])
        if way.cycles == math.inf:
            continue
        energy, arriving, leaving, past = way.energy, 0.0, 0.0, 0.0
        for tensor in range(TENSORS):
            noc, pe = noc_flow(box, tensor, kept)
            energy += price.noc[tensor] * past_first(box, tensor, noc)
            energy += price.pe[tensor] * pe
            bits = arriving_bits(box, INNER, tensor, noc)
            arriving += bits
            if (problem.bypass_l2 >> tensor) & 1:
                past += bits
            leaving = noc  # the output comes last
        cycles = max(
            box.inner.cycles,
            way.cycles,
            (arriving - clock.fed) / problem.into[INNER],
            leaving_bits(box, INNER, leaving) / problem.out[INNER],
        )
        if problem.bypass_l2:
            cycles = max(cycles, (past + (way.loads - clock.loaded)) / problem.into[OUTER])
            if (problem.bypass_l2 >> OUT) & 1:
                cycles = max(cycles, leaving_bits(box, OUTER, leaving) / problem.out[OUTER])
        best = min(best, objective(box, clock.fill + cycles, energy))
    return best


@part
def set_staying(box: Box, stays: int, loops: int) -> bool:
    """Say in `Box.inner` what stays in the PEs where some loops may be innermost, if it may."""
    problem, inner = address(box.problem), address(box.inner)
    inner.stays, inner.cycles = stays, box.clock.compute
    inner.ragged, inner.held, inner.window = ragged_of(box, loops), 0.0, 0.0
    if stays == TAPS:
        reduced = reductions(box)
        if reduced > 0 and box.moves & problem.coupled[OUT] == 0:
            return False
        outputs = problem.coupled[OUT]
        inner.held = ragged_of(box, reduced) if reduced > 0 else held_share(box, outputs)
        inner.window = held_share(box, problem.coupled[IN] & ~TAP_LOOPS)
    elif stays < TENSORS:
        mask = problem.coupled[stays]
        if box.taps and stays == IN:
            mask &= ~TAP_LOOPS
        inner.held = held_share(box, mask)
        if inner.ragged == 0.0 and inner.held == 0.0:
            inner.cycles = max(inner.cycles, phases(box, INNER, stays))
    return True


@part
def bound_value(box: Box) -> float:
    """Bound of a box: the least over what stays in L2 and in the PEs."""
    best, every = math.inf, (1 << DIMS) - 1
    if box.still == every and may_hold(box, every, False):
        # PEs may hold all of a cluster's tile, so that no inner loop iterates
        set_staying(box, EVERYTHING, 0)
        best = bound_staying(box)
    for stays in range(WAYS):
        loops = box.moves & loops_beside(box, stays)
        if loops != 0 and set_staying(box, stays, loops):
            best = min(best, bound_staying(box))
    return best
