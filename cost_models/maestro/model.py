"""The MAESTRO model behind the cost-model interface."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.cost_model import CostModelError, ModelCapabilities, Symmetry
from cost_models.dataflow import Dataflow
from cost_models.energy_tables import MAESTRO_DOUBTS
from cost_models.figure_places import FIRST_ACCESS, PEAK, PES
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.laws import ACCESS_KINDS, MAESTRO_LAWS
from cost_models.maestro.details import DETAILS, FIRST_DETAIL, GUARDED, OUTPUTS, RAW, WIDE
from cost_models.maestro.guard import explain, guard_facts
from cost_models.maestro.kernel import evaluate_program, evaluate_rows
from cost_models.maestro.layout import (
    CLUSTERS,
    COUNTS,
    HARDWARE_ENTRIES,
    PROGRAM,
    RAW_ENTRIES,
    WORK_FLOATS,
    WORK_SIZE,
)
from cost_models.maestro.levers import find_levers
from cost_models.maestro.program import compile_dataflow, layer_entries
from cost_models.maestro.reasons import unread, why_dead
from cost_models.mapping import Mapping, MappingBatch
from cost_models.threads import default_threads, run_rows
from layers import Layer
from marl_common import FloatArray, IntArray, contiguous

_MAX_MACS = 2**56


class MaestroModel:
    """A port of MAESTRO's analysis; agrees with the program to the printed digit.

    Args:
        guard: Refuse figures that no execution of the layer could have, and mappings whose buffers
            are larger than the accelerator's. Without it the raw figures come out, for comparison
            with published ones only.
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.

    Raises:
        CostModelError: `threads` is not a whole number of at least 1.
    """

    name = "maestro"

    def __init__(self, guard: bool = True, threads: int | None = None) -> None:
        if threads is not None and (
            isinstance(threads, bool) or not isinstance(threads, int) or threads < 1
        ):
            raise CostModelError(f"threads: got {threads!r}, expected a whole number of at least 1")
        self.guard = guard
        self.capabilities = ModelCapabilities(
            Symmetry.TILE, MAESTRO_LAWS if guard else None, sound=guard, doubts=MAESTRO_DOUBTS
        )
        self.threads = threads
        self._mode = GUARDED if guard else RAW

    @property
    def options(self) -> dict[str, Any]:
        """Every option by name that changes a figure, as :func:`cost_models.load` takes them."""
        return {"guard": self.guard}

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Estimate the cost of one mapping.

        Args:
            layer: The layer; extents in elements.
            accelerator: Limits that are None are not checked, and None bandwidths never wait; area
                and power then take the mapping's own peak requirement.
            mapping: A mapping, or a dataflow of 1 to 4 levels.

        Returns:
            The cost; every figure is inf where `infeasible` says why there is none.
        """
        accelerator = accelerator.in_elements()
        if isinstance(mapping, Dataflow):
            return self._evaluate_dataflow(layer, accelerator, mapping)
        batch = MappingBatch.from_mappings([mapping], layer.extents)
        out, reason = self._run(layer, accelerator, batch, self._mode)
        why = None
        if reason[0]:
            why = self._explain(layer, accelerator, batch, int(reason[0]), 0)
        return _cost(out[:, 0].tolist(), why)

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Estimate the costs of many mappings of one layer.

        Args:
            layer: The layer; extents in elements.
            accelerator: As in :meth:`evaluate`.
            mappings: `B` mappings; tiles above the extents are clipped.

        Returns:
            `B` costs as ``(B,)`` arrays; infeasible rows hold ``inf`` and their reason code.
        """
        accelerator = accelerator.in_elements()
        out, reason = self._run(layer, accelerator, mappings, self._mode)

        def explain(row: int) -> Infeasible:
            return self._explain(layer, accelerator, mappings, int(reason[row]), row)

        return CostBatch(
            reason=reason,
            figures=dict(zip(FIGURES, out, strict=False)),
            accesses=_accesses(out),
            detail=dict(zip(DETAILS, out[FIRST_DETAIL:], strict=True)),
            explain=explain,
            one=lambda row: _cost(out[:, row].tolist(), explain(row) if reason[row] else None),
        )

    def _run(
        self, layer: Layer, accelerator: Accelerator, batch: MappingBatch, mode: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        size = len(batch)
        out = np.empty((OUTPUTS, size))
        reason = np.zeros(size, np.int8)
        if layer.macs > _MAX_MACS:
            out[:] = np.inf
            reason[:] = ReasonCode.TOO_LARGE
            return out, reason
        if unread(layer):
            out[:] = np.inf
            reason[:] = ReasonCode.REFUSED
            return out, reason
        pes = batch.num_pes
        if pes is None:
            pes = np.full(size, accelerator.num_pes, np.int32)
        entries = layer_entries(layer)
        extents = np.array(layer.extents, np.int64)
        fewest = accelerator.num_pes
        if batch.num_pes is not None:
            fewest = int(batch.num_pes.min(initial=fewest))
        facts, hardware = _facts(layer, accelerator, fewest), _hardware(accelerator)
        arrays = contiguous([batch.orders, batch.parallel, batch.tiles, batch.cluster_size, pes])

        def work(low: int, high: int) -> None:
            setting = (entries, extents, facts.copy(), hardware, mode)
            arguments = (*setting, *arrays, *_SCRATCH.arrays, out, reason, size, low, high)
            evaluate_rows(*arguments)

        run_rows(work, size, default_threads() if self.threads is None else self.threads)
        if batch.parallel2 is not None or batch.bypass is not None:
            beyond = batch.beyond
            out[:, beyond] = np.inf
            reason[beyond] = ReasonCode.REFUSED
        return out, reason

    def _evaluate_dataflow(
        self, layer: Layer, accelerator: Accelerator, dataflow: Dataflow
    ) -> Cost:
        program = compile_dataflow(dataflow, layer)
        if layer.macs > _MAX_MACS:
            program = why_dead(ReasonCode.TOO_LARGE, layer, accelerator.num_pes)
        if isinstance(program, Infeasible):
            return _cost([np.inf] * OUTPUTS, program)

        facts = _facts(layer, accelerator, accelerator.num_pes)

        def run(mode: int) -> tuple[NDArray[np.float64], int]:
            work, floats, raw, figures = _SCRATCH.arrays
            work[PROGRAM:COUNTS] = program.maps.ravel()
            work[COUNTS:CLUSTERS], work[CLUSTERS:WORK_SIZE] = program.counts, program.clusters
            hardware, levels = _hardware(accelerator), program.num_levels
            code = evaluate_program(
                program.layer, facts, hardware, mode, levels, work, floats, raw, figures
            )
            return figures.copy(), code

        figures, code = run(self._mode)
        if not code:
            return _cost(figures.tolist(), None)
        wide, dead = run(WIDE)
        if dead:
            sizes = program.clusters[: program.num_levels - 1].tolist()
            why = why_dead(ReasonCode(code), layer, accelerator.num_pes, sizes)
        else:
            why = explain(ReasonCode(code), layer, wide, facts)
        return _cost(figures.tolist(), why)

    def _explain(
        self, layer: Layer, accelerator: Accelerator, batch: MappingBatch, code: int, row: int
    ) -> Infeasible:
        """The report of a row of a batch; it is written when somebody reads it."""
        one = batch.take(slice(row, row + 1))
        reason = ReasonCode(code)
        return Infeasible.when_asked(reason, lambda: self._report(layer, accelerator, one, reason))

    def _report(
        self, layer: Layer, accelerator: Accelerator, one: MappingBatch, reason: ReasonCode
    ) -> Infeasible:
        pes = accelerator.num_pes if one.num_pes is None else int(one.num_pes[0])
        wide, dead = self._run(layer, accelerator, one, WIDE)
        if dead[0]:
            return why_dead(reason, layer, pes, [int(one.cluster_size[0])], one)

        def accepted(tried: MappingBatch) -> NDArray[np.bool_]:
            return self._run(layer, accelerator, tried, GUARDED)[1] == 0

        facts = _facts(layer, accelerator, pes).copy()
        facts[PES], facts[PEAK] = pes, pes * accelerator.simd_lanes
        report = explain(reason, layer, wide[:, 0], facts)

        def find() -> tuple[str, ...]:
            found = find_levers(accepted, layer, one)
            limit = reason in (ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY)
            return (*found, *report.levers) if limit or not found else found

        return report.with_levers(find)


class _Scratch(threading.local):
    """Where the kernel works: each thread has arrays of its own, and keeps them."""

    def __init__(self) -> None:
        self.arrays: tuple[IntArray, FloatArray, IntArray, FloatArray] = (
            np.zeros(WORK_SIZE, np.int64),
            np.zeros(WORK_FLOATS),
            np.zeros(RAW_ENTRIES, np.int64),
            np.zeros(OUTPUTS),
        )


_SCRATCH = _Scratch()


def _cost(figures: list[float], why: Infeasible | None) -> Cost:
    named: dict[str, Any] = dict(zip(FIGURES, figures, strict=False))
    return Cost(
        why,
        **named,
        accesses=_accesses(figures),
        detail=dict(zip(DETAILS, figures[FIRST_DETAIL:], strict=True)),
    )


def _accesses(rows: Any) -> dict[str, dict[str, Any]]:
    width = len(ACCESS_KINDS)
    starts = range(FIRST_ACCESS, FIRST_DETAIL, width)
    return {
        tensor: dict(zip(ACCESS_KINDS, rows[start : start + width], strict=True))
        for tensor, start in zip(TENSORS, starts, strict=True)
    }


@lru_cache(maxsize=256)
def _facts(layer: Layer, accelerator: Accelerator, min_pes: int) -> NDArray[np.float64]:
    return guard_facts(layer, accelerator, min_pes)


@lru_cache(maxsize=256)
def _hardware(accelerator: Accelerator) -> IntArray:
    def limit(value: int | None, none: int) -> int:
        return none if value is None else value

    entries = np.array(
        [
            accelerator.num_pes,
            limit(accelerator.noc_bw, UNLIMITED_BW),
            limit(accelerator.offchip_bw, UNLIMITED_BW),
            accelerator.simd_lanes,
            accelerator.noc_bw is not None,
            limit(accelerator.l1_bytes, -1),
            limit(accelerator.l2_bytes, -1),
        ],
        np.int64,
    )
    assert len(entries) == HARDWARE_ENTRIES
    return entries
