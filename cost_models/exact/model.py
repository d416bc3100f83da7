"""The exact cost model: counts that equal an execution of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.cost import Cost, CostBatch, FloatArray
from cost_models.cost_model import CostModelError
from cost_models.dataflow import Dataflow
from cost_models.exact.costs import ROW_NAMES, RowCounts, cost_batch, cost_of, refused
from cost_models.exact.fields import optional_arrays, optional_rows
from cost_models.exact.figures import Setting
from cost_models.exact.layout import (
    L1_BITS,
    L1_PEAK,
    L2_BITS,
    L2_PEAK,
    ROW_FIELDS,
    WIDE_NAMES,
    WIDE_ROW_FIELDS,
    IntTable,
)
from cost_models.exact.limits import too_large
from cost_models.exact.numbers import layer_numbers, wide_numbers
from cost_models.exact.options import ExactOptions
from cost_models.exact.repricing import repriced_energy
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.lower_bounds import LowerBounds, Structures
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from cost_models.threads import default_threads, run_rows
from layers import Layer

_NO_PES = np.empty(0, np.int32)
_KEPT = 1024


class Prepared(NamedTuple):
    """What all mappings of a layer on an accelerator share.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        plain: Whether elements of one size are all there is to count.
        too_large: Why nothing is counted, where mappings are plain and where they are not.
        hw: The kernel's integers.
        numbers: The wide kernel's integers.
        setting: What the figures need besides the counts.
    """

    layer: Layer
    accelerator: Accelerator
    plain: bool
    too_large: tuple[Infeasible | None, Infeasible | None]
    hw: IntTable
    numbers: IntTable
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

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Cost of one mapping.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mapping: A mapping, or a dataflow that :meth:`Mapping.from_dataflow` can read; one that
                it cannot is infeasible with its reason.
        """
        known = self._prepared(layer, accelerator)
        if known.too_large[0] is not None:
            return refused(known.too_large[0])
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return refused(error.infeasible)
        one = MappingBatch.from_mappings([mapping], layer.extents)
        wide = not known.plain or optional_rows(one) is not None
        infeasible = known.too_large[wide]
        if infeasible is not None:
            return refused(infeasible)
        row = np.empty((1, WIDE_ROW_FIELDS if wide else ROW_FIELDS), np.int64)
        reason = np.empty(1, np.int8)
        self._run(known, one, row, reason, wide)
        if reason[0] != 0:
            return refused(self.why(layer, accelerator, mapping, ReasonCode(int(reason[0]))))
        names = (*ROW_NAMES, *WIDE_NAMES) if wide else ROW_NAMES
        counts = dict(zip(names, row[0].tolist(), strict=True))
        counts["num_pes"] = accelerator.num_pes if mapping.num_pes is None else mapping.num_pes
        return cost_of(counts, known.setting)

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
        size = len(mappings)
        wide = optional_rows(mappings) if known.plain else np.ones(size, np.bool_)
        infeasible = known.too_large[wide is not None]
        rows = np.zeros((size, ROW_FIELDS if wide is None else WIDE_ROW_FIELDS), np.int64)
        reasons = np.zeros(size, np.int8)
        if infeasible is not None:
            reasons[:] = infeasible.code
        elif size:
            self._fill(known, mappings, wide, rows, reasons)

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            return self.why_row(layer, accelerator, mappings, row, ReasonCode(int(reasons[row])))

        counts = RowCounts(rows, mappings.num_pes, accelerator.num_pes, wide)
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
        wide: NDArray[np.bool_] | None,
        rows: IntTable,
        reasons: NDArray[np.int8],
    ) -> None:
        """Evaluate plain mappings by one kernel, and the others by the other."""
        if wide is None or wide.all():
            self._run(known, mappings, rows, reasons, wide is not None)
        else:
            bits = self.machine(known.accelerator).widths[0] * self.buffers
            for part in (False, True):
                chosen = np.flatnonzero(wide == part)
                some = np.zeros((len(chosen), WIDE_ROW_FIELDS if part else ROW_FIELDS), np.int64)
                codes = np.zeros(len(chosen), np.int8)
                self._run(known, mappings.take(chosen), some, codes, part)
                rows[chosen, : some.shape[1]] = some
                reasons[chosen] = codes
            few = np.flatnonzero(~wide)
            for peak, held in ((L1_PEAK, L1_BITS), (L2_PEAK, L2_BITS)):
                rows[few, held] = rows[few, peak] * bits
        if reasons.min() < 0:
            raise MappingError(_malformed(mappings, int(np.argmin(reasons))))

    def _run(
        self,
        known: Prepared,
        mappings: MappingBatch,
        rows: IntTable,
        reasons: NDArray[np.int8],
        wide: bool,
    ) -> None:
        hw, numbers = known.hw, known.numbers
        fields = (mappings.orders, mappings.parallel, mappings.tiles, mappings.cluster_size)
        arrays = [_owned(array) for array in (*fields, _pes_of(mappings))]
        if wide:
            from cost_models.exact.wide_kernel import evaluate_wide_rows

            optional = [_owned(array) for array in optional_arrays(mappings)]

            def work(low: int, high: int) -> None:
                evaluate_wide_rows(*arrays, *optional, hw, numbers, rows, reasons, low, high)
        else:
            # compiled code is loaded where it is needed, so that importing the package stays quick
            from cost_models.exact.kernel import evaluate_rows

            def work(low: int, high: int) -> None:
                evaluate_rows(*arrays, hw, rows, reasons, low, high)

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
        options = (self.halo_time, self.halo_space == "tile", self.latency == "bound", self.buffers)
        box = self.window == "box"
        free = self.padding == "free" and any(layer.padding)
        return Prepared(
            layer,
            accelerator,
            self.is_plain(layer, accelerator),
            (too_large(layer), too_large(layer, False)),
            layer_numbers(layer, self.hardware(accelerator), options, box),
            wide_numbers(layer, self.machine(accelerator), box, free),
            self.setting(accelerator),
        )


def _pes_of(mappings: MappingBatch) -> NDArray[np.int32]:
    return _NO_PES if mappings.num_pes is None else mappings.num_pes


def _malformed(mappings: MappingBatch, row: int) -> str:
    return (
        f"MappingBatch row {row}: orders {mappings.orders[row].tolist()}, parallel "
        f"{mappings.parallel[row].tolist()}, tiles {mappings.tiles[row].tolist()}, "
        f"cluster_size {mappings.cluster_size[row]}; expected two permutations of 0 to 7, "
        "dimensions 0 to 7, and numbers of at least 1"
    )


def _owned(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy where it is read-only (the kernel is compiled for the former)."""
    return array if array.flags.writeable else array.copy()
