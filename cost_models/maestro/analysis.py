"""MAESTRO's analysis of one mapping: every case of every level (`CA_cost-analysis-engine.hpp`).

A sub-level's result depends only on which directives of the level above are in an edge tile, so it
is evaluated once per such set and looked up after that. Levels are walked with an explicit stack.
"""

from __future__ import annotations

from cost_models.maestro.cases import next_case, start_level
from cost_models.maestro.layout import (
    ACTIVE,
    ALL_OCCURRED,
    ANY_VALID,
    BIT,
    BUSY,
    BW_SUM,
    CASE,
    CASES,
    CHILD,
    COMPUTE_SUM,
    COUNT,
    COUPLED,
    DIES,
    EDGE_UNITS,
    EXITS,
    FILTER_READS,
    FIRST,
    GIVEN,
    IN_FILTER,
    IN_INPUT,
    IN_MAX,
    IN_MIN,
    IN_OUTPUT,
    IN_SUM,
    INPUT_READS,
    L1_SIZE,
    L2_SIZE,
    LANES,
    LAST,
    LAST_LOADS,
    LAST_MACS,
    LATENCY,
    LEVEL_SIZE,
    MACS,
    MAX_MAPS,
    MEMO_RUNTIME,
    MEMO_STAMP,
    NEVER,
    NOC_BW,
    NUM_VARIABLES,
    OCCURRED,
    OFFCHIP_BW,
    OFFCHIP_REQ,
    OK,
    OUT_MAX,
    OUT_MIN,
    OUT_SUM,
    OUTPUT_L1,
    OUTPUT_WRITES,
    PATTERN_1,
    PATTERN_2,
    PEAK_BW,
    RAW_ENTRIES,
    RECORDS,
    REFUSED,
    RUNTIME,
    S_CRITICAL,
    S_EGRESS,
    S_FILTER,
    S_INPUT,
    S_MACS,
    SECOND,
    SETS,
    SHARE,
    SHARE_ROWS,
    SIZED,
    STAMP,
    T_FILTER,
    T_INPUT,
    TILE,
    TWO,
    UNITS,
    V_FILTER,
    V_INPUT,
    VALID,
    VAR,
    W_ALL,
    W_OCCURS,
    W_OUT,
    W_SET,
    W_STATE,
    WALKER_1,
    WALKER_2,
    ZERO,
    FloatArray,
    IntArray,
    M,
    part,
    quotient,
    wrap32,
)
from cost_models.maestro.levels import build_levels


