"""The cluster levels of a mapping.

A *program* is a mapping as integers: for each level its directives (variable, map class, size,
offset), outermost first. This file completes a program as MAESTRO's cluster analysis does
(`AnalyzeClusters`, `DFA_cluster-analysis.hpp`).
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    CLUSTERS,
    COUNT,
    COUNTS,
    COUPLED,
    EXTENTS,
    FIRST,
    IN_FILTER,
    IN_INPUT,
    LEVEL_SIZE,
    MASK_FILTER,
    MASK_INPUT,
    MAX_MAPS,
    NO_PES,
    NUM_VARIABLES,
    OFFSET,
    OK,
    P_OFFSET,
    P_PRIME,
    P_SIZE,
    P_SPATIAL,
    P_VAR,
    PROGRAM,
    PROGRAM_ROWS,
    REFUSED,
    SECOND,
    SPATIAL,
    STRIDE,
    TILE,
    UNITS,
    VAR,
    R,
    S,
    X,
    Y,
)
from cost_models.maestro.tables import fill_tables
from marl_common import IntArray, part


@part
def build_levels(layer: IntArray, num_pes: int, num_levels: int, work: IntArray) -> int:
    """Complete a program and fill the static tables of its levels.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        num_pes: PEs that are used.
        num_levels: Levels of the program.
        work: ``(WORK_SIZE,)``, see `layout`; holds the program.

    Returns:
        OK, REFUSED, or NO_PES where the clusters need more PEs than there are.
    """
    per_cluster = 1
    for level in range(num_levels - 1):
        per_cluster *= work[CLUSTERS + level]
    if per_cluster > num_pes:
        return NO_PES
    for var in range(NUM_VARIABLES):
        work[EXTENTS + var] = layer[var]
    for level in range(num_levels):
        at = level * LEVEL_SIZE
        if not _complete(layer, level, at, work):
            return REFUSED
        work[at + UNITS] = num_pes // per_cluster if level == 0 else work[CLUSTERS + level - 1]
        fill_tables(layer, at, work)
        if level + 1 < num_levels:
            _shrink(at, work)
    return OK


@part
def program_at(level: int, row: int) -> int:
    """Where a level's row of the program begins."""
    return PROGRAM + (level * PROGRAM_ROWS + row) * MAX_MAPS


@part
def _shrink(at: int, work: IntArray) -> None:
    """The extents of the level below: the tiles of variables that an input tensor has.

    `ConstructLowerClusterDimensionTable`.
    """
    for var in range(NUM_VARIABLES):
        size = 0
        for d in range(work[at + COUNT]):
            if work[at + VAR + d] == var and work[at + COUPLED + d] & (IN_INPUT | IN_FILTER):
                size = min(work[at + TILE + d], work[EXTENTS + var])
        work[EXTENTS + var] = size


@part
def _complete(layer: IntArray, level: int, at: int, work: IntArray) -> bool:
    """Write a level's maps with inherited and unrolled ones; False where MAESTRO refuses them."""
    own = _mapped(level, work)
    if own < 0:
        return False
    count = _inherit(level, at, own, work)
    inherited = 0
    for d in range(count):
        inherited |= 1 << work[at + VAR + d]
    count = _convert(level, at, count, work)
    if count < 0:
        return False
    work[at + COUNT] = _unroll(layer, at, count, own | inherited, work)
    return _settle(layer, level, at, work)


@part
def _mapped(level: int, work: IntArray) -> int:
    """The set of variables that a level maps itself; -1 where it maps one twice."""
    seen = 0
    for d in range(work[COUNTS + level]):
        bit = 1 << work[program_at(level, P_VAR) + d]
        if seen & bit:
            return -1
        seen |= bit
    return seen


@part
def _inherit(level: int, at: int, own: int, work: IntArray) -> int:
    """Put maps that only the level above has in front, reversed (`InheritMissingDirectives`)."""
    count = 0
    if level > 0:
        above = at - LEVEL_SIZE
        for d in range(work[above + COUNT] - 1, -1, -1):
            var = work[above + VAR + d]
            if not (own >> var) & 1:
                _put_map(at, count, var, 0, work[above + TILE + d], work[above + OFFSET + d], work)
                count += 1
    return count


@part
def _convert(level: int, at: int, count: int, work: IntArray) -> int:
    """Append the level's own maps, X' and Y' as X and Y (`ConvertToInputCentric`).

    Returns:
        The number of maps; -1 where there is no map of the filter rows or columns to convert with.
    """
    for d in range(work[COUNTS + level]):
        var, size = work[program_at(level, P_VAR) + d], work[program_at(level, P_SIZE) + d]
        if work[program_at(level, P_PRIME) + d]:
            taps = _own_size(level, R if var == Y else S, work)
            if taps == 0:
                return -1
            size += taps - 1
        spatial, offset = (
            work[program_at(level, P_SPATIAL) + d],
            work[program_at(level, P_OFFSET) + d],
        )
        _put_map(at, count, var, spatial, size, offset, work)
        count += 1
    return count


@part
def _unroll(layer: IntArray, at: int, count: int, seen: int, work: IntArray) -> int:
    """Append whole maps of variables that nothing maps (`UnrollMissingDirectives`)."""
    missing = (layer[MASK_INPUT] | layer[MASK_FILTER]) & ~seen
    for var in range(NUM_VARIABLES):
        if (missing >> var) & 1:
            extent = work[EXTENTS + var]
            _put_map(at, count, var, 0, extent, extent, work)
            count += 1
    return count


@part
def _settle(layer: IntArray, level: int, at: int, work: IntArray) -> bool:
    """Apply the stride and find the spatial maps; False unless there are one or two."""
    work[at + FIRST] = work[at + SECOND] = -1
    for d in range(work[at + COUNT]):
        if work[EXTENTS + work[at + VAR + d]] == 0:
            return False
        if layer[STRIDE] != 1 and work[at + VAR + d] >= X:
            _apply_stride(layer, level, at, d, work)
        if work[at + SPATIAL + d]:
            if work[at + SECOND] >= 0:
                return False
            work[at + (FIRST if work[at + FIRST] < 0 else SECOND)] = d
    return work[at + FIRST] >= 0


@part
def _put_map(
    at: int, d: int, var: int, spatial: int, size: int, offset: int, work: IntArray
) -> None:
    work[at + VAR + d] = var
    work[at + SPATIAL + d] = spatial
    work[at + TILE + d] = size
    work[at + OFFSET + d] = offset


@part
def _own_size(level: int, var: int, work: IntArray) -> int:
    for d in range(work[COUNTS + level]):
        if work[program_at(level, P_VAR) + d] == var:
            return work[program_at(level, P_SIZE) + d]
    return 0


@part
def _apply_stride(layer: IntArray, level: int, at: int, d: int, work: IntArray) -> None:
    """Turn unstrided rows and columns into input ones (`ApplyOuterStride`).

    Below the top a stride wider than the filter is mistaken.
    """
    taps, stride = layer[R if work[at + VAR + d] == Y else S], layer[STRIDE]
    if work[at + TILE + d] < taps:
        return
    steps = (work[at + TILE + d] + stride - taps) // stride
    work[at + TILE + d] = steps * min(stride, taps) + max(taps - stride, 0)
    work[at + OFFSET + d] = steps * (taps if level > 0 and taps < stride else stride)
