"""The compiled entry points: many mappings as arrays, or one program, through one scalar core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common.jit import entry_point, source_stamp
from cost_models import physical
from cost_models.cost import FIGURES, TENSORS
from cost_models.infeasible import ReasonCode
from cost_models.maestro.analysis import analyse
from cost_models.maestro.guard import judge
from cost_models.maestro.layout import (
    ALL_OCCURRED,
    ANY_VALID,
    BUSY,
    BW_SUM,
    COMPUTE_SUM,
    DEPTHWISE,
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
    MAX_LEVELS,
    MAX_MAPS,
    NEVER,
    NO_PES,
    NOC_BW,
    NOC_GIVEN,
    NUM_PES,
    NUM_VARIABLES,
    OFFCHIP_REQ,
    OK,
    OUT_MAX,
    OUT_MIN,
    OUT_SUM,
    OUTPUT_L1,
    OUTPUT_WRITES,
    P_OFFSET,
    P_PRIME,
    P_SIZE,
    P_SPATIAL,
    P_VAR,
    PEAK_BW,
    PROGRAM_ROWS,
    RAW_ENTRIES,
    RECORDS,
    REFUSED,
    REPEATS,
    STRIDE,
    WORK_FLOATS,
    WORK_SIZE,
    FloatArray,
    G,
    IntArray,
    N,
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

_REFUSED = int(ReasonCode.REFUSED)
_DIES = int(ReasonCode.DIES)
_PE_COUNT = int(ReasonCode.PE_COUNT)

_area_um2 = part(physical.area_um2)
_power_mw = part(physical.power_mw)

L1_NJ = physical.L1_ACCESS
L2_NJ = physical.L2_ACCESS
MAC_NJ = physical.MAC_NJ
_LOWEST = float(np.iinfo(np.int64).min)


@part
def _lower(
    layer: IntArray,
    extents: IntArray,
    orders: NDArray[np.int8],
    parallel: NDArray[np.int8],
    tiles: NDArray[np.int32],
    program: IntArray,
    counts: IntArray,
) -> bool:
    """Lower one mapping to a program, as `lowering.lower_mapping` does; False if it cannot be."""
    stride = layer[STRIDE]
    for level in range(2):
        count = 0
        if level == 0:
            for var in (N, G):
                if layer[var] > 1:
                    program[0, P_VAR, count] = var
                    program[0, P_SPATIAL, count] = 0
                    program[0, P_PRIME, count] = 0
                    program[0, P_SIZE, count] = 1
                    program[0, P_OFFSET, count] = 1
                    count += 1
        for i in range(6):
            dim = orders[level, i]
            if dim < 0 or dim > 5:
                return False
            if dim == 0 and layer[DEPTHWISE]:
                continue
            limit = extents[dim]
            if level == 1:
                limit = min(limit, tiles[0, dim])
            tile = min(tiles[level, dim], limit)
            if tile < 1:
                return False
            spatial = dim == parallel[level]
            if dim >= 4 and not spatial and tile != extents[dim]:
                return False
            axis = dim == 2 or dim == 3
            size = (tile - 1) * stride + 1 if axis else tile
            program[level, P_VAR, count] = (2, 0, Y, X, R, S)[dim]
            program[level, P_SPATIAL, count] = spatial
            program[level, P_PRIME, count] = axis
            program[level, P_SIZE, count] = size
            program[level, P_OFFSET, count] = size
            count += 1
        counts[level] = count
    return True


@part
def _report(
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
    """Turn raw counts into the reported figures; the reason code, with all figures inf if not 0."""
    code = 0
    if status == REFUSED:
        code = _REFUSED
    elif status == NO_PES:
        code = _PE_COUNT
    elif status != OK:
        code = _DIES
    else:
        _fill(layer, hardware, num_pes, raw, active_pes, figures)
        if guard:
            code = judge(
                laws,
                hardware,
                num_pes,
                figures[0],
                figures[6],
                figures[FIRST_ACCESS + 2],
                figures[FIRST_ACCESS + 6],
                figures[FIRST_ACCESS + 11],
                figures[7],
                figures[8],
            )
    if code != 0:
        figures[:] = np.inf
    return code


@part
def _fill(
    layer: IntArray,
    hardware: IntArray,
    num_pes: int,
    raw: IntArray,
    active_pes: float,
    figures: FloatArray,
) -> None:
    """The figures of `OUTPUTS` in order, from the raw counts of the top level."""
    repeats = layer[REPEATS]
    input_size = filter_size = output_size = 1
    for var in range(NUM_VARIABLES):
        size = layer[var]
        if (layer[MASK_INPUT] >> var) & 1:
            input_size *= size
        if (layer[MASK_FILTER] >> var) & 1:
            filter_size *= size
        if (layer[MASK_OUTPUT] >> var) & 1:
            if var == X:
                size = size - layer[S] + 1
            elif var == Y:
                size = size - layer[R] + 1
            output_size *= size
    macs = raw[MACS]
    at = FIRST_ACCESS
    for tensor in range(2):
        reads = raw[INPUT_READS] if tensor == 0 else raw[FILTER_READS]
        figures[at] = macs
        figures[at + 1] = reads
        figures[at + 2] = reads
        figures[at + 3] = input_size if tensor == 0 else filter_size
        at += 4
    figures[at] = raw[OUTPUT_L1]
    figures[at + 1] = raw[OUTPUT_L1]
    figures[at + 2] = output_size
    figures[at + 3] = raw[OUTPUT_WRITES]

    # Added up one by one, as the program does: the order decides the last digit.
    energy = 0.0
    for access in (2, 3, 6, 7, 11):
        energy += L2_NJ * figures[FIRST_ACCESS + access]
    total = energy
    for access in (0, 1, 4, 5, 8, 9):
        total += L1_NJ * figures[FIRST_ACCESS + access]
    if raw[RECORDS] == 1:
        energy = total
    total += L2_NJ * figures[FIRST_ACCESS + 10] + macs

    bandwidth = float(hardware[NOC_BW]) if hardware[NOC_GIVEN] else float(raw[PEAK_BW])
    l1_bytes, l2_bytes = float(raw[L1_SIZE]), float(raw[L2_SIZE])
    figures[0] = raw[LATENCY] * repeats
    figures[1] = MAC_NJ * energy * repeats
    figures[2] = MAC_NJ * total * repeats
    figures[3] = _power_mw(float(num_pes), float(hardware[LANES]), l1_bytes, l2_bytes, bandwidth)
    figures[4] = _area_um2(float(num_pes), float(hardware[LANES]), l1_bytes, l2_bytes, bandwidth)
    figures[5] = float(macs) / float(raw[LATENCY])
    figures[6] = macs * repeats
    figures[7] = l1_bytes
    figures[8] = l2_bytes
    figures[9] = raw[PEAK_BW]
    figures[10] = raw[OFFCHIP_REQ]
    figures[11] = active_pes
    figures[12] = float(raw[LAST_MACS]) / float(raw[LAST_LOADS]) if raw[ANY_VALID] > 0 else 0.0
    if repeats > 1:
        for entry in range(FIRST_ACCESS, FIRST_DETAIL):
            figures[entry] *= repeats

    count = raw[ALL_OCCURRED]
    at = FIRST_DETAIL
    figures[at] = float(raw[BW_SUM]) / float(count)
    figures[at + 1] = raw[PEAK_BW]
    figures[at + 2] = raw[IN_MIN] if raw[IN_MIN] != NEVER else _LOWEST
    figures[at + 3] = raw[IN_MAX]
    figures[at + 4] = _average(raw[IN_SUM], count)
    figures[at + 5] = raw[OUT_MIN] if raw[OUT_MIN] != NEVER else _LOWEST
    figures[at + 6] = raw[OUT_MAX]
    figures[at + 7] = _average(raw[OUT_SUM], count)
    figures[at + 8] = _average(raw[COMPUTE_SUM], count)


@part
def _average(total: int, count: int) -> float:
    """The truncated mean; what x86 makes of a nan where there is nothing to average."""
    if count == 0:
        return _LOWEST
    return float(total // count if total >= 0 else -(-total // count))


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their cached machine code to all their sources."""

    @partial(entry_point, error_model="numpy")
    def evaluate_rows(
        layer: IntArray,
        extents: IntArray,
        laws: FloatArray,
        hardware: IntArray,
        guard: bool,
        orders: NDArray[np.int8],
        parallel: NDArray[np.int8],
        tiles: NDArray[np.int32],
        cluster_size: NDArray[np.int32],
        num_pes: NDArray[np.int32],
        out: FloatArray,
        reason: NDArray[np.int8],
        low: int,
        high: int,
    ) -> int:
        work = np.zeros(WORK_SIZE, np.int64)
        floats = np.zeros(WORK_FLOATS, np.float64)
        program = np.zeros((MAX_LEVELS, PROGRAM_ROWS, MAX_MAPS), np.int64)
        counts = np.zeros(MAX_LEVELS, np.int64)
        clusters = np.zeros(MAX_LEVELS, np.int64)
        raw = np.zeros(RAW_ENTRIES, np.int64)
        figures = np.zeros(OUTPUTS, np.float64)
        for row in range(low, high):
            pes = num_pes[row] if len(num_pes) > 0 else hardware[NUM_PES]
            clusters[0] = cluster_size[row]
            status = REFUSED
            if (
                clusters[0] > 0
                and pes > 0
                and _lower(layer, extents, orders[row], parallel[row], tiles[row], program, counts)
            ):
                status = analyse(
                    layer, hardware, pes, program, counts, clusters, 2, work, floats, raw
                )
            reason[row] = _report(
                status, layer, laws, hardware, pes, guard, raw, floats[BUSY], figures
            )
            for entry in range(OUTPUTS):
                out[entry, row] = figures[entry]
        return stamp

    @partial(entry_point, error_model="numpy")
    def evaluate_program(
        layer: IntArray,
        laws: FloatArray,
        hardware: IntArray,
        guard: bool,
        program: IntArray,
        counts: IntArray,
        clusters: IntArray,
        num_levels: int,
        figures: FloatArray,
    ) -> int:
        raw = np.zeros(RAW_ENTRIES, np.int64)
        work = np.zeros(WORK_SIZE, np.int64)
        floats = np.zeros(WORK_FLOATS, np.float64)
        pes = hardware[NUM_PES]
        status = analyse(
            layer, hardware, pes, program, counts, clusters, num_levels, work, floats, raw
        )
        code = _report(status, layer, laws, hardware, pes, guard, raw, floats[BUSY], figures)
        return code if stamp >= 0 else -1

    return evaluate_rows, evaluate_program


_SOURCES: list[str | Path] = [*sorted(Path(__file__).parent.glob("*.py")), physical.__file__]
evaluate_rows, evaluate_program = _entries(source_stamp(_SOURCES))
"""Evaluate mappings given as arrays, or one program; both release the interpreter lock.

``evaluate_rows(layer (LAYER_ENTRIES,), extents (6,) in the order KCYXRS, laws (4,), hardware
(HARDWARE_ENTRIES,), guard, orders (B, 2, 6), parallel (B, 2), tiles (B, 2, 6), cluster_size (B,),
num_pes (B,) or (0,), out (OUTPUTS, B), reason (B,), low, high)`` fills columns `low` to `high` of
`out` and `reason`; a row with a reason other than 0 holds inf.

``evaluate_program(layer, laws, hardware, guard, program, counts, clusters, num_levels, figures
(OUTPUTS,))`` fills `figures` and returns the reason code; see `levels.build_levels` for a program.
"""