@part
def analyse(
    layer: IntArray,
    hardware: IntArray,
    num_pes: int,
    program: IntArray,
    counts: IntArray,
    clusters: IntArray,
    num_levels: int,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
) -> int:
    """Analyse one program.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        hardware: ``(HARDWARE_ENTRIES,)``.
        num_pes: PEs that are used.
        program: ``(MAX_LEVELS, PROGRAM_ROWS, MAX_MAPS)``.
        counts: ``(MAX_LEVELS,)`` maps of each level.
        clusters: ``(MAX_LEVELS,)`` cluster sizes.
        num_levels: Levels of the program.
        work: ``(WORK_SIZE,)`` scratch, see `layout`.
        floats: ``(WORK_FLOATS,)`` scratch; ``floats[BUSY]`` holds the active PEs afterwards.
        raw: ``(RAW_ENTRIES,)``, filled here with the top level's counts.

    Returns:
        OK, REFUSED, NO_PES, or DIES (a division by zero or an integer overflow).
    """
    status = build_levels(layer, num_pes, program, counts, clusters, num_levels, work)
    if status != OK:
        return status
    for entry in range(RAW_ENTRIES):
        raw[entry] = 0
    raw[IN_MIN] = raw[OUT_MIN] = NEVER
    work[STAMP] += 1
    for var in range(NUM_VARIABLES):
        work[GIVEN + var] = layer[var]
    gemm = layer[M] > 0
    start_level(gemm, ZERO, work)
    floats[BUSY] = 0.0
    input_size = filter_size = output_size = 0
    level = at = ZERO
    while True:
        if work[at + CASE] == work[at + CASES]:
            raw[RECORDS] += 1
            if raw[RECORDS] == 1:
                raw[L1_SIZE] = _l1_size(at, work)
            if level == 0:
                break
            _remember(level, at, work, floats)
            level -= 1
            at -= LEVEL_SIZE
            continue

        active = work[at + ACTIVE]
        walker1, walker2 = work[at + WALKER_1], work[at + WALKER_2]
        pattern1 = work[at + PATTERN_1 + (work[at + W_STATE + walker1] if walker1 >= 0 else 0)]
        pattern2 = work[at + PATTERN_2 + (work[at + W_STATE + walker2] if walker2 >= 0 else 0)]
        share = at + SHARE + (4 * pattern1 + pattern2) * SHARE_ROWS
        occurs = work[at + W_OCCURS + active]
        if occurs > 0x7FFFFFFF:
            occurs = wrap32(occurs)
        if occurs <= 0:
            return DIES
        critical = work[at + W_ALL + active] * work[share + S_CRITICAL]
        valid = work[at + VALID]
        inputs = filters = 0
        if valid == 0 or critical > 0:
            moved = at + _moved(at, active, work)
            input_variant, filter_variant = work[moved + V_INPUT], work[moved + V_FILTER]
            if input_variant == EXITS or filter_variant == EXITS:
                return REFUSED
            inputs = work[moved + T_INPUT] * work[share + S_INPUT + input_variant]
            filters = work[moved + T_FILTER] * work[share + S_FILTER + filter_variant]

        compute = 0
        working = 0.0
        if critical > 0:
            if level == num_levels - 1:
                lanes = hardware[LANES]
                compute = critical if lanes == 1 else (critical + lanes - 1) // lanes
            else:
                edges = work[at + W_SET + active]
                missing, compute, working = _children(
                    level, at, edges, pattern1, pattern2, work, floats
                )
                if missing >= 0:
                    work[at + CHILD] = missing
                    for d in range(work[at + COUNT]):
                        row = LAST if (missing >> d) & 1 else TILE
                        var = work[at + VAR + d]
                        work[at + LEVEL_SIZE + GIVEN + var] = work[at + row + d]
                    level += 1
                    at += LEVEL_SIZE
                    start_level(gemm, at, work)
                    floats[BUSY + level] = 0.0
                    continue

        macs = work[at + W_ALL + active] * work[share + S_MACS]
        egress = work[at + W_OUT + active] * work[share + S_EGRESS]
        if valid == 0:
            work[at + SIZED] += 1
        if level == 0:
            if valid == 0:
                input_size += 2 * inputs
                filter_size += 2 * filters
                output_size = 2 * egress
            raw[OUTPUT_WRITES] += occurs * egress
            raw[OUTPUT_L1] += occurs * macs
        if critical > 0:
            loads = inputs + filters
            into = _sends(loads, hardware[NOC_BW])
            out = _sends(egress, hardware[NOC_BW])
            delay = compute + into if work[at + CASE] == 0 else max(out, compute, into)
            if level == 0:
                if compute == 0:
                    return DIES
                raw[INPUT_READS] += occurs * inputs
                raw[FILTER_READS] += occurs * filters
                raw[MACS] += occurs * macs
                raw[LAST_MACS] = macs
                raw[LAST_LOADS] = loads
                _note_delays(occurs, into, out, compute, max(loads, egress), raw)
                delay = _offchip(
                    delay, compute, input_size + filter_size, output_size, hardware, raw
                )
            if working == 0.0:
                working = float(work[at + (EDGE_UNITS if pattern1 > 0 else UNITS)])
            floats[BUSY + level] += working * occurs
            work[at + RUNTIME] += occurs * delay
            work[at + VALID] += 1
            work[at + OCCURRED] += occurs
        next_case(at, work)

    raw[LATENCY] = work[RUNTIME]
    raw[ANY_VALID] = work[VALID]
    raw[ALL_OCCURRED] = work[OCCURRED]
    raw[L2_SIZE] = wrap32(input_size + filter_size + output_size)
    if work[OCCURRED] > 0:
        floats[BUSY] /= work[OCCURRED]
    return OK


