"""MAESTRO's analysis of one mapping: the walk over every case of every cluster level.

`AnalyzeClusterLevel_V2` (`CA_cost-analysis-engine.hpp`) calls itself for the sub-clusters of each
case. But a sub-level's result depends only on which directives of the level above are in an edge
tile, so here it is evaluated once per such set and looked up after that (`sub_clusters`), and the
levels are walked with an explicit stack.
"""

from __future__ import annotations

from cost_models.maestro.cases import next_case, start_level
from cost_models.maestro.layout import (
    BUSY,
    CASE,
    CASES,
    DESCENDS,
    GIVEN,
    IN_MIN,
    LEVEL_SIZE,
    NEVER,
    NUM_VARIABLES,
    OK,
    OUT_MIN,
    RAW_ENTRIES,
    STAMP,
    M,
)
from cost_models.maestro.levels import build_levels
from cost_models.maestro.one_case import evaluate_case
from cost_models.maestro.sub_clusters import remember
from cost_models.maestro.totals import add_record, conclude
from marl_common import FloatArray, IntArray, part


@part
def analyse(
    layer: IntArray,
    hardware: IntArray,
    num_pes: int,
    num_levels: int,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
) -> int:
    """Analyse one program (`AnalyzeEntireCluster`).

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        hardware: ``(HARDWARE_ENTRIES,)``.
        num_pes: PEs that are used.
        num_levels: Levels of the program.
        work: ``(WORK_SIZE,)`` scratch, see `layout`; holds the program.
        floats: ``(WORK_FLOATS,)`` scratch; ``floats[BUSY]`` holds the active PEs afterwards.
        raw: ``(RAW_ENTRIES,)``, filled here with the top level's counts.

    Returns:
        OK, REFUSED, NO_PES, or DIES (a division by zero or an integer overflow).
    """
    status = build_levels(layer, num_pes, num_levels, work)
    if status != OK:
        return status
    _begin(layer, work, floats, raw)
    gemm = layer[M] > 0
    start_level(gemm, 0, work)
    level = 0
    at = 0
    while True:
        if work[at + CASE] < work[at + CASES]:
            status = evaluate_case(level, level == num_levels - 1, at, hardware, work, floats, raw)
            if status == OK:
                next_case(at, work)
            elif status == DESCENDS:
                level += 1
                at += LEVEL_SIZE
                start_level(gemm, at, work)
                floats[BUSY + level] = 0.0
            else:
                return status
        else:
            add_record(at, work, raw)
            if level == 0:
                conclude(work, floats, raw)
                return OK
            remember(level, at, work, floats)
            level -= 1
            at -= LEVEL_SIZE


@part
def _begin(layer: IntArray, work: IntArray, floats: FloatArray, raw: IntArray) -> None:
    """Forget the mapping before, and give the top level the whole layer."""
    for entry in range(RAW_ENTRIES):
        raw[entry] = 0
    raw[IN_MIN] = raw[OUT_MIN] = NEVER
    work[STAMP] += 1
    for var in range(NUM_VARIABLES):
        work[GIVEN + var] = layer[var]
    floats[BUSY] = 0.0
