"""Least cycles of a box: first fills, the first outer step, boundaries, and what steps lose.

Of the steps of a level, the first phase are those in which every loop that leaves the staying
tensor alone is at its first iteration: in each of them all three tensors move, in the rest only the
other two. Compute and traffic of the first phase cannot make up for those of the rest, so that a
level takes at least the sum of both phases' longest. That holds where tiles are known.
"""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    FILTER,
    FIRST,
    IN,
    INNER,
    NOC_ROWS,
    NOTHING,
    OUT,
    OUTER,
    OUTER_ROWS,
    TENSORS,
    Box,
    R,
    S,
)
from cost_models.exact.bounds.box_rows import flat_area, full_area
from cost_models.exact.bounds.box_sizes import elements
from cost_models.exact.bounds.box_traffic import iterates
from marl_common import address, part


@part
def whole_cycles(bits: float, bandwidth: float) -> tuple[float, float]:
    """Cycles that a transfer takes, and what it could carry in them.

    The rest of a traffic is counted less the latter: a later, larger first tile takes as long.
    Without a limit a transfer takes one cycle.
    """
    if bandwidth == math.inf:
        return min(bits, 1.0), bits
    cycles = math.ceil(bits / bandwidth)
    return cycles, cycles * bandwidth


@part
def fill_clock(box: Box) -> None:
    """Compute, the first fills, and the first outer step."""
    problem, clock = address(box.problem), address(box.clock)
    macs, steps, first_macs = 1.0, 1.0, 1.0
    for d in range(DIMS):
        macs *= box.dim[d].lead
        steps *= box.dim[d].steps[INNER]
        first_macs *= box.dim[d].first_lead[OUTER]
    clock.macs = macs / problem.lanes
    clock.compute = max(math.ceil(clock.macs), steps)
    clock.fill = clock.first_step = clock.loaded = clock.fed = 0.0
    if not problem.fills:
        return
    load, feed, every = 0.0, 0.0, 0.0
    # where padding is free, a first tile of the input may be nothing else
    for tensor in range(FILTER if problem.free else IN, OUT):
        held = problem.bits[INNER][tensor] * elements(box, tensor, OUTER, 0)
        first = problem.bits[INNER][tensor] * elements(box, tensor, FIRST, box.spread)
        every += held
        if problem.bits[OUTER][tensor] > 0:
            load += first if (problem.bypass_l2 >> tensor) & 1 else held
        feed += 0.0 if (problem.bypass_l1 >> tensor) & 1 else first
    loading, clock.loaded = whole_cycles(load, problem.into[OUTER])
    feeding, clock.fed = whole_cycles(feed, problem.into[INNER])
    clock.fill = loading + feeding
    stored = elements(box, OUT, OUTER, 0)
    clock.first_step = max(
        math.ceil(first_macs / problem.lanes),
        (every - clock.fed) / problem.into[INNER],
        stored * problem.bits[INNER][OUT] / problem.out[INNER],
        stored * problem.leave / problem.out[OUTER],
    )


@part
def leaving_bits(box: Box, level: int, outputs: float) -> float:
    """Bits that outputs are over a boundary; over DRAM's partial sums if any is written twice."""
    # rounding apart, a whole element more
    psums = level == INNER or outputs > box.problem.size[OUT] + 0.5
    return outputs * (box.problem.bits[level][OUT] if psums else box.problem.leave)


@part
def past_first(box: Box, tensor: int, found: float) -> float:
    """Elements of a tensor; of the output those that were written before."""
    return found - box.problem.size[OUT] if tensor == OUT else found


@part
def arriving_bits(box: Box, level: int, tensor: int, found: float) -> float:
    """Bits of a tensor over a boundary; the first write of an output is not read back."""
    return box.problem.bits[level][tensor] * past_first(box, tensor, found)


@part
def dram_loads(box: Box, stays: int) -> float:
    """Bits from DRAM to L2, where a tensor stays there."""
    loads = 0.0
    for tensor in range(TENSORS):
        if not (box.problem.bypass_l2 >> tensor) & 1:
            loads += arriving_bits(box, OUTER, tensor, box.dram[stays][tensor])
    return loads


@part
def dram_cycles(box: Box, stays: int) -> float:
    """Cycles after the first fills, as far as DRAM's boundary decides."""
    clock = address(box.clock)
    loads = (dram_loads(box, stays) - clock.loaded) / box.problem.into[OUTER]
    leaving = leaving_bits(box, OUTER, box.dram[stays][OUT]) / box.problem.out[OUTER]
    return max(clock.first_step + loads + rounding(box, stays), leaving)


