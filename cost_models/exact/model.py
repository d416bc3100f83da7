"""The exact cost model: counts that equal an execution of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.cost import Cost, CostBatch
from cost_models.cost_model import CostModelError
from cost_models.dataflow import Dataflow
from cost_models.exact.costs import ROW_NAMES, RowCounts, cost_batch, cost_of, refused
from cost_models.exact.fields import not_understood, refused_field
from cost_models.exact.figures import Setting
from cost_models.exact.layout import ROW_FIELDS, IntTable
from cost_models.exact.limits import MAX_EXTENT, too_large
from cost_models.exact.numbers import layer_numbers
from cost_models.exact.options import ExactOptions
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.lower_bounds import LowerBounds, Structures
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from cost_models.threads import default_threads, run_rows
from layers import Layer

_NO_PES = np.empty(0, np.int32)
_KEPT = 1024


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
        self._known: dict[tuple[Layer, Accelerator], tuple[IntTable, Setting]] = {}

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Cost of one mapping.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mapping: A mapping, or a dataflow that :meth:`Mapping.from_dataflow` can read; one that
                it cannot is infeasible with its reason.
        """
        infeasible = too_large(layer)
        if infeasible is not None:
            return refused(infeasible)
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return refused(error.infeasible)
        one = MappingBatch.from_mappings([mapping], layer.extents)
        if not_understood(one)[0]:
            return refused(refused_field(layer))
        # compiled code is loaded where it is needed, so that importing the package stays quick
        from cost_models.exact.kernel import evaluate_rows

        hw, setting = self._prepared(layer, accelerator)
        num_pes = mapping.num_pes
        row = np.empty((1, ROW_FIELDS), np.int64)
        reason = np.empty(1, np.int8)
        evaluate_rows(
            one.orders,
            one.parallel,
            np.minimum(one.tiles, np.array(layer.extents, np.int32)),
            np.array([min(mapping.cluster_size, MAX_EXTENT)], np.int32),
            _NO_PES if num_pes is None else np.array([min(num_pes, MAX_EXTENT)], np.int32),
            hw,
            row,
            reason,
            0,
            1,
        )
        pes = accelerator.num_pes if num_pes is None else num_pes
        if reason[0] != 0:
            code = ReasonCode(int(reason[0]))
            tiles = one.tiles[0].tolist()
            outer = int(one.parallel[0, 0])
            return refused(
                self.why(layer, accelerator, tiles, outer, mapping.cluster_size, pes, code)
            )
        counts = dict(zip(ROW_NAMES, row[0].tolist(), strict=True))
        counts["num_pes"] = pes
        return cost_of(counts, setting)

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

        if too_large(layer) is not None or not bounded(figures):
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
        size = len(mappings)
        rows = np.zeros((size, ROW_FIELDS), np.int64)
        reasons = np.zeros(size, np.int8)
        infeasible = too_large(layer)
        if infeasible is not None:
            reasons[:] = infeasible.code
            setting = self.setting(accelerator)
        else:
            setting = self._prepared(layer, accelerator)[1]
            if size:
                self._fill(layer, accelerator, mappings, rows, reasons)
        pes = mappings.num_pes

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            if reasons[row] == ReasonCode.REFUSED:
                return refused_field(layer)
            return self.why(
                layer,
                accelerator,
                mappings.tiles[row].tolist(),
                int(mappings.parallel[row, 0]),
                int(mappings.cluster_size[row]),
                accelerator.num_pes if pes is None else int(pes[row]),
                ReasonCode(int(reasons[row])),
            )

        counts = RowCounts(rows, pes, accelerator.num_pes)
        return cost_batch(counts, reasons, setting, why)

    def _fill(
        self,
        layer: Layer,
        accelerator: Accelerator,
        mappings: MappingBatch,
        rows: IntTable,
        reasons: NDArray[np.int8],
    ) -> None:
        from cost_models.exact.kernel import evaluate_rows

        hw = self._prepared(layer, accelerator)[0]
        refused_rows = not_understood(mappings)
        arrays = [
            _owned(array)
            for array in (
                mappings.orders,
                mappings.parallel,
                mappings.tiles,
                mappings.cluster_size,
                _NO_PES if mappings.num_pes is None else mappings.num_pes,
            )
        ]

        def work(low: int, high: int) -> None:
            evaluate_rows(*arrays, hw, rows, reasons, low, high)

        run_rows(work, len(mappings), default_threads() if self.threads is None else self.threads)
        reasons[refused_rows & (reasons >= 0)] = ReasonCode.REFUSED
        if reasons.min() < 0:
            row = int(np.argmin(reasons))
            raise MappingError(
                f"MappingBatch row {row}: orders {mappings.orders[row].tolist()}, parallel "
                f"{mappings.parallel[row].tolist()}, tiles {mappings.tiles[row].tolist()}, "
                f"cluster_size {mappings.cluster_size[row]}; expected two permutations of 0 to 7, "
                "dimensions 0 to 7, and numbers of at least 1"
            )

    def _prepared(self, layer: Layer, accelerator: Accelerator) -> tuple[IntTable, Setting]:
        """The kernel's integers of a layer on an accelerator; the last ones are kept."""
        found = self._known.get((layer, accelerator))
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            options = (
                self.halo_time, self.halo_space == "tile", self.latency == "bound", self.buffers,
            )  # fmt: skip
            hardware = self.hardware(accelerator)
            found = layer_numbers(layer, hardware, options), self.setting(accelerator)
            self._known[layer, accelerator] = found
        return found


def _owned(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy where it is read-only (the kernel is compiled for the former)."""
    return array if array.flags.writeable else array.copy()
