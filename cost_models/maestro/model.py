"""The MAESTRO model behind the cost-model interface."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.bounds import MAESTRO_LAWS
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.dataflow import Dataflow
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.maestro import guard as laws
from cost_models.maestro.kernel import evaluate_program, evaluate_rows
from cost_models.maestro.layout import HARDWARE_ENTRIES, IntArray
from cost_models.maestro.levers import find_levers
from cost_models.maestro.program import compile_dataflow, layer_entries
from cost_models.maestro.reasons import unread, why_dead
from cost_models.maestro.report import ACCESS_KINDS, DETAILS, FIRST_ACCESS, FIRST_DETAIL, OUTPUTS
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from cost_models.model import CostModelError, ModelCapabilities, Symmetry
from cost_models.physical import MAESTRO_DOUBTS
from cost_models.threads import default_threads, run_rows
from layers import Layer

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
        out, reason = self._run(layer, accelerator, batch, self.guard)
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
        out, reason = self._run(layer, accelerator, mappings, self.guard)

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
        self, layer: Layer, accelerator: Accelerator, batch: MappingBatch, guard: bool
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
        pes = np.empty(0, np.int32) if batch.num_pes is None else batch.num_pes
        entries = layer_entries(layer)
        extents = np.array(layer.extents, np.int64)
        limits, hardware = _laws_of(layer), _hardware(accelerator)
        arrays = (batch.orders, batch.parallel, batch.tiles, batch.cluster_size, pes)

        def work(low: int, high: int) -> None:
            evaluate_rows(
                entries, extents, limits, hardware, guard, *arrays, out, reason, low, high
            )

        run_rows(work, size, default_threads() if self.threads is None else self.threads)
        if batch.parallel2 is not None or batch.bypass is not None:
            beyond = _beyond(batch)
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

        def run(guard: bool) -> tuple[list[float], int]:
            figures = np.empty(OUTPUTS)
            code = evaluate_program(
                program.layer,
                _laws_of(layer),
                _hardware(accelerator),
                guard,
                program.maps,
                program.counts,
                program.clusters,
                program.num_levels,
                figures,
            )
            return figures.tolist(), code

        figures, code = run(self.guard)
        if not code:
            return _cost(figures, None)
        reason = ReasonCode(code)
        raw, raw_code = run(False)
        if raw_code:
            sizes = program.clusters[: program.num_levels - 1].tolist()
            return _cost(figures, why_dead(reason, layer, accelerator.num_pes, sizes))
        return _cost(
            figures,
            laws.explain(reason, layer, accelerator, accelerator.num_pes, _cost(raw, None)),
        )

    def _explain(
        self, layer: Layer, accelerator: Accelerator, batch: MappingBatch, code: int, row: int
    ) -> Infeasible:
        reason = ReasonCode(code)
        one = batch.take(slice(row, row + 1))
        pes = accelerator.num_pes if one.num_pes is None else int(one.num_pes[0])
        out, raw_reason = self._run(layer, accelerator, one, False)
        if raw_reason[0]:
            return why_dead(reason, layer, pes, [int(one.cluster_size[0])], one)

        def accepted(tried: MappingBatch) -> NDArray[np.bool_]:
            return self._run(layer, accelerator, tried, True)[1] == 0

        raw = _cost(out[:, 0].tolist(), None)
        report = laws.explain(reason, layer, accelerator, pes, raw)

        def find() -> tuple[str, ...]:
            found = find_levers(accepted, layer, one)
            limit = reason in (ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY)
            return (*found, *report.levers) if limit or not found else found

        return report.with_levers(find)


def _beyond(batch: MappingBatch) -> NDArray[np.bool_]:
    """``(B,)``: mappings that spread a second dimension of a level, or let a tensor bypass one."""
    beyond = np.zeros(len(batch), np.bool_)
    if batch.parallel2 is not None:
        beyond |= (batch.parallel2 >= 0).any(axis=1)
    if batch.bypass is not None:
        beyond |= batch.bypass.any(axis=(1, 2))
    return beyond


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
def _laws_of(layer: Layer) -> NDArray[np.float64]:
    return laws.laws_of(layer)


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
