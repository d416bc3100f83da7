"""The exact cost model: counts that equal an execution of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.chain.chip import Chain
from cost_models.chain.entries import ChainMapping
from cost_models.chain.evaluation import evaluate as evaluate_chain
from cost_models.cost import Cost, CostBatch, FloatArray
from cost_models.cost_model import CostModelError
from cost_models.dataflow import Dataflow
from cost_models.exact.costs import RowCounts, cost_batch, cost_of, counts_of, refused
from cost_models.exact.figures import Setting
from cost_models.exact.limits import too_large
from cost_models.exact.mapping_rows import mapping_rows, pes_of
from cost_models.exact.nest_counts import WORK, count
from cost_models.exact.nest_record import record_of
from cost_models.exact.options import ExactOptions
from cost_models.exact.repricing import repriced_energy
from cost_models.exact.row_records import CountRow
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.lower_bounds import LowerBounds, Structures
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from cost_models.threads import CHUNK, default_threads, run_rows
from layers import Layer

_KEPT = 1024
_ANY = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({}, {}), 1)
"""A mapping of any layer: what it says is replaced, mapping by mapping."""


class Prepared(NamedTuple):
    """What all mappings of a layer on an accelerator share.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        plain: Whether elements of one size are all there is to count.
        too_large: Why nothing is counted, where mappings are plain and where they are not.
        nest: The kernel's record of the layer on the chip; mappings fill in tiles and loops.
        setting: What the figures need besides the counts.
    """

    layer: Layer
    accelerator: Accelerator
    plain: bool
    too_large: tuple[Infeasible | None, Infeasible | None]
    nest: NDArray[Any]
    setting: Setting


class ExactModel(ExactOptions):
    """A model whose counts equal a brute-force execution of the loop nest, in closed form.

    Args:
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.
        options: The options of :class:`ExactOptions`.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    name = "exact"

    def __init__(self, *, threads: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        whole = isinstance(threads, int) and not isinstance(threads, bool) and threads > 0
        if threads is not None and not whole:
            raise CostModelError(f"threads: got {threads!r}, expected a whole number of at least 1")
        self.threads = threads
        self._known: dict[tuple[Layer, Accelerator], Prepared] = {}
        self._last: Prepared | None = None

    def evaluate(
        self,
        layer: Layer,
        accelerator: Accelerator | Chain,
        mapping: Mapping | Dataflow | ChainMapping,
    ) -> Cost:
        """Cost of one mapping.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mapping: A mapping, or a dataflow that :meth:`Mapping.from_dataflow` can read; one that
                it cannot is infeasible with its reason.
        """
        if not isinstance(accelerator, Accelerator) or isinstance(mapping, ChainMapping):
            return evaluate_chain(self, layer, accelerator, mapping, count)
        known = self._prepared(layer, accelerator)
        if known.too_large[0] is not None:
            return refused(known.too_large[0])
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return refused(error.infeasible)
        one = MappingBatch.from_mappings([mapping], layer.extents)
        wide = one.beyond | (not known.plain)
        infeasible = known.too_large[bool(wide[0])]
        if infeasible is not None:
            return refused(infeasible)
        rows, reasons = np.zeros(1, CountRow), np.zeros(1, np.int8)
        _count(known, one, rows, reasons)
        if reasons[0] != 0:
            return refused(self.why(layer, accelerator, mapping, ReasonCode(int(reasons[0]))))
        pes = int(pes_of(one, accelerator.num_pes)[0])
        return cost_of(counts_of(rows[0], pes, bool(wide[0])), known.setting)

    def lower_bounds_of(
        self,
        layer: Layer,
        accelerator: Accelerator,
        figures: Sequence[str],
        limits: MappingABC[str, float],
        structures: Structures,
    ) -> LowerBounds | None:
        """Bounds for proofs; see :func:`cost_models.lower_bounds_of`."""
        from cost_models.exact.bounds import ExactBounds, bounded

        plain = self.is_plain(layer, accelerator) and not structures.bypasses.any()
        if too_large(layer, plain) is not None or not bounded(figures):
            return None
        return ExactBounds(self, layer, accelerator, figures, limits, structures, self.threads)

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Costs of `B` mappings of one layer; figures are worked out when they are looked at.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mappings: `B` mappings; `num_pes`, where set, replaces the accelerator's.
        """
        known = self._prepared(layer, accelerator)
        wide = mappings.beyond | (not known.plain)
        infeasible = known.too_large[bool(wide.any())]
        rows, reasons = np.zeros(len(mappings), CountRow), np.zeros(len(mappings), np.int8)
        if infeasible is not None:
            reasons[:] = infeasible.code
        else:
            self._fill(known, mappings, rows, reasons)
        if reasons.size and reasons.min() < 0:
            raise MappingError(_malformed(mappings, int(np.argmin(reasons))))

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            return self.why_row(layer, accelerator, mappings, row, ReasonCode(int(reasons[row])))

        counts = RowCounts(rows, pes_of(mappings, accelerator.num_pes), wide)
        return cost_batch(counts, reasons, known.setting, why)

    def reprice(
        self, layer: Layer, accelerator: Accelerator, costs: CostBatch
    ) -> FloatArray | None:
        """Energies of mappings that were counted on a chip which differs in capacities alone.

        Args:
            layer: The layer.
            accelerator: The chip.
            costs: Costs of mappings without `num_pes` of their own on the other chip, such as
                :meth:`Accelerator.unlimited_buffers` gives; latency and accesses hold here too.

        Returns:
            ``(B,)`` [nJ], inf where a mapping does not fit; None where more than counts of elements
            is needed (tensors of unequal widths, padding that is free).
        """
        if not self.is_plain(layer, accelerator):
            return None
        machine = self.machine(accelerator)
        return repriced_energy(costs, accelerator, machine.buffers, self.setting(accelerator))

    def _fill(
        self,
        known: Prepared,
        mappings: MappingBatch,
        rows: NDArray[Any],
        reasons: NDArray[np.int8],
    ) -> None:
        def work(low: int, high: int) -> None:
            for start in range(low, high, CHUNK):
                some = slice(start, min(start + CHUNK, high))
                _count(known, mappings.take(some), rows[some], reasons[some])

        run_rows(work, len(mappings), default_threads() if self.threads is None else self.threads)

    def _prepared(self, layer: Layer, accelerator: Accelerator) -> Prepared:
        """What the mappings of a layer on an accelerator share; the last ones are kept."""
        last = self._last
        if last is not None and last.layer is layer and last.accelerator is accelerator:
            return last
        found = self._known.get((layer, accelerator))
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[layer, accelerator] = self._prepare(layer, accelerator)
        self._last = found
        return found

    def _prepare(self, layer: Layer, accelerator: Accelerator) -> Prepared:
        return Prepared(
            layer,
            accelerator,
            self.is_plain(layer, accelerator),
            (too_large(layer), too_large(layer, False)),
            record_of(self.nest(layer, accelerator, _ANY)),
            self.setting(accelerator),
        )


def _count(
    known: Prepared, mappings: MappingBatch, rows: NDArray[Any], reasons: NDArray[np.int8]
) -> None:
    # compiled code is loaded where it is needed, so that importing the package stays quick
    from cost_models.exact.kernel import evaluate_rows

    mapped = mapping_rows(mappings, known.accelerator.num_pes)
    evaluate_rows(WORK.records, known.nest, mapped, rows, reasons, 0, len(mapped))


def _malformed(mappings: MappingBatch, row: int) -> str:
    return (
        f"MappingBatch row {row}: orders {mappings.orders[row].tolist()}, parallel "
        f"{mappings.parallel[row].tolist()}, tiles {mappings.tiles[row].tolist()}, "
        f"cluster_size {mappings.cluster_size[row]}; expected two permutations of 0 to 7, "
        "dimensions 0 to 7, and numbers of at least 1"
    )
