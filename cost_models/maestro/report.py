"""The figures that MAESTRO reports, from the raw counts of the top level.

`GetCostsFromAnalysisResultsSingleCluster` (`API_user-interface-v2.hpp`).
"""

from __future__ import annotations

import numpy as np

from cost_models.area_power import area_um2, power_mw
from cost_models.energy_tables import L1_ACCESS, L2_ACCESS, MAC_NJ
from cost_models.figure_places import (
    AREA_UM2,
    ENERGY_NJ,
    ENERGY_TOTAL_NJ,
    FILTER,
    FIRST_ACCESS,
    INPUT,
    INTENSITY,
    L1_BYTES,
    L1_READ,
    L1_WRITE,
    L2_BYTES,
    L2_READ,
    L2_WRITE,
    LATENCY_CYCLES,
    NOC_BW_REQ,
    NUM_KINDS,
    NUM_MACS,
    NUM_TENSORS,
    OFFCHIP_BW_REQ,
    OUTPUT,
    POWER_MW,
    THROUGHPUT,
    UTILIZED_PES,
)
from cost_models.infeasible import ReasonCode
from cost_models.maestro.arithmetic import wrap32
from cost_models.maestro.details import (
    AVG_NOC_BW,
    COMPUTE_AVG,
    EGRESS_AVG,
    EGRESS_MAX,
    EGRESS_MIN,
    FIRST_DETAIL,
    GUARDED,
    INGRESS_AVG,
    INGRESS_MAX,
    INGRESS_MIN,
    MAESTRO_LATENCY,
    MAESTRO_MACS,
    OUTPUTS,
    PEAK_NOC_BW,
    RAW,
)
from cost_models.maestro.judging import define_intensity, judge, mend
from cost_models.maestro.layout import (
    ALL_OCCURRED,
    ANY_VALID,
    BW_SUM,
    COMPUTE_SUM,
    FILTER_READS,
    IN_MAX,
    IN_MIN,
    IN_SUM,
    INPUT_READS,
    L1_SIZE,
    L2_SIZE,
    LANES,
    LAST_LOADS,
    LAST_MACS,
    LATENCY,
    LOWEST,
    MACS,
    MASK_FILTER,
    MASK_INPUT,
    MASK_OUTPUT,
    NEVER,
    NO_PES,
    NOC_BW,
    NOC_GIVEN,
    NUM_VARIABLES,
    OFFCHIP_REQ,
    OK,
    OUT_MAX,
    OUT_MIN,
    OUT_SUM,
    OUTPUT_L1,
    OUTPUT_WRITES,
    OVERFLOWED,
    PEAK_BW,
    RECORDS,
    REFUSED,
    REPEATS,
    R,
    S,
    X,
    Y,
)
from marl_common import FloatArray, IntArray, part


@part
def report(
    status: int,
    layer: IntArray,
    facts: FloatArray,
    hardware: IntArray,
    num_pes: int,
    mode: int,
    raw: IntArray,
    active_pes: float,
    figures: FloatArray,
) -> int:
    """Turn raw counts into the reported figures.

    Args:
        status: What became of the mapping: OK, REFUSED, DIES or NO_PES.
        layer: ``(LAYER_ENTRIES,)``.
        facts: See `laws.facts_of`.
        hardware: ``(HARDWARE_ENTRIES,)``.
        num_pes: PEs that are used.
        mode: RAW, GUARDED or WIDE.
        raw: ``(RAW_ENTRIES,)``.
        active_pes: PEs at work.
        figures: ``(OUTPUTS,)``, filled here; all inf where there is a reason.

    Returns:
        The reason code; 0 where there are figures.
    """
    code = _dead(status)
    if code == 0:
        _fill_accesses(layer, raw, figures)
        _fill_figures(layer, hardware, num_pes, raw, active_pes, figures)
        _fill_details(raw, figures)
        if layer[REPEATS] > 1:
            _repeat(layer[REPEATS], figures)
        figures[MAESTRO_MACS] = figures[NUM_MACS]
        figures[MAESTRO_LATENCY] = figures[LATENCY_CYCLES]
        if mode != RAW:
            figures[L1_BYTES], figures[L2_BYTES] = raw[L1_SIZE], raw[L2_SIZE]
        if mode == GUARDED:
            define_intensity(figures)
            if raw[OVERFLOWED]:
                code = ReasonCode.OVERFLOWS
            else:
                code = judge(figures, facts)
                mend(figures, facts)
                _mend_details(figures)
    if code != 0:
        for place in range(OUTPUTS):
            figures[place] = np.inf
    return code


@part
def _dead(status: int) -> int:
    """The reason code of a mapping that has no figures at all."""
    if status == OK:
        return 0
    if status == REFUSED:
        return ReasonCode.REFUSED
    return ReasonCode.PE_COUNT if status == NO_PES else ReasonCode.DIES


@part
def _fill_accesses(layer: IntArray, raw: IntArray, figures: FloatArray) -> None:
    """Accesses of every tensor; partial sums count as outputs in L1, and are not read from L2."""
    macs = raw[MACS]
    inputs = _tensor_size(layer, layer[MASK_INPUT], False)
    filters = _tensor_size(layer, layer[MASK_FILTER], False)
    _fill_loads(INPUT, macs, raw[INPUT_READS], inputs, figures)
    _fill_loads(FILTER, macs, raw[FILTER_READS], filters, figures)
    figures[OUTPUT + L1_READ] = raw[OUTPUT_L1]
    figures[OUTPUT + L1_WRITE] = raw[OUTPUT_L1]
    figures[OUTPUT + L2_READ] = _tensor_size(layer, layer[MASK_OUTPUT], True)
    figures[OUTPUT + L2_WRITE] = raw[OUTPUT_WRITES]


