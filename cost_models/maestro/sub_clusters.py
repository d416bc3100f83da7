"""The sub-clusters of a case: their results are looked up, or they are set up to be evaluated.

A sub-level is given the tiles of the level above; which of them are edge tiles decides its result,
so results are kept by that set of directives.
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    BIT,
    BUSY,
    CHILD,
    COUNT,
    EDGE_UNITS,
    FIRST,
    GIVEN,
    LANES,
    LAST,
    LEVEL_SIZE,
    MEMO_RUNTIME,
    MEMO_STAMP,
    NOTHING_MISSING,
    OCCURRED,
    RUNTIME,
    SECOND,
    SETS,
    STAMP,
    TILE,
    UNITS,
    VAR,
    StepCase,
)
from marl_common import FloatArray, IntArray, part


@part
def compute_delay(
    level: int,
    innermost: bool,
    at: int,
    case: StepCase,
    hardware: IntArray,
    work: IntArray,
    floats: FloatArray,
) -> tuple[int, int, float]:
    """Cycles of the slowest sub-cluster, or of the busiest PE at the innermost level.

    Returns:
        A set of edge tiles whose sub-cluster is not evaluated yet, or NOTHING_MISSING with the
        cycles and the PEs at work in all sub-clusters (0 at the innermost level). A case that is
        skipped takes no time.
    """
    if case.critical <= 0:
        return NOTHING_MISSING, 0, 0.0
    if not innermost:
        return _slowest(level, at, case, work, floats)
    lanes = hardware[LANES]
    compute = case.critical if lanes == 1 else (case.critical + lanes - 1) // lanes
    return NOTHING_MISSING, compute, 0.0


@part
def _slowest(
    level: int, at: int, case: StepCase, work: IntArray, floats: FloatArray
) -> tuple[int, int, float]:
    """A ragged last sub-cluster comes first, then the full ones, as in `AnalyzeClusterLevel_V2`."""
    memo = (level + 1) * SETS
    edge_units = work[at + EDGE_UNITS]
    units = edge_units if case.pattern1 > 0 else work[at + UNITS]
    tail = _tail_edges(at, case, work)
    compute = 0
    working = 0.0
    if case.pattern1 & 1:
        ragged = case.edges | tail
        if work[MEMO_STAMP + memo + ragged] != work[STAMP]:
            return ragged, 0, 0.0
        compute = work[MEMO_RUNTIME + memo + ragged]
        working = floats[memo + ragged]
        units -= 1
        if units <= 0:
            return NOTHING_MISSING, compute, working
    full = case.edges | (tail if edge_units == 1 else 0)
    if work[MEMO_STAMP + memo + full] != work[STAMP]:
        return full, 0, 0.0
    compute = max(compute, work[MEMO_RUNTIME + memo + full])
    working += floats[memo + full] * units
    return NOTHING_MISSING, compute, working


@part
def _tail_edges(at: int, case: StepCase, work: IntArray) -> int:
    """Set of the spatial maps that are in an edge tile in the last sub-cluster."""
    tail = 0
    if case.pattern1 > 0:
        tail = work[at + BIT + work[at + FIRST]]
    if case.pattern2 > 0:
        tail |= work[at + BIT + work[at + SECOND]]
    return tail


@part
def descend(at: int, edges: int, work: IntArray) -> None:
    """Give the level below the tiles of a set (`ConstructSubClusterDimension`)."""
    work[at + CHILD] = edges
    for d in range(work[at + COUNT]):
        row = LAST if (edges >> d) & 1 else TILE
        work[at + LEVEL_SIZE + GIVEN + work[at + VAR + d]] = work[at + row + d]


@part
def remember(level: int, at: int, work: IntArray, floats: FloatArray) -> None:
    """Keep the result of a level that has finished under the set of edge tiles it was given."""
    slot = level * SETS + work[at - LEVEL_SIZE + CHILD]
    count = work[at + OCCURRED]
    work[MEMO_STAMP + slot] = work[STAMP]
    work[MEMO_RUNTIME + slot] = work[at + RUNTIME]
    floats[slot] = floats[BUSY + level] / count if count > 0 else 0.0
