"""How much each tensor moves in a finished mapping, and what that takes (compiled).

A rough account, by the stationarity of loops alone: a tensor moves once per sweep over its own
dimensions, and again for every loop outside of its innermost one that iterates. Steps are taken to
be alike. It asks no cost model, and knows of no prices.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final

from common import inner_function
from mapper.pretrained.state import State
from mapper.pretrained.step_clock import (
    IN,
    OUT,
    OUTPUT,
    Transfers,
    fill_transfers,
    innermost,
    stepwise_cycles,
)
from mapper.pretrained.tables import D, ProblemTables, R, X, Y
from mapper.pretrained.tile_sizes import INPUT, clusters_of, covered, log, tensor_elements, up
from mapper.pretrained.turns import INNER, OUTER

PES: Final = 2
FLOWS: Final = 3
"""Rows of flows: over the off-chip boundary, over the NoC, and into PEs."""
PARTS: Final = 5
"""Cycles of compute, from DRAM and to it, of the NoC to the PEs and from them, each alone."""
TERMS: Final = 6
"""Cycles step by step, of first fills; MACs, elements into PEs, accesses of memories, of DRAM."""
FLOW_FEATURES: Final = FLOWS * 3 + PARTS + TERMS


@inner_function
def busiest(n: int, wide: int, narrow: int, across: int, within: int) -> int:
    """Iterations of a dimension that the first PE works off."""
    whole, rest = n // (wide * across), n % (wide * across)
    return whole * _share(wide, narrow, within) + _share(min(wide, rest), narrow, within)


@inner_function
def _share(wide: int, narrow: int, within: int) -> int:
    return wide // (narrow * within) * narrow + min(narrow, wide % (narrow * within))


@inner_function
def at_work(d: int, row: int, state: State, clusters: int, extents: Any) -> int:
    """Tiles of a dimension that are worked on at a time."""
    outer, inner = state.spread[row]
    wide = state.tiles[row, OUTER, d]
    units = 1
    if d == inner:
        units *= min(state.cluster[row], up(wide, state.tiles[row, INNER, d]))
    if d == outer:
        units *= min(clusters, up(extents[d], wide))
    return units


@inner_function
def window_rows(
    n: int, tile: int, steps: int, slides: bool, taps: int, stride: int, dilation: int
) -> float:
    """Input rows that a sweep over `n` outputs takes over all rows there are.

    Args:
        n: Outputs.
        tile: Outputs of a step.
        steps: Steps.
        slides: Whether rows are kept from one step to the next.
        taps: Taps of the filter.
        stride: Rows from an output to the next.
        dilation: Rows from a tap to the next.
    """
    if slides or steps == 1:
        return 1.0
    shared = 2 * covered(tile, taps, stride, dilation) - covered(2 * tile, taps, stride, dilation)
    return 1.0 + (steps - 1) * max(shared, 0) / covered(n, taps, stride, dilation)


@inner_function
def fill_flows(
    flows: Any,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    steps: Any,
    last: Any,
) -> None:
    """Elements of every tensor that move, into ``flows (FLOWS, 3)``.

    Args:
        flows: Filled in.
        row: The mapping.
        problem: Its problem.
        tables: The problems.
        state: The mappings.
        steps: ``(2, D)`` steps of its loops.
        last: ``(2, 3)`` gets the innermost loops of :class:`Transfers`.
    """
    coupling, extents = tables.coupling[problem], tables.extents[problem]
    orders = state.orders[row]
    clusters = clusters_of(tables.pes[problem], state.cluster[row])
    for tensor in range(3):
        last[OUTER, tensor] = innermost(tensor, OUTER, orders, steps, coupling)
        last[INNER, tensor] = innermost(tensor, INNER, orders, steps, coupling)
        flows[:, tensor] = tensor_elements(tensor, extents, coupling, tables.window[problem])
        for place in range(D):
            d = orders[OUTER, place]
            if coupling[tensor, d]:
                continue
            if place < last[OUTER, tensor]:
                flows[OUTER, tensor] *= steps[OUTER, d]
            moved_inside = last[INNER, tensor] >= 0 or place < last[OUTER, tensor]
            times = steps[OUTER, d] if moved_inside else 1
            for inside in range(last[INNER, tensor]):
                if orders[INNER, inside] == d:
                    times *= steps[INNER, d]
            flows[INNER, tensor] *= times
            units = at_work(d, row, state, clusters, extents)
            flows[PES, tensor] *= min(times * units, extents[d])
    _fill_windows(flows, row, problem, tables, state, steps, last, clusters)


@inner_function
def _fill_windows(
    flows: Any,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    steps: Any,
    last: Any,
    clusters: int,
) -> None:
    """Counts the input rows and columns that neighbouring tiles share as often as they move."""
    orders, window = state.orders[row], tables.window[problem]
    outer_slide = orders[OUTER, last[OUTER, INPUT]] if last[OUTER, INPUT] >= 0 else -1
    slide = orders[INNER, last[INNER, INPUT]] if last[INNER, INPUT] >= 0 else outer_slide
    for axis in (Y, X):
        n, taps = tables.extents[problem, axis], tables.extents[problem, axis + R - Y]
        if taps == 1:
            continue
        stride, dilation = window[axis - Y], window[2 + axis - Y]
        wide, narrow = state.tiles[row, OUTER, axis], state.tiles[row, INNER, axis]
        units = at_work(axis, row, state, clusters, tables.extents[problem])
        box = wide * (clusters if axis == state.spread[row, OUTER] else 1)
        both = steps[OUTER, axis] * steps[INNER, axis]
        pieces = units if slide == axis else min(n, both * units)
        flows[OUTER, INPUT] *= window_rows(
            n, min(n, box), steps[OUTER, axis], outer_slide == axis, taps, stride, dilation
        )
        flows[INNER, INPUT] *= window_rows(
            n, min(n, narrow * units), both, slide == axis, taps, stride, dilation
        )
        flows[PES, INPUT] *= window_rows(n, min(n, narrow), pieces, False, taps, stride, dilation)


@inner_function
def busiest_cycles(row: int, problem: int, tables: ProblemTables, state: State) -> float:
    """Compute cycles of the first PE."""
    clusters = clusters_of(tables.pes[problem], state.cluster[row])
    outer, inner = state.spread[row]
    macs = 1.0
    for d in range(D):
        macs *= busiest(
            tables.extents[problem, d],
            state.tiles[row, OUTER, d],
            state.tiles[row, INNER, d],
            clusters if d == outer else 1,
            state.cluster[row] if d == inner else 1,
        )
    return macs / tables.lanes[problem]


@inner_function
def see_flows(
    out: Any,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    steps: Any,
    sizes: Any,
    flows: Any,
    transfers: Transfers,
) -> None:
    """Logs of flows, `PARTS` and `TERMS`, into ``out (FLOW_FEATURES,)``.

    Args:
        out: Filled in.
        row: The mapping.
        problem: Its problem.
        tables: The problems.
        state: The mappings.
        steps: ``(2, D)`` steps of its loops.
        sizes: ``(2, 3)`` elements held, as `held_elements` gives them.
        flows: ``(FLOWS, 3)`` work space.
        transfers: Work space.
    """
    fill_flows(flows, row, problem, tables, state, steps, transfers.last)
    orders, coupling = state.orders[row], tables.coupling[problem]
    bandwidth = tables.bandwidth[problem]
    output = tensor_elements(OUTPUT, tables.extents[problem], coupling, tables.window[problem])
    fill_transfers(transfers, orders, steps, coupling, flows, output)
    for boundary in range(FLOWS):
        for tensor in range(3):
            out[boundary * 3 + tensor] = log(flows[boundary, tensor])
    cycles = busiest_cycles(row, problem, tables, state)
    part = out[FLOWS * 3 :]
    term = out[FLOWS * 3 + PARTS :]
    accesses = 0.0
    for level in range(2):
        into = flows[level, 0] + flows[level, 1] + flows[level, OUTPUT] - output
        accesses += into + flows[level, OUTPUT]
        part[1 + 2 * level] = log(into / bandwidth[level, IN])
        part[2 + 2 * level] = log(flows[level, OUTPUT] / bandwidth[level, OUT])
        if level == OUTER:
            term[5] = log(accesses)
    part[0] = log(cycles)
    all_steps = 1.0
    macs = 1.0
    for d in range(D):
        all_steps *= steps[OUTER, d] * steps[INNER, d]
        macs *= tables.extents[problem, d]
    term[0] = log(stepwise_cycles(orders, steps, cycles / all_steps, transfers, bandwidth))
    first = (sizes[OUTER, 0] + sizes[OUTER, 1]) / bandwidth[OUTER, IN]
    first += (transfers.each[INNER, 0] + transfers.each[INNER, 1]) / bandwidth[INNER, IN]
    term[1] = log(first)
    term[2] = log(macs)
    term[3] = log(flows[PES, 0] + flows[PES, 1] + 2 * flows[PES, OUTPUT] - output)
    term[4] = log(accesses)
