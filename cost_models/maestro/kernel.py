"""The compiled entry points: many mappings as arrays, or one program, through one scalar core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common import FloatArray, IntArray, entry_point, source_stamp
from cost_models import laws, physical
from cost_models.laws import PEAK, PES
from cost_models.maestro.analysis import analyse
from cost_models.maestro.layout import (
    BUSY,
    LANES,
    MAX_LEVELS,
    MAX_MAPS,
    NUM_PES,
    PROGRAM_ROWS,
    RAW_ENTRIES,
    REFUSED,
    WORK_FLOATS,
    WORK_SIZE,
)
from cost_models.maestro.report import OUTPUTS, report
from cost_models.maestro.row_lowering import lower_row


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their cached machine code to all their sources."""

    @partial(entry_point, error_model="numpy")
    def evaluate_rows(
        layer: IntArray,
        extents: IntArray,
        facts: FloatArray,
        hardware: IntArray,
        mode: int,
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
        own = facts.copy()
        for row in range(low, high):
            pes = num_pes[row] if len(num_pes) > 0 else hardware[NUM_PES]
            own[PES], own[PEAK] = pes, pes * hardware[LANES]
            clusters[0] = cluster_size[row]
            status = REFUSED
            if (
                clusters[0] > 0
                and pes > 0
                and lower_row(
                    layer, extents, orders[row], parallel[row], tiles[row], program, counts
                )
            ):
                status = analyse(
                    layer, hardware, pes, program, counts, clusters, 2, work, floats, raw
                )
            reason[row] = report(
                status, layer, own, hardware, pes, mode, raw, floats[BUSY], figures
            )
            for entry in range(OUTPUTS):
                out[entry, row] = figures[entry]
        return stamp

    @partial(entry_point, error_model="numpy")
    def evaluate_program(
        layer: IntArray,
        facts: FloatArray,
        hardware: IntArray,
        mode: int,
        program: IntArray,
        counts: IntArray,
        clusters: IntArray,
        num_levels: int,
        figures: FloatArray,
    ) -> int:
        raw = np.zeros(RAW_ENTRIES, np.int64)
        work = np.zeros(WORK_SIZE, np.int64)
        floats = np.zeros(WORK_FLOATS, np.float64)
        own = facts.copy()
        pes = hardware[NUM_PES]
        status = analyse(
            layer, hardware, pes, program, counts, clusters, num_levels, work, floats, raw
        )
        code = report(status, layer, own, hardware, pes, mode, raw, floats[BUSY], figures)
        return code if stamp >= 0 else -1

    return evaluate_rows, evaluate_program


_SOURCES: list[str | Path] = [
    *sorted(Path(__file__).parent.glob("*.py")),
    laws.__file__,
    physical.__file__,
]
evaluate_rows, evaluate_program = _entries(source_stamp(_SOURCES))
"""Evaluate mappings given as arrays, or one program; both release the interpreter lock.

``evaluate_rows(layer (LAYER_ENTRIES,), extents (8,) in the order KCYXRSNG, facts (NUM_FACTS,),
hardware (HARDWARE_ENTRIES,), mode, orders (B, 2, 8), parallel (B, 2), tiles (B, 2, 8),
cluster_size (B,), num_pes (B,) or (0,), out (OUTPUTS, B), reason (B,), low, high)`` fills columns
`low` to `high` of `out` and `reason`; a row with a reason other than 0 holds inf.

``evaluate_program(layer, facts, hardware, mode, program, counts, clusters, num_levels, figures
(OUTPUTS,))`` fills `figures` and returns the reason code; see `levels.build_levels` for a program.
"""
