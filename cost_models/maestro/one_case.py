"""One case of a level: what moves, how long that takes, and where it is added.

It is the body of the loop over iteration cases in `AnalyzeClusterLevel_V2`
(`CA_cost-analysis-engine.hpp`). Its volumes are products that `cases` and `shares` keep at hand.
"""

from __future__ import annotations

from cost_models.maestro.arithmetic import quotient, wrap32
from cost_models.maestro.layout import (
    ACTIVE,
    CASE,
    DESCENDS,
    DIES,
    EXITS,
    MAX_MAPS,
    NOC_BW,
    OK,
    OVERFLOWED,
    PATTERN_1,
    PATTERN_2,
    REFUSED,
    S_CRITICAL,
    S_EGRESS,
    S_FILTER,
    S_INPUT,
    S_MACS,
    SHARE,
    SHARE_ROWS,
    SIZED,
    T_FILTER,
    T_INPUT,
    V_FILTER,
    V_INPUT,
    VALID,
    W_ALL,
    W_OCCURS,
    W_OUT,
    W_SET,
    W_STATE,
    WALKER_1,
    WALKER_2,
    StepCase,
)
from cost_models.maestro.sub_clusters import compute_delay, descend
from cost_models.maestro.totals import (
    add_case,
    add_outputs,
    add_traffic,
    offchip_delay,
    size_buffers,
)
from marl_common import FloatArray, IntArray, part


@part
def evaluate_case(
    level: int,
    innermost: bool,
    at: int,
    hardware: IntArray,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
) -> int:
    """Evaluate the case at hand and add it to its level, and at the top to the raw counts.

    Returns:
        OK; DESCENDS where a sub-cluster must be evaluated first, which is then set up in the next
        block; REFUSED or DIES where MAESTRO does.
    """
    case = _case_at_hand(at, work, raw)
    if case.occurs <= 0:
        return DIES
    if case.inputs == EXITS:
        return REFUSED
    missing, compute, working = compute_delay(level, innermost, at, case, hardware, work, floats)
    if missing >= 0:
        descend(at, missing, work)
        return DESCENDS
    if work[at + VALID] == 0:
        work[at + SIZED] += 1
        if level == 0:
            size_buffers(case, raw)
    if level == 0:
        add_outputs(case, raw)
    if case.critical > 0:
        return _account(level, at, case, compute, working, hardware, work, floats, raw)
    return OK


@part
def _case_at_hand(at: int, work: IntArray, raw: IntArray) -> StepCase:
    active = work[at + ACTIVE]
    walker1, walker2 = work[at + WALKER_1], work[at + WALKER_2]
    pattern1 = work[at + PATTERN_1 + (work[at + W_STATE + walker1] if walker1 >= 0 else 0)]
    pattern2 = work[at + PATTERN_2 + (work[at + W_STATE + walker2] if walker2 >= 0 else 0)]
    share = at + SHARE + (4 * pattern1 + pattern2) * SHARE_ROWS
    occurs = work[at + W_OCCURS + active]
    if occurs > 0x7FFFFFFF:
        occurs = wrap32(occurs)
        raw[OVERFLOWED] = 1
    critical = work[at + W_ALL + active] * work[share + S_CRITICAL]
    inputs = filters = 0
    if critical > 0 or work[at + VALID] == 0:
        inputs, filters = _loads(at, active, share, work)
    return StepCase(
        occurs,
        inputs,
        filters,
        work[at + W_OUT + active] * work[share + S_EGRESS],
        work[at + W_ALL + active] * work[share + S_MACS],
        critical,
        work[at + W_SET + active],
        pattern1,
        pattern2,
    )


@part
def _loads(at: int, active: int, share: int, work: IntArray) -> tuple[int, int]:
    """Inputs and filters that are loaded: what is new since the innermost directive that moved."""
    moved = at + MAX_MAPS
    for k in range(active - 1, -1, -1):
        if work[at + W_STATE + k] != 0:
            moved = at + k
            break
    input_variant, filter_variant = work[moved + V_INPUT], work[moved + V_FILTER]
    if input_variant == EXITS or filter_variant == EXITS:
        return EXITS, EXITS
    return (
        work[moved + T_INPUT] * work[share + S_INPUT + input_variant],
        work[moved + T_FILTER] * work[share + S_FILTER + filter_variant],
    )


@part
def _account(
    level: int,
    at: int,
    case: StepCase,
    compute: int,
    working: float,
    hardware: IntArray,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
) -> int:
    """Add a case that is not skipped; the very first one hides no load behind compute.

    Returns:
        OK, or DIES: MAESTRO divides by the compute cycles for the off-chip requirement.
    """
    into = _noc_delay(case.inputs + case.filters, hardware[NOC_BW])
    out = _noc_delay(case.egress, hardware[NOC_BW])
    delay = compute + into if work[at + CASE] == 0 else max(out, compute, into)
    if level == 0:
        if compute == 0:
            return DIES
        add_traffic(case, into, out, compute, raw)
        delay = offchip_delay(delay, compute, hardware, raw)
    add_case(level, at, case, delay, working, work, floats)
    return OK


@part
def _noc_delay(elements: int, bandwidth: int) -> int:
    """Cycles to send elements over the NoC, with one hop of one cycle (`GetOutStandingDelay`)."""
    if 0 <= elements <= bandwidth:
        return 1 if elements > 0 else 0
    whole = quotient(elements, bandwidth)
    return whole + (1 if whole * bandwidth != elements else 0)
