"""The guard's laws, as a kernel tries them: `guard.GUARD_LAWS`, in that order."""

from __future__ import annotations

import numpy as np

from cost_models.figure_places import (
    AREA_UM2,
    ENERGY_NJ,
    ENERGY_TOTAL_NJ,
    FILTER,
    FILTER_SIZE,
    INPUT,
    INPUT_SIZE,
    INTENSITY,
    L1_BYTES,
    L1_LIMIT,
    L2_BYTES,
    L2_LIMIT,
    L2_READ,
    L2_WRITE,
    LARGEST,
    LATENCY_CYCLES,
    LEAST_AREA,
    LEAST_ENERGY,
    LEAST_LATENCY,
    LEAST_POWER,
    LEAST_TOTAL,
    MACS_OF_LAYER,
    NOC,
    NUM_FIGURES,
    NUM_MACS,
    OUTPUT,
    OUTPUT_SIZE,
    PEAK,
    PES,
    POWER_MW,
    ROUNDING,
    THROUGHPUT,
    UTILIZED_PES,
)
from cost_models.infeasible import ReasonCode
from cost_models.maestro.details import LARGEST_COUNT
from marl_common import FloatArray, part


@part
def judge(figures: FloatArray, facts: FloatArray) -> int:
    """The reason code of the first law that is broken; 0 if none is.

    A figure that is not a number breaks its law: each comparison asks what must hold.
    """
    code = _judge_work(figures, facts)
    if code == 0:
        code = _judge_traffic(figures, facts)
    if code == 0:
        code = _judge_sizes(figures, facts)
    if code == 0:
        code = _judge_bounds(figures, facts)
    if code == 0:
        code = _judge_ranges(figures, facts)
    return code


@part
def _judge_work(figures: FloatArray, facts: FloatArray) -> int:
    latency, macs = figures[LATENCY_CYCLES], facts[MACS_OF_LAYER]
    if not latency >= 1.0:
        return ReasonCode.NO_WORK
    if not figures[NUM_MACS] >= macs:
        return ReasonCode.FEWER_MACS
    if not latency >= np.ceil(macs / facts[PEAK]):
        return ReasonCode.FASTER_THAN_PEAK
    loads = figures[INPUT + L2_READ] + figures[FILTER + L2_READ]
    if not latency >= np.ceil(loads / facts[NOC]):
        return ReasonCode.FASTER_THAN_NOC
    return 0


@part
def _judge_traffic(figures: FloatArray, facts: FloatArray) -> int:
    if not figures[INPUT + L2_READ] >= facts[INPUT_SIZE]:
        return ReasonCode.TRAFFIC_BELOW_INPUT
    if not figures[FILTER + L2_READ] >= facts[FILTER_SIZE]:
        return ReasonCode.TRAFFIC_BELOW_FILTER
    if not figures[OUTPUT + L2_WRITE] >= facts[OUTPUT_SIZE]:
        return ReasonCode.TRAFFIC_BELOW_OUTPUT
    return 0


@part
def _judge_sizes(figures: FloatArray, facts: FloatArray) -> int:
    l1, l2 = figures[L1_BYTES], figures[L2_BYTES]
    if not l1 <= facts[L1_LIMIT]:
        return ReasonCode.L1_CAPACITY
    if not l2 <= facts[L2_LIMIT]:
        return ReasonCode.L2_CAPACITY
    return 0 if l1 <= LARGEST_COUNT and l2 <= LARGEST_COUNT else ReasonCode.OVERFLOWS


@part
def _judge_bounds(figures: FloatArray, facts: FloatArray) -> int:
    holds = (
        figures[ENERGY_NJ] >= facts[LEAST_ENERGY] * ROUNDING
        and figures[ENERGY_TOTAL_NJ] >= facts[LEAST_TOTAL] * ROUNDING
        and figures[AREA_UM2] >= facts[LEAST_AREA] * ROUNDING
        and figures[POWER_MW] >= facts[LEAST_POWER] * ROUNDING
    )
    return 0 if holds else ReasonCode.BELOW_BOUND


@part
def _judge_ranges(figures: FloatArray, facts: FloatArray) -> int:
    for place in range(NUM_FIGURES):
        if not figures[place] >= 0.0:
            return ReasonCode.NEGATIVE
    for place in range(NUM_FIGURES):
        if not figures[place] <= LARGEST:
            return ReasonCode.NOT_FINITE
    return 0 if figures[UTILIZED_PES] <= facts[PES] / ROUNDING else ReasonCode.OVER_UTILISED


@part
def mend(figures: FloatArray, facts: FloatArray) -> None:
    """Mend figures of an answer that is sound but for them.

    MACs that are counted twice in edge tiles are counted once; the latency is lifted to what
    MAESTRO's own output writes take on the NoC, and what the tensors take off chip, both of which
    it leaves out in part.
    """
    latency = max(figures[LATENCY_CYCLES], facts[LEAST_LATENCY])
    latency = max(latency, np.ceil(figures[OUTPUT + L2_WRITE] / facts[NOC]))
    figures[LATENCY_CYCLES] = latency
    figures[NUM_MACS] = facts[MACS_OF_LAYER]
    figures[THROUGHPUT] = facts[MACS_OF_LAYER] / latency


@part
def define_intensity(figures: FloatArray) -> None:
    """Where the last case loads nothing, the intensity is that of the whole layer."""
    if not np.isfinite(figures[INTENSITY]):
        loads = figures[INPUT + L2_READ] + figures[FILTER + L2_READ]
        figures[INTENSITY] = figures[NUM_MACS] / loads if loads > 0 else 0.0
