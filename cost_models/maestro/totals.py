"""Where a case is added: buffer sizes, traffic and delays of the top level, results of each level.

In MAESTRO these are the updates of `CostAnalyisResults` in `AnalyzeClusterLevel_V2` and in
`UpdateBufferSizeReq` (`CA_cost-analysis-engine.hpp`).
"""

from __future__ import annotations

from cost_models.maestro.arithmetic import quotient
from cost_models.maestro.layout import (
    ALL_OCCURRED,
    ANY_VALID,
    BUSY,
    BW_SUM,
    COMPUTE_SUM,
    COUNT,
    COUPLED,
    EDGE_UNITS,
    FILTER_READS,
    IN_FILTER,
    IN_INPUT,
    IN_MAX,
    IN_MIN,
    IN_OUTPUT,
    IN_SUM,
    INPUT_READS,
    L1_SIZE,
    L2_LOADS,
    L2_OUTPUT,
    L2_SIZE,
    LAST_LOADS,
    LAST_MACS,
    LATENCY,
    MACS,
    OCCURRED,
    OFFCHIP_BW,
    OFFCHIP_REQ,
    OUT_MAX,
    OUT_MIN,
    OUT_SUM,
    OUTPUT_L1,
    OUTPUT_WRITES,
    PEAK_BW,
    RECORDS,
    RUNTIME,
    SIZED,
    TILE,
    UNITS,
    VALID,
    StepCase,
)
from marl_common import FloatArray, IntArray, part


@part
def size_buffers(case: StepCase, raw: IntArray) -> None:
    """The L2 requirement, twice what a case moves; inputs add up over cases, outputs do not."""
    raw[L2_LOADS] += 2 * (case.inputs + case.filters)
    raw[L2_OUTPUT] = 2 * case.egress


@part
def add_outputs(case: StepCase, raw: IntArray) -> None:
    """Count outputs, also those of a case that is then skipped."""
    raw[OUTPUT_WRITES] += case.occurs * case.egress
    raw[OUTPUT_L1] += case.occurs * case.macs


@part
def add_traffic(case: StepCase, into: int, out: int, compute: int, raw: IntArray) -> None:
    """Add a case of the top level to the traffic, delay and bandwidth figures."""
    occurs, loads = case.occurs, case.inputs + case.filters
    raw[INPUT_READS] += occurs * case.inputs
    raw[FILTER_READS] += occurs * case.filters
    raw[MACS] += occurs * case.macs
    raw[LAST_MACS] = case.macs
    raw[LAST_LOADS] = loads
    widest = max(loads, case.egress)
    if widest >= (raw[PEAK_BW] + 1) * compute:  # spares a division in most cases
        raw[PEAK_BW] = widest // compute
    raw[BW_SUM] += quotient(occurs * widest, compute)
    raw[IN_MIN] = min(raw[IN_MIN], into)
    raw[IN_MAX] = max(raw[IN_MAX], into)
    raw[IN_SUM] += occurs * into
    raw[OUT_MIN] = min(raw[OUT_MIN], out)
    raw[OUT_MAX] = max(raw[OUT_MAX], out)
    raw[OUT_SUM] += occurs * out
    raw[COMPUTE_SUM] += occurs * compute


@part
def offchip_delay(delay: int, compute: int, hardware: IntArray, raw: IntArray) -> int:
    """The delay with the off-chip boundary, which MAESTRO charges by buffer size in every case."""
    loads, output = raw[L2_LOADS], raw[L2_OUTPUT]
    need = max(raw[OFFCHIP_REQ], quotient(max(output, loads), compute))
    raw[OFFCHIP_REQ] = quotient(need, 2)
    bandwidth = hardware[OFFCHIP_BW]
    if loads < bandwidth and 0 <= output < bandwidth:
        return max(delay, 0)
    fill = quotient(quotient(loads, bandwidth), 2)
    drain = quotient(quotient(output, bandwidth), 2)
    return max(fill, delay, drain)


@part
def add_case(
    level: int,
    at: int,
    case: StepCase,
    delay: int,
    working: float,
    work: IntArray,
    floats: FloatArray,
) -> None:
    """Add a case to its level's cycles and active PEs."""
    if working == 0.0:
        working = float(work[at + (EDGE_UNITS if case.pattern1 > 0 else UNITS)])
    floats[BUSY + level] += working * case.occurs
    work[at + RUNTIME] += case.occurs * delay
    work[at + VALID] += 1
    work[at + OCCURRED] += case.occurs


@part
def add_record(at: int, work: IntArray, raw: IntArray) -> None:
    """Count a level that has finished; the first one decides the L1 requirement."""
    raw[RECORDS] += 1
    if raw[RECORDS] == 1:
        raw[L1_SIZE] = _l1_size(at, work)


@part
def _l1_size(at: int, work: IntArray) -> int:
    """L1 requirement of a level: two tiles of each tensor, inputs once for each case looked at."""
    inputs = filters = outputs = 1
    for d in range(work[at + COUNT]):
        coupled, tile = work[at + COUPLED + d], work[at + TILE + d]
        if coupled & IN_INPUT:
            inputs *= tile
        if coupled & IN_FILTER:
            filters *= tile
        if coupled & IN_OUTPUT:
            outputs *= tile
    return 2 * (work[at + SIZED] * (inputs + filters) + outputs)


@part
def conclude(work: IntArray, floats: FloatArray, raw: IntArray) -> None:
    """Take over what the top level has added up."""
    raw[LATENCY] = work[RUNTIME]
    raw[ANY_VALID] = work[VALID]
    raw[ALL_OCCURRED] = work[OCCURRED]
    raw[L2_SIZE] = raw[L2_LOADS] + raw[L2_OUTPUT]
    if work[OCCURRED] > 0:
        floats[BUSY] /= work[OCCURRED]
