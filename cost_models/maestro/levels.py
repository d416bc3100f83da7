"""The cluster levels of a mapping, and the static tables MAESTRO derives from them.

A *program* is a mapping as integers: for each level its directives (variable, map class, size,
offset), outermost first. This file completes a program as MAESTRO's cluster analysis does
(`DFA_cluster-analysis.hpp`, `DFA_cluster-unit.hpp`) and computes per directive how many elements a
tile, an edge tile and their new parts have (`CA_reuse-analysis.hpp`).
"""

from __future__ import annotations

import numpy as np

from cost_models.maestro.layout import (
    BIT,
    COUNT,
    COUPLED,
    EDGE_UNITS,
    FIRST,
    IN_FILTER,
    IN_INPUT,
    IN_OUTPUT,
    LAST,
    LAST_NEW,
    LEVEL_SIZE,
    MADE,
    MADE_LAST,
    MASK_FILTER,
    MASK_INPUT,
    MASK_OUTPUT,
    NEW,
    NO_PES,
    NUM_VARIABLES,
    O_LAST,
    O_LAST_NEW,
    O_NEW,
    O_TILE,
    OFFSET,
    OK,
    P_OFFSET,
    P_PRIME,
    P_SIZE,
    P_SPATIAL,
    P_VAR,
    REFUSED,
    SECOND,
    SPATIAL,
    STRIDE,
    TILE,
    UNITS,
    VAR,
    ZERO,
    IntArray,
    R,
    S,
    X,
    Y,
    part,
)


@part
def build_levels(
    layer: IntArray,
    num_pes: int,
    program: IntArray,
    counts: IntArray,
    clusters: IntArray,
    num_levels: int,
    work: IntArray,
) -> int:
    """Complete a program and fill the static tables of its levels.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        num_pes: PEs that are used.
        program: ``(MAX_LEVELS, PROGRAM_ROWS, MAX_MAPS)``.
        counts: ``(MAX_LEVELS,)`` maps of each level.
        clusters: ``(MAX_LEVELS,)`` cluster sizes; the first `num_levels` - 1 are used.
        num_levels: Levels of the program.
        work: ``(WORK_SIZE,)``, see `layout`.

    Returns:
        OK, REFUSED, or NO_PES where the clusters need more PEs than there are.
    """
    per_cluster = 1
    for level in range(num_levels - 1):
        per_cluster *= clusters[level]
    if per_cluster > num_pes:
        return NO_PES
    extents = np.empty(NUM_VARIABLES, np.int64)
    for var in range(NUM_VARIABLES):
        extents[var] = layer[var]
    for level in range(num_levels):
        at = level * LEVEL_SIZE
        if not _complete(layer, extents, program, counts, level, at, work):
            return REFUSED
        work[at + UNITS] = num_pes // per_cluster if level == 0 else clusters[level - 1]
        _fill_tables(layer, extents, at, work)
        if level + 1 < num_levels:
            _shrink(extents, at, work)
    return OK


@part
def _shrink(extents: IntArray, at: int, work: IntArray) -> None:
    """The extents of the level below: the tiles of variables that an input tensor has."""
    for var in range(NUM_VARIABLES):
        size = 0
        for d in range(work[at + COUNT]):
            if work[at + VAR + d] == var and work[at + COUPLED + d] & (IN_INPUT | IN_FILTER):
                size = min(work[at + TILE + d], extents[var])
        extents[var] = size


@part
def _complete(
    layer: IntArray,
    extents: IntArray,
    program: IntArray,
    counts: IntArray,
    level: int,
    at: int,
    work: IntArray,
) -> bool:
    """Write a level's maps with inherited and unrolled ones; False where MAESTRO refuses them."""
    seen = 0
    for d in range(counts[level]):
        bit = 1 << program[level, P_VAR, d]
        if seen & bit:
            return False
        seen |= bit
    count = ZERO
    if level > 0:
        above = at - LEVEL_SIZE
        for d in range(work[above + COUNT] - 1, -1, -1):
            var = work[above + VAR + d]
            if not (seen >> var) & 1:
                _put(at, count, var, ZERO, work[above + TILE + d], work[above + OFFSET + d], work)
                count += 1
        for d in range(count):
            seen |= 1 << work[at + VAR + d]
    for d in range(counts[level]):
        var, size = program[level, P_VAR, d], program[level, P_SIZE, d]
        if program[level, P_PRIME, d]:
            taps = _own_size(program, counts, level, R if var == Y else S)
            if taps == 0:
                return False
            size += taps - 1
        _put(at, count, var, program[level, P_SPATIAL, d], size, program[level, P_OFFSET, d], work)
        count += 1
    moved = layer[MASK_INPUT] | layer[MASK_FILTER]
    for var in range(NUM_VARIABLES):
        if (moved >> var) & 1 and not (seen >> var) & 1:
            _put(at, count, var, ZERO, extents[var], extents[var], work)
            count += 1
    work[at + COUNT] = count
    work[at + FIRST] = -1
    work[at + SECOND] = -1
    for d in range(count):
        if extents[work[at + VAR + d]] == 0:
            return False
        if layer[STRIDE] != 1 and work[at + VAR + d] >= X:
            _apply_stride(layer, level, at, d, work)
        if work[at + SPATIAL + d]:
            if work[at + SECOND] >= 0:
                return False
            work[at + (FIRST if work[at + FIRST] < 0 else SECOND)] = d
    return bool(work[at + FIRST] >= 0)


