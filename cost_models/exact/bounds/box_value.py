"""From the least traffic of a box to a bound of its objective."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

from common.jit import inner_function
from cost_models.exact.bounds.bound_problem import (
    ACTIVE,
    BASE,
    COUPLED,
    DRAM,
    FILTER,
    IN,
    LIMIT,
    NOC,
    OUT,
    PE,
    POWER,
    PRICE,
    REPEATS,
    SCALE,
    SIZE,
    Floats,
    Ints,
)
from cost_models.exact.bounds.box_capacity import may_hold
from cost_models.exact.bounds.box_clock import COMPUTE, FILL, dram_cycles, noc_cycles
from cost_models.exact.bounds.box_fields import RAGGED
from cost_models.exact.bounds.box_traffic import KEPT, KEPT_PE, SLIDING, STREAM, STREAM_PE

NOTHING = 3
"""No tensor stays: the innermost loop is coupled to all."""


@inner_function
def objective(facts: Floats, flags: Ints, latency: float, energy: float) -> float:
    """The objective of a latency and an energy of one nest; inf where they break a limit."""
    cycles = math.ceil(latency - 1e-6) * facts[REPEATS]
    energy *= facts[REPEATS]
    if cycles > facts[LIMIT] or energy > facts[LIMIT + 1] * (1 + 1e-12):
        return math.inf
    value = facts[SCALE]
    for _ in range(flags[POWER]):
        value *= cycles
    for _ in range(flags[POWER + 1]):
        value *= energy
    return value


@inner_function
def ragged_of(flags: Ints, loops: int, work: Floats) -> float:
    """Largest share of ragged last steps among some loops."""
    most = 0.0
    for i in range(flags[ACTIVE]):
        d = flags[ACTIVE + 1 + i]
        if (loops >> d) & 1:
            most = max(most, work[RAGGED, d])
    return most


@inner_function
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


@inner_function
def noc_flow(
    tensor: int,
    stays: int,
    ragged: float,
    held: float,
    least: float,
    flows: Floats,
) -> tuple[float, float]:
    """Least elements of a tensor over the NoC and into PEs.

    Args:
        tensor: The tensor.
        stays: The tensor that stays.
        ragged: Share of steps in which another loop may be innermost.
        held: Share of the tensor that PEs may hold over outer steps.
        least: What crosses DRAM's boundary; no less crosses the NoC.
        flows: Flows of the box.
    """
    if tensor == stays:
        noc = (1 - held) * flows[KEPT, tensor] + held * least
        return max(noc, least), (1 - held) * flows[KEPT_PE, tensor] + held * least
    column = SLIDING if tensor == IN and stays != OUT else tensor
    noc = max((1 - ragged) * flows[STREAM, column] + ragged * least, least)
    return noc, max((1 - ragged) * flows[STREAM_PE, column] + ragged * least, noc)


@inner_function
def all_held(facts: Floats, flags: Ints, still: int, work: Floats) -> bool:
    """Whether PEs may hold a cluster's whole tile of every tensor, so that no inner loop iterates."""
    everything = 0
    for i in range(flags[ACTIVE]):
        everything |= 1 << flags[ACTIVE + 1 + i]
    return still & everything == everything and may_hold(facts, flags, everything, False, work)


@inner_function
def bound_held(facts: Floats, flags: Ints, dram: Floats, clock: Floats) -> float:
    """Bound where no inner loop iterates: the NoC carries at least what DRAM's boundary does."""
    best = math.inf
    for outer in range(3):
        energy = facts[BASE]
        for tensor in range(3):
            for kind in range(3):
                energy += facts[PRICE + 3 * kind + tensor] * dram[outer, tensor]
        cycles = max(clock[COMPUTE], dram_cycles(facts, dram, outer, clock))
        best = min(best, objective(facts, flags, clock[FILL] + cycles, energy))
    return best


@inner_function
def bound_staying(
    facts: Floats,
    flags: Ints,
    stays: int,
    ragged: float,
    held: float,
    dram: Floats,
    flows: Floats,
    clock: Floats,
) -> float:
    """Bound where one tensor stays in the PEs: the least over what stays in L2."""
    best = math.inf
    for outer in range(3):
        energy = facts[BASE]
        arriving = -facts[SIZE + OUT]  # the first write of an output is not read back
        leaving = 0.0
        for tensor in range(3):
            least = dram[outer, tensor]
            noc, pe = noc_flow(tensor, stays, ragged, held, least, flows)
            energy += facts[PRICE + 3 * DRAM + tensor] * least
            energy += facts[PRICE + 3 * NOC + tensor] * noc + facts[PRICE + 3 * PE + tensor] * pe
            arriving += noc
            leaving = noc  # the output comes last
        cycles = max(
            clock[COMPUTE],
            dram_cycles(facts, dram, outer, clock),
            noc_cycles(facts, arriving, leaving, clock),
        )
        best = min(best, objective(facts, flags, clock[FILL] + cycles, energy))
    return best


@inner_function
def bound_value(
    facts: Floats,
    flags: Ints,
    still: int,
    moves: int,
    dram: Floats,
    flows: Floats,
    clock: Floats,
    work: Floats,
) -> float:
    """Bound of a box: the least over what stays in L2 and in the PEs.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        still: Dimensions whose inner loop may be still throughout, as bits.
        moves: Dimensions whose inner loop may iterate.
        dram: Least traffic of DRAM.
        flows: Least traffic of the NoC.
        clock: Least cycles.
        work: Work table.
    """
    common = flags[COUPLED + IN] & flags[COUPLED + FILTER] & flags[COUPLED + OUT]
    best = math.inf
    if all_held(facts, flags, still, work):
        best = bound_held(facts, flags, dram, clock)
    for stays in range(4):
        loops = moves & (common if stays == NOTHING else ~flags[COUPLED + stays])
        if loops == 0:
            continue
        held = 0.0
        if stays != NOTHING:
            held = held_share(facts, flags, flags[COUPLED + stays], still, work)
        ragged = ragged_of(flags, loops, work)
        value = bound_staying(facts, flags, stays, ragged, held, dram, flows, clock)
        best = min(best, value)
    return best
