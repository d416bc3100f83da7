"""Least traffic of a box over both boundaries, by which tensor stays where it is.

A loop of the nest is not coupled to at most one tensor. So the innermost loop that iterates leaves
one tensor where it is, and moves the others in every one of its steps. That holds for the outer
loops and DRAM, and for the inner loops and the NoC.

Where buffers keep what they hold, a loop over taps moves the input by a row or two. Then the
input's traffic is that of the innermost other loop that iterates: between two of its iterations all
taps iterate, and in whatever order, what they touch together is brought in, but for what the
tile before them held of it. So rows are counted as if the filter were whole, and a tap loop that is
innermost is a case of its own, `TAPS`.
"""

from __future__ import annotations

import math

from cost_models.exact.bounds.box_records import (
    DIMS,
    FILTER,
    HELD_ROWS,
    IN,
    INNER,
    NOC_ROWS,
    NOTHING,
    OUT,
    OUTER,
    OUTER_ROWS,
    PAIRS,
    PE_ROWS,
    PSUMS,
    TAP_LOOPS,
    TAPS,
    TENSORS,
    WAYS,
    WINDOW,
    Box,
    P,
    Q,
    R,
    S,
)
from cost_models.exact.bounds.box_rows import flat_area, full_area, kept_area, unique_area
from marl_common import address, part


@part
def times_moved(box: Box, tensor: int) -> float:
    """Outer steps of the loops that a tensor is not coupled to, at least."""
    times = 1.0
    for d in range(DIMS):
        if not (box.problem.coupled[tensor] >> d) & 1:
            times *= box.dim[d].steps[OUTER]
    return times


@part
def fill_dram(box: Box) -> None:
    """Least elements over DRAM's boundary, by what stays in L2; `TAPS` and `NOTHING` too."""
    problem, taps = address(box.problem), box.outer_taps
    for tensor in range(TENSORS):
        times = times_moved(box, tensor)
        for stays in range(WAYS):
            box.dram[stays][tensor] = problem.size[tensor] * (1.0 if stays == tensor else times)
    once = problem.size[IN] * unique_area(box)
    if problem.loose:
        for stays in range(WAYS):
            box.dram[stays][IN] = once
        return
    full = full_area(box, OUTER_ROWS)
    box.dram[IN][IN] *= kept_area(box, OUTER_ROWS, False, taps)
    box.dram[FILTER][IN] *= kept_area(box, OUTER_ROWS, input_stays_through(box, 0), taps)
    box.dram[OUT][IN] *= full
    box.dram[NOTHING][IN] *= full
    if taps:
        least, other = max(box.dram[IN][IN], once), max(box.dram[FILTER][IN], once)
        box.dram[IN][IN], box.dram[FILTER][IN] = least, other
        returns = problem.size[IN] * returning_area(box)
        box.dram[TAPS][IN] = min(least + (times_moved(box, IN) - 1) * returns, other)
        box.dram[TAPS][OUT] /= box.dim[R].steps[OUTER] * box.dim[S].steps[OUTER]


@part
def iterates(box: Box, apart: int) -> bool:
    """Whether an outer loop that is not in a set surely iterates."""
    found = False
    for d in range(DIMS):
        if not (apart >> d) & 1 and box.dim[d].steps[OUTER] > 1:
            found = True
    return found


@part
def returning_area(box: Box) -> float:
    """Rows times columns that come back at least when taps iterate once more over the same input.

    The tile before holds what the last taps touch; what only the first ones do is gone.
    """
    area = math.inf
    for pair in range(PAIRS):
        taps = address(box.dim[R + pair])
        span = taps.tile[OUTER]
        if span >= taps.extent:
            continue
        gone = 1.0
        if taps.low[OUTER] == taps.high[OUTER]:
            gone = (math.ceil(taps.extent / span) - 1) * span
        strips = gone * box.dim[P + pair].steps[OUTER]
        area = min(area, strips * box.rows[1 - pair][OUTER_ROWS].each)
    return area


@part
def fill_flows(box: Box) -> None:
    """Least elements over the NoC and into PEs, of tensors that move and of one that stays."""
    for tensor in range(TENSORS):
        flow, size = address(box.flow[tensor]), box.problem.size[tensor]
        flow.each = flow.each_pe = flow.kept = flow.kept_pe = flow.once_pe = size
        for d in range(DIMS):
            dim = address(box.dim[d])
            if not (box.problem.coupled[tensor] >> d) & 1:
                flow.each *= dim.steps[INNER]
                flow.each_pe *= dim.places
                flow.kept *= dim.steps[OUTER]
                flow.kept_pe *= dim.first_places
                flow.once_pe *= dim.holders
        flow.served = served(box, tensor)
    fill_psums(box)
    fill_window(box)