@part
def _put(at: int, d: int, var: int, spatial: int, size: int, offset: int, work: IntArray) -> None:
    work[at + VAR + d] = var
    work[at + SPATIAL + d] = spatial
    work[at + TILE + d] = size
    work[at + OFFSET + d] = offset


@part
def _own_size(program: IntArray, counts: IntArray, level: int, var: int) -> int:
    for d in range(counts[level]):
        if program[level, P_VAR, d] == var:
            return int(program[level, P_SIZE, d])
    return 0


@part
def _apply_stride(layer: IntArray, level: int, at: int, d: int, work: IntArray) -> None:
    """Turn unstrided rows and columns into input ones; below the top a wide stride is mistaken."""
    taps, stride = layer[R if work[at + VAR + d] == Y else S], layer[STRIDE]
    if work[at + TILE + d] < taps:
        return
    steps = (work[at + TILE + d] + stride - taps) // stride
    work[at + TILE + d] = steps * min(stride, taps) + max(taps - stride, 0)
    work[at + OFFSET + d] = steps * (taps if level > 0 and taps < stride else stride)


@part
def _fill_tables(layer: IntArray, extents: IntArray, at: int, work: IntArray) -> None:
    tile_r = last_r = tile_s = last_s = 1
    for d in range(work[at + COUNT]):
        var = work[at + VAR + d]
        extent, size, offset = extents[var], work[at + TILE + d], work[at + OFFSET + d]
        steps = (extent - size) // offset if extent > size else 0
        rest = extent - (steps + 1) * offset
        if rest < 0:
            rest = extent
        last = rest if steps * offset + size < extent or size > extent else size
        still = extent <= size and not work[at + SPATIAL + d]
        new = 0 if still else min(size, offset)
        last_new = max(offset - (size - rest), 0)
        work[at + LAST + d] = work[at + O_LAST + d] = last
        work[at + NEW + d] = work[at + O_NEW + d] = new
        work[at + LAST_NEW + d] = work[at + O_LAST_NEW + d] = last_new
        work[at + O_TILE + d] = size
        work[at + BIT + d] = 1 << d if last != size else 0
        work[at + COUPLED + d] = (
            (IN_INPUT if (layer[MASK_INPUT] >> var) & 1 else 0)
            | (IN_FILTER if (layer[MASK_FILTER] >> var) & 1 else 0)
            | (IN_OUTPUT if (layer[MASK_OUTPUT] >> var) & 1 else 0)
        )
        if var == R:
            tile_r, last_r = size, last
        elif var == S:
            tile_s, last_s = size, last
        if d == work[at + FIRST]:
            work[at + EDGE_UNITS] = _edge_units(extent, size, offset, work[at + UNITS])
    for d in range(work[at + COUNT]):
        var = work[at + VAR + d]
        if var >= X:
            size, offset = work[at + TILE + d], work[at + OFFSET + d]
            last = work[at + LAST + d] - (last_r if var == Y else last_s) + 1
            work[at + O_TILE + d] = size - (tile_r if var == Y else tile_s) + 1
            work[at + O_LAST + d] = last
            work[at + O_NEW + d] = min(offset, size)
            work[at + O_LAST_NEW + d] = min(offset, last)
        output = work[at + COUPLED + d] & IN_OUTPUT
        work[at + MADE + d] = work[at + (O_TILE if output else TILE) + d]
        work[at + MADE_LAST + d] = work[at + (O_LAST if output else LAST) + d]


@part
def _edge_units(extent: int, size: int, offset: int, units: int) -> int:
    """Sub-clusters at work in the last spatial step, as MAESTRO counts them."""
    if extent <= size:
        return 1
    steps = (extent - size) // offset + 1
    if extent <= offset * (units - 1) + size:
        return steps + (1 if offset * (steps - 1) + size < extent else 0)
    rest = extent - steps // units * offset * units
    return 1 if rest < size else (rest - size) // offset + 1
