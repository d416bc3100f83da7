"""The figures that MAESTRO reports, from the raw counts of the top level.

`GetCostsFromAnalysisResultsSingleCluster` (`API_user-interface-v2.hpp`).
"""

from __future__ import annotations

import numpy as np

from common import FloatArray, IntArray
from cost_models import physical
from cost_models.infeasible import ReasonCode
from cost_models.laws import (
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
    NUM_FIGURES,
    NUM_MACS,
    OFFCHIP_BW_REQ,
    OUTPUT,
    POWER_MW,
    THROUGHPUT,
    UTILIZED_PES,
)
from cost_models.maestro.guard import define_intensity, judge, mend
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
    part,
    wrap32,
)

DETAILS = (
    "avg_noc_bw",
    "peak_noc_bw",
    "ingress_delay_min",
    "ingress_delay_max",
    "ingress_delay_avg",
    "egress_delay_min",
    "egress_delay_max",
    "egress_delay_avg",
    "compute_delay_avg",
    "maestro_macs",
    "maestro_latency_cycles",
)
FIRST_DETAIL = NUM_FIGURES
OUTPUTS = FIRST_DETAIL + len(DETAILS)

# Places in an array of figures after those of `cost_models.laws`, in the order of DETAILS.
AVG_NOC_BW, PEAK_NOC_BW, INGRESS_MIN, INGRESS_MAX, INGRESS_AVG = range(
    FIRST_DETAIL, FIRST_DETAIL + 5
)
EGRESS_MIN, EGRESS_MAX, EGRESS_AVG, COMPUTE_AVG, MAESTRO_MACS, MAESTRO_LATENCY = range(
    FIRST_DETAIL + 5, OUTPUTS
)

RAW, GUARDED, WIDE = range(3)
"""What is reported: the program's figures; those, refused or mended where they are impossible; or
the program's with buffer sizes of 64 bits."""

_REFUSED = int(ReasonCode.REFUSED)
_DIES = int(ReasonCode.DIES)
_PE_COUNT = int(ReasonCode.PE_COUNT)
_OVERFLOWS = int(ReasonCode.OVERFLOWS)

_area_um2 = part(physical.area_um2)
_power_mw = part(physical.power_mw)
_L1_NJ, _L2_NJ, _MAC_NJ = physical.L1_ACCESS, physical.L2_ACCESS, physical.MAC_NJ
_LOWEST = float(np.iinfo(np.int64).min)


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
                code = _OVERFLOWS
            else:
                code = judge(figures, facts)
                mend(figures, facts)
                _mend_details(figures)
    if code != 0:
        figures[:] = np.inf
    return code


@part
def _dead(status: int) -> int:
    """The reason code of a mapping that has no figures at all."""
    if status == OK:
        return 0
    if status == REFUSED:
        return _REFUSED
    return _PE_COUNT if status == NO_PES else _DIES


@part
def _fill_accesses(layer: IntArray, raw: IntArray, figures: FloatArray) -> None:
    """Accesses of every tensor; partial sums count as outputs in L1, and are not read from L2."""
    macs = raw[MACS]
    for at, reads, mask in (
        (INPUT, raw[INPUT_READS], layer[MASK_INPUT]),
        (FILTER, raw[FILTER_READS], layer[MASK_FILTER]),
    ):
        figures[at + L1_READ] = macs
        figures[at + L1_WRITE] = reads
        figures[at + L2_READ] = reads
        figures[at + L2_WRITE] = _tensor_size(layer, mask, False)
    figures[OUTPUT + L1_READ] = raw[OUTPUT_L1]
    figures[OUTPUT + L1_WRITE] = raw[OUTPUT_L1]
    figures[OUTPUT + L2_READ] = _tensor_size(layer, layer[MASK_OUTPUT], True)
    figures[OUTPUT + L2_WRITE] = raw[OUTPUT_WRITES]


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
    figures[ENERGY_NJ] = _MAC_NJ * energy
    figures[ENERGY_TOTAL_NJ] = _MAC_NJ * total
    figures[POWER_MW] = _power_mw(pes, lanes, l1_bytes, l2_bytes, bandwidth)
    figures[AREA_UM2] = _area_um2(pes, lanes, l1_bytes, l2_bytes, bandwidth)
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
    energy = 0.0
    for place in (
        INPUT + L2_READ,
        INPUT + L2_WRITE,
        FILTER + L2_READ,
        FILTER + L2_WRITE,
        OUTPUT + L2_WRITE,
    ):
        energy += _L2_NJ * figures[place]
    total = energy
    for tensor in (INPUT, FILTER, OUTPUT):
        total += _L1_NJ * figures[tensor + L1_READ]
        total += _L1_NJ * figures[tensor + L1_WRITE]
    if raw[RECORDS] == 1:
        energy = total
    total += _L2_NJ * figures[OUTPUT + L2_READ] + raw[MACS]
    return energy, total


@part
def _fill_details(raw: IntArray, figures: FloatArray) -> None:
    count = raw[ALL_OCCURRED]
    figures[AVG_NOC_BW] = float(raw[BW_SUM]) / float(count)
    figures[PEAK_NOC_BW] = raw[PEAK_BW]
    figures[INGRESS_MIN] = raw[IN_MIN] if raw[IN_MIN] != NEVER else _LOWEST
    figures[INGRESS_MAX] = raw[IN_MAX]
    figures[INGRESS_AVG] = _average(raw[IN_SUM], count)
    figures[EGRESS_MIN] = raw[OUT_MIN] if raw[OUT_MIN] != NEVER else _LOWEST
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
        return _LOWEST
    return float(total // count if total >= 0 else -(-total // count))


@part
def _repeat(repeats: int, figures: FloatArray) -> None:
    """The independent products of a GEMM run one after the other."""
    for place in (LATENCY_CYCLES, ENERGY_NJ, ENERGY_TOTAL_NJ, NUM_MACS):
        figures[place] *= repeats
    for place in range(FIRST_ACCESS, FIRST_DETAIL):
        figures[place] *= repeats
