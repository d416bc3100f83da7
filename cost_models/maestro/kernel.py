"""The compiled entry points: many mappings as arrays, or one program, through one scalar core."""

from __future__ import annotations

from cost_models.figure_places import PEAK, PES
from cost_models.maestro.analysis import analyse
from cost_models.maestro.details import OUTPUTS
from cost_models.maestro.layout import BUSY, CLUSTERS, LANES, NUM_PES, REFUSED
from cost_models.maestro.report import report
from cost_models.maestro.row_lowering import lower_row
from marl_common import FloatArray, Int8Array, Int32Array, IntArray, entry


@entry
def evaluate_rows(
    layer: IntArray,
    extents: IntArray,
    facts: FloatArray,
    hardware: IntArray,
    mode: int,
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster_size: Int32Array,
    num_pes: Int32Array,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
    figures: FloatArray,
    out: FloatArray,
    reason: Int8Array,
    size: int,
    low: int,
    high: int,
) -> None:
    """Evaluate mappings given as arrays.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        extents: ``(8,)`` in the order KCYXRSNG.
        facts: ``(NUM_FACTS,)``; each mapping's own PEs are written here.
        hardware: ``(HARDWARE_ENTRIES,)``.
        mode: RAW, GUARDED or WIDE.
        orders: ``(B, 2, 8)`` dimensions, outermost first.
        parallel: ``(B, 2)`` dimensions.
        tiles: ``(B, 2, 8)``.
        cluster_size: ``(B,)``.
        num_pes: ``(B,)`` PEs that each mapping uses.
        work: ``(WORK_SIZE,)`` scratch of 0, see `layout`.
        floats: ``(WORK_FLOATS,)`` scratch.
        raw: ``(RAW_ENTRIES,)`` scratch.
        figures: ``(OUTPUTS,)`` scratch.
        out: ``(OUTPUTS, B)``; columns `low` to `high` are filled.
        reason: ``(B,)``, likewise; a row with a reason other than 0 holds inf.
        size: `B`.
        low: The first mapping.
        high: The one behind the last.
    """
    for row in range(low, high):
        pes = int(num_pes[row])
        facts[PES], facts[PEAK] = pes, pes * hardware[LANES]
        work[CLUSTERS] = cluster_size[row]
        status = REFUSED
        if (
            cluster_size[row] > 0
            and pes > 0
            and lower_row(layer, extents, orders, parallel, tiles, row, work)
        ):
            status = analyse(layer, hardware, pes, 2, work, floats, raw)
        reason[row] = report(status, layer, facts, hardware, pes, mode, raw, floats[BUSY], figures)
        for place in range(OUTPUTS):
            out[place * size + row] = figures[place]


@entry
def evaluate_program(
    layer: IntArray,
    facts: FloatArray,
    hardware: IntArray,
    mode: int,
    num_levels: int,
    work: IntArray,
    floats: FloatArray,
    raw: IntArray,
    figures: FloatArray,
) -> int:
    """Evaluate the program in `work`; arguments as above.

    Returns:
        The reason code; 0 where `figures` are filled.
    """
    pes = hardware[NUM_PES]
    status = analyse(layer, hardware, pes, num_levels, work, floats, raw)
    return report(status, layer, facts, hardware, pes, mode, raw, floats[BUSY], figures)