@part
def _moved(at: int, active: int, work: IntArray) -> int:
    """The innermost active directive that is not at its first tile; MAX_MAPS if all are."""
    for k in range(active - 1, -1, -1):
        if work[at + W_STATE + k] != 0:
            return k
    return MAX_MAPS


@part
def _children(
    level: int,
    at: int,
    edges: int,
    pattern1: int,
    pattern2: int,
    work: IntArray,
    floats: FloatArray,
) -> tuple[int, int, float]:
    """The sub-clusters of a case; a ragged last one comes first, then the full ones.

    Returns:
        A set of edge tiles that is not evaluated yet, else -1 with the cycles of the slowest
        sub-cluster and the PEs at work in all of them.
    """
    memo = (level + 1) * SETS
    edge_units = work[at + EDGE_UNITS]
    tail = 0
    if pattern1 > 0:
        tail = work[at + BIT + work[at + FIRST]]
    if pattern2 > 0:
        tail |= work[at + BIT + work[at + SECOND]]
    units = edge_units if pattern1 > 0 else work[at + UNITS]
    compute = 0
    working = 0.0
    if pattern1 & 1:
        ragged = memo + (edges | tail)
        if work[MEMO_STAMP + ragged] != work[STAMP]:
            return edges | tail, 0, 0.0
        compute = work[MEMO_RUNTIME + ragged]
        working = floats[ragged]
        units -= 1
        if units <= 0:
            return -1, compute, working
    full = edges | (tail if edge_units == 1 else 0)
    if work[MEMO_STAMP + memo + full] != work[STAMP]:
        return full, 0, 0.0
    compute = max(compute, work[MEMO_RUNTIME + memo + full])
    working += floats[memo + full] * units
    return -1, compute, working


@part
def _remember(level: int, at: int, work: IntArray, floats: FloatArray) -> None:
    """Keep the result of a level that has finished under the set of edge tiles it was given."""
    slot = level * SETS + work[at - LEVEL_SIZE + CHILD]
    count = work[at + OCCURRED]
    work[MEMO_STAMP + slot] = work[STAMP]
    work[MEMO_RUNTIME + slot] = work[at + RUNTIME]
    floats[slot] = floats[BUSY + level] / count if count > 0 else 0.0


@part
def _sends(elements: int, bandwidth: int) -> int:
    """Cycles to send elements over the NoC, with one hop of one cycle."""
    if 0 <= elements <= bandwidth:
        return 1 if elements > 0 else 0
    whole = quotient(elements, bandwidth)
    return whole + (1 if whole * bandwidth != elements else 0)


@part
def _note_delays(
    occurs: int, into: int, out: int, compute: int, widest: int, raw: IntArray
) -> None:
    """Add a case of the top level to the delay and bandwidth figures."""
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
def _offchip(
    delay: int, compute: int, load_size: int, output_size: int, hardware: IntArray, raw: IntArray
) -> int:
    """The delay with the off-chip boundary, which MAESTRO charges by buffer size in every case."""
    need = max(raw[OFFCHIP_REQ], quotient(max(output_size, load_size), compute))
    raw[OFFCHIP_REQ] = quotient(need, TWO)
    bandwidth = hardware[OFFCHIP_BW]
    if load_size < bandwidth and 0 <= output_size < bandwidth:
        return max(delay, 0)
    fill = quotient(quotient(load_size, bandwidth), TWO)
    drain = quotient(quotient(output_size, bandwidth), TWO)
    return max(fill, delay, drain)


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
    return wrap32(2 * (work[at + SIZED] * (inputs + filters) + outputs))