@part
def _fill_loads(tensor: int, macs: int, reads: int, size: int, figures: FloatArray) -> None:
    """Accesses of an input: each element is written to L2 once."""
    figures[tensor + L1_READ] = macs
    figures[tensor + L1_WRITE] = reads
    figures[tensor + L2_READ] = reads
    figures[tensor + L2_WRITE] = size


@part
def _tensor_size(layer: IntArray, mask: int, output: bool) -> int:
    """Elements of a tensor; output rows and columns without the stride."""
    size = 1
    for var in range(NUM_VARIABLES):
        if (mask >> var) & 1:
            extent = layer[var]
            if output and var >= X:
                extent -= (layer[R] if var == Y else layer[S]) - 1
            size *= extent
    return size


@part
def _fill_figures(
    layer: IntArray,
    hardware: IntArray,
    num_pes: int,
    raw: IntArray,
    active_pes: float,
    figures: FloatArray,
) -> None:
    macs, latency = raw[MACS], raw[LATENCY]
    l1_bytes, l2_bytes = float(wrap32(raw[L1_SIZE])), float(wrap32(raw[L2_SIZE]))
    pes, lanes = float(num_pes), float(hardware[LANES])
    bandwidth = float(hardware[NOC_BW]) if hardware[NOC_GIVEN] else float(raw[PEAK_BW])
    energy, total = _energies(raw, figures)
    figures[LATENCY_CYCLES] = latency
    figures[ENERGY_NJ] = MAC_NJ * energy
    figures[ENERGY_TOTAL_NJ] = MAC_NJ * total
    figures[POWER_MW] = power_mw(pes, lanes, l1_bytes, l2_bytes, bandwidth)
    figures[AREA_UM2] = area_um2(pes, lanes, l1_bytes, l2_bytes, bandwidth)
    figures[THROUGHPUT] = float(macs) / float(latency)
    figures[NUM_MACS] = macs
    figures[L1_BYTES] = l1_bytes
    figures[L2_BYTES] = l2_bytes
    figures[NOC_BW_REQ] = raw[PEAK_BW]
    figures[OFFCHIP_BW_REQ] = raw[OFFCHIP_REQ]
    figures[UTILIZED_PES] = active_pes
    figures[INTENSITY] = 0.0
    if raw[ANY_VALID] > 0:
        figures[INTENSITY] = float(raw[LAST_MACS]) / float(raw[LAST_LOADS])


@part
def _energies(raw: IntArray, figures: FloatArray) -> tuple[float, float]:
    """MAESTRO's energy, and the energy with every part, in MACs.

    Added up one by one, as the program does: the order decides the last digit.
    """
    energy = L2_ACCESS * figures[INPUT + L2_READ]
    energy += L2_ACCESS * figures[INPUT + L2_WRITE]
    energy += L2_ACCESS * figures[FILTER + L2_READ]
    energy += L2_ACCESS * figures[FILTER + L2_WRITE]
    energy += L2_ACCESS * figures[OUTPUT + L2_WRITE]
    total = energy
    for number in range(NUM_TENSORS):
        tensor = INPUT + number * NUM_KINDS
        total += L1_ACCESS * figures[tensor + L1_READ]
        total += L1_ACCESS * figures[tensor + L1_WRITE]
    if raw[RECORDS] == 1:
        energy = total
    total += L2_ACCESS * figures[OUTPUT + L2_READ] + raw[MACS]
    return energy, total


@part
def _fill_details(raw: IntArray, figures: FloatArray) -> None:
    count = raw[ALL_OCCURRED]
    figures[AVG_NOC_BW] = float(raw[BW_SUM]) / float(count)
    figures[PEAK_NOC_BW] = raw[PEAK_BW]
    figures[INGRESS_MIN] = raw[IN_MIN] if raw[IN_MIN] != NEVER else LOWEST
    figures[INGRESS_MAX] = raw[IN_MAX]
    figures[INGRESS_AVG] = _average(raw[IN_SUM], count)
    figures[EGRESS_MIN] = raw[OUT_MIN] if raw[OUT_MIN] != NEVER else LOWEST
    figures[EGRESS_MAX] = raw[OUT_MAX]
    figures[EGRESS_AVG] = _average(raw[OUT_SUM], count)
    figures[COMPUTE_AVG] = _average(raw[COMPUTE_SUM], count)


@part
def _mend_details(figures: FloatArray) -> None:
    """A case that writes a negative number of outputs takes no negative time."""
    for place in range(INGRESS_MIN, COMPUTE_AVG + 1):
        figures[place] = max(figures[place], 0.0)


@part
def _average(total: int, count: int) -> float:
    """The truncated mean; what x86 makes of a nan where there is nothing to average."""
    if count == 0:
        return LOWEST
    return float(total // count if total >= 0 else -(-total // count))


@part
def _repeat(repeats: int, figures: FloatArray) -> None:
    """The independent products of a GEMM run one after the other: latency, energies, accesses."""
    for place in range(POWER_MW):
        figures[place] *= repeats
    figures[NUM_MACS] *= repeats
    for place in range(FIRST_ACCESS, FIRST_DETAIL):
        figures[place] *= repeats