@part
def known_tiles(box: Box, level: int) -> bool:
    """Whether a level's smallest and largest tiles are the same, and no tap loop iterates."""
    for d in range(DIMS):
        if box.dim[d].low[level] != box.dim[d].high[level]:
            return False
    return max(box.dim[R].steps[level], box.dim[S].steps[level]) <= 1


@part
def phases(box: Box, level: int, stays: int) -> float:
    """Cycles after the first fills by the phases of a level's steps; 0 where tiles are not known.

    Of inner steps no last outer step may differ.
    """
    problem, clock = address(box.problem), address(box.clock)
    if not problem.phases or not known_tiles(box, level) or not known_tiles(box, OUTER):
        return 0.0
    share, first = 1.0, 1.0
    for d in range(DIMS):
        if not (problem.coupled[stays] >> d) & 1:
            share *= box.dim[d].first_span[level] / box.dim[d].extent
            first *= box.dim[d].first_lead[level] / box.dim[d].lead
    first *= clock.macs
    early, others = 0.0, 0.0
    for tensor in range(TENSORS):
        bits = arriving_bits(box, level, tensor, crossing(box, level, stays, tensor))
        if tensor == stays:
            early = bits
        else:
            others += bits
    early += share * others
    hidden = clock.fed / problem.into[INNER]
    if level == OUTER:
        hidden = clock.loaded / problem.into[OUTER] - clock.first_step
    leaving = 1.0 if stays == OUT else share
    out = leaving_bits(box, level, crossing(box, level, stays, OUT)) / problem.out[level]
    late = max(clock.macs - first, (1 - share) * others / problem.into[level], (1 - leaving) * out)
    return max(first, early / problem.into[level] - hidden, leaving * out) + late


@part
def crossing(box: Box, level: int, stays: int, tensor: int) -> float:
    """Elements of a tensor over a level's boundary where tiles are known and a tensor stays."""
    flow, found = address(box.flow[tensor]), box.dram[stays][tensor]
    group = OUTER_ROWS if level == OUTER else NOC_ROWS
    if level == INNER:
        found = flow.kept if tensor == stays else flow.each
    if stays != FILTER or tensor != IN:
        return found
    # windows that move on take at least what lies beside their last place
    whole = box.dram[OUT][IN] if level == OUTER else found
    return whole * flat_area(box, group) / full_area(box, group)


@part
def lost(bits: float, bandwidth: float) -> float:
    """Part of a cycle that rounding a transfer up loses."""
    cycles = bits / bandwidth
    return math.ceil(cycles) - cycles


@part
def full_steps(box: Box, mask: int) -> float:
    """Outer steps in which some dimensions have full tiles, the others being left out."""
    steps = 1.0
    for d in range(DIMS):
        if (mask >> d) & 1:
            steps *= math.floor(box.dim[d].extent / box.dim[d].tile[OUTER])
    return steps


@part
def rounding(box: Box, stays: int) -> float:
    """Least cycles that outer steps lose because each rounds its load up; 0 if not known.

    Where outer tiles are known and one tensor stays, the loads of the steps in which it does not
    move are known too: the others' tiles, in full.
    """
    problem = address(box.problem)
    bandwidth = problem.into[OUTER]
    if not problem.phases or not known_tiles(box, OUTER):
        return 0.0
    if stays == FILTER or bandwidth == math.inf:
        return 0.0
    load = problem.bits[OUTER][FILTER] * elements(box, FILTER, OUTER, 0)
    if stays == IN:
        # partial sums may be read back too
        each = lost(load, bandwidth)
        if iterates(box, problem.coupled[OUT]):
            output = problem.bits[OUTER][OUT] * elements(box, OUT, OUTER, 0)
            each = min(each, lost(load + output, bandwidth))
        return each * (full_steps(box, -1) - full_steps(box, problem.coupled[IN]))
    if stays == NOTHING and iterates(box, problem.coupled[OUT]):
        return 0.0
    # with the loop over C innermost no partial sum ever leaves L2; the first step is a fill
    load += problem.bits[OUTER][IN] * elements(box, IN, OUTER, 0)
    return lost(load, bandwidth) * (full_steps(box, -1) - 1)
