"""From the least traffic of a box to a bound of its objective."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    BANDWIDTH,
    BITS,
    COUPLED,
    DRAM_IN,
    DRAM_OUT,
    FILTER,
    IN,
    LIMIT,
    OUT,
    PAST,
    POWER,
    Floats,
    Ints,
)
from cost_models.exact.bounds.box_capacity import may_hold
from cost_models.exact.bounds.box_clock import (
    COMPUTE,
    FILL,
    LOADED,
    arriving_bits,
    dram_cycles,
    dram_loads,
    leaving_bits,
    noc_cycles,
    past_first,
)
from cost_models.exact.bounds.box_fields import RAGGED
from cost_models.exact.bounds.box_phases import inner_phases, may_iterate, outer_phases
from cost_models.exact.bounds.box_prices import SCALE
from cost_models.exact.bounds.box_rounding import rounding
from cost_models.exact.bounds.box_traffic import (
    EVERYTHING,
    KEPT,
    KEPT_PE,
    NOTHING,
    ONCE_PE,
    PSUMS,
    SERVED,
    SLIDING,
    STREAM,
    STREAM_PE,
    TAP_LOOPS,
    TAPS,
    channels_iterate,
    loops_beside,
    reductions,
)
from cost_models.exact.bounds.price_tables import BASE, DRAM, LEAKAGE, NOC, PE


@shared_function
def objective(facts: Floats, flags: Ints, latency: float, energy: float, prices: Floats) -> float:
    """The objective of a latency and of an energy but leakage; inf where they break a limit."""
    cycles = math.ceil(latency - 1e-6)
    energy += cycles * prices[LEAKAGE]
    if cycles > facts[LIMIT] or energy > facts[LIMIT + 1] * (1 + 1e-12):
        return math.inf
    value = prices[SCALE]
    for _ in range(flags[POWER]):
        value *= cycles
    for _ in range(flags[POWER + 1]):
        value *= energy
    return value


@shared_function
def ragged_of(flags: Ints, loops: int, work: Floats) -> float:
    """Largest share of ragged last steps among some loops."""
    most = 0.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (loops >> d) & 1:
            most = max(most, work[RAGGED, d])
    return most


@shared_function
def held_share(facts: Floats, flags: Ints, mask: int, still: int, work: Floats) -> float:
    """Largest share of a tensor that PEs may hold over outer steps, because no loop moves it."""
    least = 1.0
    most = 0.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (mask >> d) & 1:
            if not (still >> d) & 1:
                least = min(least, work[RAGGED, d])
            most = max(most, work[RAGGED, d])
    if least == 0.0:
        return 0.0
    if least == 1.0:
        if may_hold(facts, flags, mask, False, work):
            return 1.0
        least = most
    if least > 0.0 and may_hold(facts, flags, mask, True, work):
        return least
    return 0.0


@shared_function
def window_flow(
    held: float, ragged: float, least: float, once: float, served: float, flows: Floats
) -> tuple[float, float]:
    """`noc_flow` of the input where taps pass: it may stay otherwise, or its window move on."""
    noc = min(
        (1 - held) * flows[KEPT, IN] + held * least,
        (1 - ragged) * flows[STREAM, SLIDING] + ragged * least,
    )
    pe = min(
        (1 - held) * flows[KEPT_PE, IN] + held * once,
        (1 - ragged) * flows[STREAM_PE, SLIDING] + ragged * once,
    )
    noc = max(noc, served)
    return noc, max(pe, noc, once)


@shared_function
def noc_flow(
    tensor: int,
    stays: int,
    kept: int,
    ragged: float,
    held: float,
    window: float,
    least: float,
    flows: Floats,
) -> tuple[float, float]:
    """Least elements of a tensor over the NoC and into PEs.

    Args:
        tensor: The tensor.
        stays: The tensor that stays in the PEs.
        kept: The tensor that stays in L2.
        ragged: Share of steps in which another loop may be innermost.
        held: Share of the tensor that PEs may hold over outer steps.
        window: The same of the input, while taps pass.
        least: What crosses DRAM's boundary; no less crosses the NoC.
        flows: Flows of the box.
    """
    once = max(least, flows[ONCE_PE, tensor])
    served = max(least, flows[SERVED, tensor])
    if stays == EVERYTHING:
        # PEs hold tiles as long as L2 does: where they move, they move in every outer step
        column = SLIDING if tensor == IN and kept in (IN, FILTER, TAPS) else tensor
        if tensor == kept or (kept == TAPS and tensor != FILTER):
            return served, max(once, flows[ONCE_PE, column])
        return max(served, flows[STREAM, column]), max(once, flows[STREAM_PE, column])
    if stays == TAPS and tensor == IN:
        return window_flow(window, ragged, least, once, served, flows)
    if tensor == stays or (stays == TAPS and tensor == OUT):
        column = PSUMS if stays == TAPS else tensor
        noc = (1 - held) * flows[KEPT, column] + held * least
        pe = (1 - held) * flows[KEPT_PE, column] + held * once
        return max(noc, served), max(pe, once)
    column = SLIDING if tensor == IN and stays == FILTER else tensor
    noc = max((1 - ragged) * flows[STREAM, column] + ragged * least, served)
    return noc, max((1 - ragged) * flows[STREAM_PE, column] + ragged * once, noc, once)


@shared_function
def all_held(facts: Floats, flags: Ints, still: int, work: Floats) -> bool:
    """Whether PEs may hold all of a cluster's tile, so that no inner loop iterates."""
    everything = 0
    for i in range(flags[ACTIVE]):
        everything |= 1 << flags[ACTIVE + 1 + i]
    return still & everything == everything and may_hold(facts, flags, everything, False, work)


