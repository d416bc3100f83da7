"""The figures that MAESTRO reports, from the raw counts of the top level.

`GetCostsFromAnalysisResultsSingleCluster` (`API_user-interface-v2.hpp`).
"""

from __future__ import annotations

import numpy as np

from cost_models import physical
from cost_models.cost import FIGURES, TENSORS
from cost_models.infeasible import ReasonCode
from cost_models.maestro.guard import judge
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
    PEAK_BW,
    RECORDS,
    REFUSED,
    REPEATS,
    FloatArray,
    IntArray,
    R,
    S,
    X,
    Y,
    part,
)

ACCESS_KINDS = ("l1_read", "l1_write", "l2_read", "l2_write")
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
)
FIRST_ACCESS = len(FIGURES)
FIRST_DETAIL = FIRST_ACCESS + len(TENSORS) * len(ACCESS_KINDS)
OUTPUTS = FIRST_DETAIL + len(DETAILS)

# Places in an array of figures: figures[place], in the order of FIGURES, TENSORS and DETAILS.
LATENCY_CYCLES, ENERGY_NJ, ENERGY_TOTAL_NJ, POWER_MW, AREA_UM2, THROUGHPUT, NUM_MACS = range(7)
L1_BYTES, L2_BYTES, NOC_BW_REQ, OFFCHIP_BW_REQ, UTILIZED_PES, INTENSITY = range(7, FIRST_ACCESS)
L1_READ, L1_WRITE, L2_READ, L2_WRITE = range(4)
INPUT, FILTER, OUTPUT = range(FIRST_ACCESS, FIRST_DETAIL, len(ACCESS_KINDS))
"""Accesses of a tensor: ``figures[INPUT + L2_READ]``."""
AVG_NOC_BW, PEAK_NOC_BW, INGRESS_MIN, INGRESS_MAX, INGRESS_AVG = range(
    FIRST_DETAIL, FIRST_DETAIL + 5
)
EGRESS_MIN, EGRESS_MAX, EGRESS_AVG, COMPUTE_AVG = range(FIRST_DETAIL + 5, OUTPUTS)

_REFUSED = int(ReasonCode.REFUSED)
_DIES = int(ReasonCode.DIES)
_PE_COUNT = int(ReasonCode.PE_COUNT)

_area_um2 = part(physical.area_um2)
_power_mw = part(physical.power_mw)
_L1_NJ, _L2_NJ, _MAC_NJ = physical.L1_ACCESS, physical.L2_ACCESS, physical.MAC_NJ
_LOWEST = float(np.iinfo(np.int64).min)


@part
def report(
    status: int,
    layer: IntArray,
    laws: FloatArray,
    hardware: IntArray,
    num_pes: int,
    guard: bool,
    raw: IntArray,
    active_pes: float,
    figures: FloatArray,
) -> int:
    """Turn raw counts into the reported figures.

    Args:
        status: What became of the mapping: OK, REFUSED, DIES or NO_PES.
        layer: ``(LAYER_ENTRIES,)``.
        laws: See `guard.laws_of`.
        hardware: ``(HARDWARE_ENTRIES,)``.
        num_pes: PEs that are used.
        guard: Whether impossible figures are refused.
        raw: ``(RAW_ENTRIES,)``.
        active_pes: PEs at work.
        figures: ``(OUTPUTS,)``, filled here; all inf where there is a reason.

    Returns:
        The reason code; 0 where there are figures.
    """
    code = 0
    if status == REFUSED:
        code = _REFUSED
    elif status == NO_PES:
        code = _PE_COUNT
    elif status != OK:
        code = _DIES
    else:
        _fill_accesses(layer, raw, figures)
        _fill_figures(layer, hardware, num_pes, raw, active_pes, figures)
        _fill_details(raw, figures)
        if layer[REPEATS] > 1:
            _repeat(layer[REPEATS], figures)
        if guard:
            code = judge(
                laws,
                hardware,
                num_pes,
                figures[LATENCY_CYCLES],
                figures[NUM_MACS],
                figures[INPUT + L2_READ],
                figures[FILTER + L2_READ],
                figures[OUTPUT + L2_WRITE],
                figures[L1_BYTES],
                figures[L2_BYTES],
            )
    if code != 0:
        figures[:] = np.inf
    return code


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
    l1_bytes, l2_bytes = float(raw[L1_SIZE]), float(raw[L2_SIZE])
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