@part
def fill_window(box: Box) -> None:
    """Multiply the input's flows by rows and columns, and fill that of a window that moves on."""
    flow, window, taps = address(box.flow[IN]), address(box.flow[WINDOW]), box.taps
    once_pe = flow.once_pe
    flow.once_pe *= unique_area(box)
    if box.problem.loose:
        flow.each = flow.each_pe = flow.kept = flow.kept_pe = 0.0
        window.each = window.each_pe = window.once_pe = 0.0
        return
    window.once_pe = once_pe * kept_area(box, PE_ROWS, False, taps)
    again = input_stays_through(box, box.moves)
    window.each = flow.each * kept_area(box, NOC_ROWS, again, taps)
    window.each_pe = flow.each_pe * kept_area(box, PE_ROWS, again, taps)
    flow.each *= full_area(box, NOC_ROWS)
    flow.each_pe *= full_area(box, PE_ROWS)
    held = kept_area(box, HELD_ROWS, input_stays_through(box, 0), taps)
    if box.dim[P].ragged > 0 or box.dim[Q].ragged > 0:
        # one axis may move on in full outer steps, the other in the last, smaller ones
        rows, columns = address(box.rows[0][HELD_ROWS]), address(box.rows[1][HELD_ROWS])
        held = flat_area(box, HELD_ROWS) if box.problem.retain else rows.once * columns.once
    flow.kept *= held
    flow.kept_pe *= held


@part
def reductions(box: Box) -> int:
    """Inner loops, but those over taps, that leave the output alone and surely iterate."""
    return ((1 << DIMS) - 1) & ~box.problem.coupled[OUT] & ~TAP_LOOPS & ~box.still


@part
def fill_psums(box: Box) -> None:
    """Outputs while taps iterate: they stay, unless a loop within a reduction moves them."""
    flow, psums = address(box.flow[OUT]), address(box.flow[PSUMS])
    psums.kept, psums.kept_pe = flow.kept, flow.kept_pe
    if reductions(box) > 0:
        rows, columns = address(box.dim[R]), address(box.dim[S])
        psums.kept = flow.each / (rows.steps[INNER] * columns.steps[INNER])
        psums.kept_pe = flow.each_pe / (rows.places * columns.places)


@part
def served(box: Box, tensor: int) -> float:
    """Elements that L2 serves to MACs, each once a moment, of a tensor that bypasses L1; else 0."""
    if not (box.problem.bypass_l1 >> tensor) & 1:
        return 0.0
    found = box.problem.size[tensor]
    for d in range(DIMS):
        if not (box.problem.coupled[tensor] >> d) & 1:
            found *= box.dim[d].lead
    if tensor == IN and box.problem.free:
        found *= unique_area(box)
    elif tensor == IN:
        for pair in range(PAIRS):
            axis, taps = address(box.dim[P + pair]), address(box.dim[R + pair])
            # PEs at different outputs, or at different taps, touch different rows
            found *= max(axis.extent * taps.lead, axis.lead * taps.extent)
    return found


@part
def input_stays_through(box: Box, moves: int) -> bool:
    """Whether a loop that leaves the input alone may iterate: an outer one, or one of `moves`."""
    apart = ~box.problem.coupled[IN]
    return may_iterate(box, apart) or (moves & apart) > 0


@part
def may_iterate(box: Box, loops: int) -> bool:
    """Whether one of some outer loops may have more than one iteration."""
    for d in range(DIMS):
        dim = address(box.dim[d])
        if (loops >> d) & 1 and dim.low[OUTER] * dim.units < dim.extent:
            return True
    return False


@part
def taps_apart(box: Box) -> bool:
    """Whether a loop over taps moves the input by less than a tile."""
    return box.problem.retain and not box.problem.loose


@part
def loops_beside(box: Box, stays: int) -> int:
    """The loops that leave a tensor alone; see `TAPS` and `NOTHING`."""
    problem = address(box.problem)
    if stays == TAPS:
        return TAP_LOOPS if taps_apart(box) else 0
    if stays == NOTHING:
        return problem.coupled[IN] & problem.coupled[FILTER] & problem.coupled[OUT]
    loops = ~problem.coupled[stays]
    return loops & ~TAP_LOOPS if taps_apart(box) else loops