@shared_function
def fill_outer(
    facts: Floats,
    flags: Ints,
    dram: Floats,
    clock: Floats,
    work: Floats,
    rows: Floats,
    traffic: Floats,
    outer: Floats,
    prices: Floats,
) -> None:
    """``outer[stays]``: cycles, energy and loads by what stays in L2; cycles inf where nothing can.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        dram: Least traffic of DRAM.
        clock: Least cycles.
        work: Work table.
        rows: Input rows and columns.
        traffic: Work array, ``(3,)``.
        outer: Gets the figures, ``(5, 3)``.
        prices: Prices of the box.
    """
    any_loop = False
    for stays in range(5):
        outer[stays, 0] = math.inf
        passing = stays == TAPS and channels_iterate(flags, work)
        if passing and not may_iterate(facts, flags, flags[COUPLED + OUT], work):
            continue
        if may_iterate(facts, flags, loops_beside(flags, stays), work) or (
            stays == NOTHING and not any_loop
        ):
            any_loop = True
            rounded = rounding(facts, flags, stays, work)
            outer[stays, 0] = dram_cycles(facts, flags, dram, stays, rounded, clock)
            if stays < TAPS:
                phases = outer_phases(facts, flags, stays, dram, clock, work, rows, traffic)
                outer[stays, 0] = max(outer[stays, 0], phases)
            outer[stays, 2] = dram_loads(facts, flags, dram, stays)
            outer[stays, 1] = prices[BASE]
            for tensor in range(3):
                crossing = past_first(facts, tensor, dram[stays, tensor])
                outer[stays, 1] += prices[DRAM + tensor] * crossing


