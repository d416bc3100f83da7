"""Least cycles of a box that no loop order changes: fills, compute, and the first outer step."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Final

from common import shared_function
from cost_models.exact.bounds.bound_problem import (
    BANDWIDTH,
    BITS,
    CROSS,
    DRAM_IN,
    DRAM_OUT,
    FILLS,
    FILTER,
    FREE,
    IN,
    LANES,
    LEAVE,
    NOC_IN,
    NOC_OUT,
    OUT,
    PAST,
    SIZE,
    STREAMED,
    Floats,
    Ints,
)
from cost_models.exact.bounds.box_capacity import input_elements, tensor_elements
from cost_models.exact.bounds.box_fields import FIRST_SPAN, SPAN

FILL: Final = 0  # cycles of the first fills of L2 and of the PEs, outside all else
COMPUTE: Final = 1  # cycles of the busiest PE
FIRST_STEP: Final = 2  # cycles of the first outer step, which hide no load from DRAM
LOADED: Final = 3  # bits that may cross DRAM's boundary in the first fill's whole cycles
FED: Final = 4  # bits that may cross the NoC in the first feed's
MACS: Final = 5  # the busiest PE's MACs over its lanes, without rounding
CLOCK: Final = 6


@shared_function
def whole_cycles(bits: float, bandwidth: float) -> tuple[float, float]:
    """Cycles that a transfer takes, and what it could carry in them.

    The rest of a traffic is counted less the latter: a later, larger first tile takes as long.
    Without a limit a transfer takes one cycle.
    """
    if bandwidth == math.inf:
        return min(bits, 1.0), bits
    cycles = math.ceil(bits / bandwidth)
    return cycles, cycles * bandwidth


@shared_function
def fill_clock(
    facts: Floats,
    flags: Ints,
    spread: int,
    macs: float,
    compute: float,
    first_compute: float,
    work: Floats,
    clock: Floats,
) -> None:
    """Fill the clock of a box.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        spread: Dimensions in parallel, as bits.
        macs: MACs of the busiest PE.
        compute: Compute cycles of all steps.
        first_compute: Compute cycles of the first outer step.
        work: Work table.
        clock: ``(CLOCK,)``.
    """
    clock[:] = 0.0
    clock[COMPUTE] = compute
    clock[MACS] = macs / facts[LANES]
    if not flags[FILLS]:
        return
    load = 0.0
    feed = 0.0
    every = 0.0
    # where padding is free, a first tile of the input may be nothing else
    for tensor in range(FILTER if flags[FREE] else IN, OUT):
        held = facts[BITS + tensor] * tensor_elements(facts, flags, tensor, work, SPAN)
        if tensor == IN:
            first = input_elements(facts, flags, spread, work, FIRST_SPAN)
        else:
            first = tensor_elements(facts, flags, FILTER, work, FIRST_SPAN)
        first *= facts[BITS + tensor]
        every += held
        if facts[CROSS + tensor] > 0:
            load += first if (flags[PAST] >> tensor) & 1 else held
        feed += 0.0 if (flags[STREAMED] >> tensor) & 1 else first
    loading, clock[LOADED] = whole_cycles(load, facts[BANDWIDTH + DRAM_IN])
    feeding, clock[FED] = whole_cycles(feed, facts[BANDWIDTH + NOC_IN])
    clock[FILL] = loading + feeding
    stored = tensor_elements(facts, flags, OUT, work, SPAN)
    clock[FIRST_STEP] = max(
        first_compute,
        (every - clock[FED]) / facts[BANDWIDTH + NOC_IN],
        stored * facts[BITS + OUT] / facts[BANDWIDTH + NOC_OUT],
        stored * facts[LEAVE] / facts[BANDWIDTH + DRAM_OUT],
    )


@shared_function
def leaving_bits(facts: Floats, outputs: float) -> float:
    """Bits that outputs are over DRAM's boundary; partial sums if any is written twice."""
    some_twice = outputs > facts[SIZE + OUT] + 0.5  # rounding apart, a whole element more
    return outputs * (facts[CROSS + OUT] if some_twice else facts[LEAVE])


@shared_function
def past_first(facts: Floats, tensor: int, elements: float) -> float:
    """Elements of a tensor; of the output those that were written before."""
    return elements - facts[SIZE + OUT] if tensor == OUT else elements


@shared_function
def arriving_bits(facts: Floats, tensor: int, elements: float) -> float:
    """Bits of a tensor that come in; the first write of an output is not read back."""
    return facts[BITS + tensor] * past_first(facts, tensor, elements)


@shared_function
def loaded_bits(facts: Floats, tensor: int, elements: float) -> float:
    """The same of what comes over DRAM's boundary."""
    return facts[CROSS + tensor] * past_first(facts, tensor, elements)


@shared_function
def dram_loads(facts: Floats, flags: Ints, dram: Floats, stays: int) -> float:
    """Bits from DRAM to L2; `stays` is the tensor that stays there."""
    loads = 0.0
    for tensor in range(3):
        if not (flags[PAST] >> tensor) & 1:
            loads += loaded_bits(facts, tensor, dram[stays, tensor])
    return loads


@shared_function
def dram_cycles(
    facts: Floats, flags: Ints, dram: Floats, stays: int, rounded: float, clock: Floats
) -> float:
    """Cycles after the first fills, as far as DRAM's boundary decides.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        dram: Least traffic of DRAM.
        stays: The tensor that stays in L2.
        rounded: Cycles that loads lose because each step rounds its own up.
        clock: The clock of the box.
    """
    loads = dram_loads(facts, flags, dram, stays) - clock[LOADED]
    return max(
        clock[FIRST_STEP] + loads / facts[BANDWIDTH + DRAM_IN] + rounded,
        leaving_bits(facts, dram[stays, OUT]) / facts[BANDWIDTH + DRAM_OUT],
    )


@shared_function
def noc_cycles(facts: Floats, arriving: float, leaving: float, clock: Floats) -> float:
    """Cycles after the first fills, as far as the NoC decides; bits to and from the PEs."""
    return max(
        (arriving - clock[FED]) / facts[BANDWIDTH + NOC_IN],
        leaving / facts[BANDWIDTH + NOC_OUT],
    )