@shared_function
def bound_staying(
    facts: Floats,
    flags: Ints,
    stays: int,
    ragged: float,
    held: float,
    window: float,
    least_cycles: float,
    dram: Floats,
    flows: Floats,
    clock: Floats,
    outer: Floats,
    prices: Floats,
) -> float:
    """Bound where one tensor stays in the PEs: the least over what stays in L2.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        stays: The tensor, `TAPS`, `NOTHING`, or `EVERYTHING`.
        ragged: Share of steps in which another loop may be innermost.
        held: Share of the tensor that PEs may hold over outer steps.
        window: The same of the input, while taps pass.
        least_cycles: Cycles that compute and NoC take at least.
        dram: Least traffic of DRAM.
        flows: Least traffic of the NoC.
        clock: Least cycles.
        outer: Cycles and energy by what stays in L2, and bits that it loads.
        prices: Prices of the box.
    """
    best = math.inf
    for kept in range(5):
        if outer[kept, 0] == math.inf:
            continue
        energy = outer[kept, 1]
        arriving = 0.0
        leaving = 0.0
        past = 0.0
        for tensor in range(3):
            least = dram[kept, tensor]
            noc, pe = noc_flow(tensor, stays, kept, ragged, held, window, least, flows)
            energy += prices[NOC + tensor] * past_first(facts, tensor, noc)
            energy += prices[PE + tensor] * pe
            bits = arriving_bits(facts, tensor, noc)
            arriving += bits
            if (flags[PAST] >> tensor) & 1:
                past += bits
            leaving = noc  # the output comes last
        noc_out = leaving * facts[BITS + OUT]
        cycles = max(least_cycles, outer[kept, 0], noc_cycles(facts, arriving, noc_out, clock))
        if flags[PAST]:
            past += outer[kept, 2] - clock[LOADED]
            cycles = max(cycles, past / facts[BANDWIDTH + DRAM_IN])
            if (flags[PAST] >> OUT) & 1:
                written = leaving_bits(facts, leaving)
                cycles = max(cycles, written / facts[BANDWIDTH + DRAM_OUT])
        best = min(best, objective(facts, flags, clock[FILL] + cycles, energy, prices))
    return best


@shared_function
def bound_value(
    facts: Floats,
    flags: Ints,
    still: int,
    moves: int,
    taps: bool,
    dram: Floats,
    flows: Floats,
    clock: Floats,
    work: Floats,
    rows: Floats,
    traffic: Floats,
    outer: Floats,
    prices: Floats,
) -> float:
    """Bound of a box: the least over what stays in L2 and in the PEs.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        still: Dimensions whose inner loop may be still throughout, as bits.
        moves: Dimensions whose inner loop may iterate.
        taps: Whether loops over taps may iterate while buffers keep what they hold.
        dram: Least traffic of DRAM.
        flows: Least traffic of the NoC.
        clock: Least cycles.
        work: Work table.
        rows: Input rows and columns.
        traffic: Work array, ``(3,)``.
        outer: Cycles and energy by what stays in L2.
        prices: Prices of the box.
    """
    best = math.inf
    if all_held(facts, flags, still, work):
        best = bound_staying(
            facts, flags, EVERYTHING, 0.0, 0.0, 0.0, clock[COMPUTE],
            dram, flows, clock, outer, prices,
        )  # fmt: skip
    for stays in range(5):
        loops = moves & loops_beside(flags, stays)
        if loops == 0:
            continue
        held = 0.0
        window = 0.0
        cycles = clock[COMPUTE]
        ragged = ragged_of(flags, loops, work)
        if stays == TAPS:
            reduced = reductions(flags, still)
            if reduced > 0 and moves & flags[COUPLED + OUT] == 0:
                continue
            held = ragged_of(flags, reduced, work)
            if reduced == 0:
                held = held_share(facts, flags, flags[COUPLED + OUT], still, work)
            mask = flags[COUPLED + IN] & ~TAP_LOOPS
            window = held_share(facts, flags, mask, still, work)
        elif stays != NOTHING:
            mask = flags[COUPLED + stays]
            if taps and stays == IN:
                mask &= ~TAP_LOOPS
            held = held_share(facts, flags, mask, still, work)
            if ragged == 0.0 and held == 0.0:
                phases = inner_phases(facts, flags, stays, clock, flows, work, rows, traffic)
                cycles = max(cycles, phases)
        value = bound_staying(
            facts, flags, stays, ragged, held, window, cycles, dram, flows, clock, outer, prices
        )
        best = min(best, value)
    return best
