"""The exact cost model: counts that equal an execution of the loop nest."""

from __future__ import annotations

import difflib
from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.bounds import energy_bound
from cost_models.columns import LazyColumns
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch, FloatArray
from cost_models.dataflow import Dataflow
from cost_models.energy import EnergyError, load_energy
from cost_models.exact.figures import (
    ACCESS_KINDS,
    ACCESSES,
    DETAIL_OF,
    DETAILS,
    FIGURE_OF,
    Setting,
)
from cost_models.exact.layout import BOUND_NAMES, COUNT_NAMES, HW_FIELDS, ROW_FIELDS, IntTable
from cost_models.exact.limits import MAX_EXTENT, explain, too_large
from cost_models.infeasible import Infeasible, InfeasibleError, ReasonCode
from cost_models.mapping import Mapping, MappingBatch
from cost_models.model import CostModelError
from cost_models.physical import EnergyTable
from cost_models.threads import default_threads, run_rows
from layers import DIMS, Layer

ROW_NAMES = (*COUNT_NAMES, *BOUND_NAMES)
_INF = float("inf")
_ORDER = {d: i for i, d in enumerate(DIMS)}
_NO_PES = np.empty(0, np.int32)
_KEPT = 256
T = TypeVar("T")


class ExactModel:
    """A model whose counts equal a brute-force execution of the loop nest, in closed form.

    Args:
        halo_time: ``"slide"``: input elements that are still held when the window moves on along
            Y or X alone are not fetched again; ``"none"``: every tile is fetched in full.
        halo_space: ``"union"``: an element that several PEs share is read from L2 once;
            ``"tile"``: every distinct tile is read in full.
        latency: ``"stepwise"``: the sum over steps of the slowest of compute and traffic;
            ``"bound"``: the slowest of their totals, a true lower bound of it, and faster to find.
        double_buffer: Whether L1 and L2 hold every tile twice.
        energy: ``"maestro"``, ``"eyeriss"`` or a YAML file; see
            :func:`cost_models.energy.load_energy`.
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    name = "exact"

    def __init__(
        self,
        halo_time: str = "slide",
        halo_space: str = "union",
        latency: str = "stepwise",
        double_buffer: bool = True,
        energy: str = "maestro",
        threads: int | None = None,
    ) -> None:
        self.halo_time = _chosen("halo_time", halo_time, ("slide", "none"))
        self.halo_space = _chosen("halo_space", halo_space, ("union", "tile"))
        self.latency = _chosen("latency", latency, ("stepwise", "bound"))
        if not isinstance(double_buffer, bool):
            raise CostModelError(f"double_buffer: got {double_buffer!r}, expected true or false")
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)
                                    or threads < 1):  # fmt: skip
            raise CostModelError(f"threads: got {threads!r}, expected a whole number of at least 1")
        self.double_buffer = double_buffer
        self.energy = energy
        self.threads = threads
        try:
            self.energy_table: EnergyTable = load_energy(energy)
        except EnergyError as error:
            raise CostModelError(str(error)) from error
        self._known: dict[tuple[Layer, Accelerator], tuple[IntTable, Setting]] = {}

    def __repr__(self) -> str:
        return (
            f"ExactModel(halo_time={self.halo_time!r}, halo_space={self.halo_space!r}, "
            f"latency={self.latency!r}, double_buffer={self.double_buffer}, "
            f"energy={self.energy!r})"
        )

    # ------------------------------------------------------------------ one mapping

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
            return _refused(infeasible)
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return _refused(error.infeasible)
        from cost_models.exact.kernel import evaluate_rows

        hw, setting = self._prepared(layer, accelerator)
        extents = layer.extents
        num_pes = mapping.num_pes
        row = np.empty((1, ROW_FIELDS), np.int64)
        reason = np.empty(1, np.int8)
        evaluate_rows(
            np.array([[[_ORDER[d] for d in order] for order in mapping.orders]], np.int8),
            np.array([[_ORDER[d] for d in mapping.parallel]], np.int8),
            np.array([[_tile_row(tiles, extents) for tiles in mapping.tiles]], np.int32),
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
            tiles = [_tile_row(t, extents) for t in mapping.tiles]
            outer = _ORDER[mapping.parallel[0]]
            return _refused(
                self._explain(layer, accelerator, tiles, outer, mapping.cluster_size, pes, code)
            )
        counts = dict(zip(ROW_NAMES, row[0].tolist(), strict=True))
        counts["num_pes"] = pes
        return self._cost(counts, setting)

    def _cost(self, counts: dict[str, int], setting: Setting) -> Cost:
        accesses: dict[str, dict[str, float]] = {tensor: {} for tensor in TENSORS}
        for (tensor, kind), count in ACCESSES[setting.tile].items():
            accesses[tensor][kind] = float(count(counts))
        figures = {name: figure(counts, setting) for name, figure in FIGURE_OF.items()}
        detail = {name: part(counts, setting) for name, part in DETAIL_OF.items()}
        return Cost(
            infeasible=None,
            **figures,
            accesses=accesses,
            detail=detail,
            counts={name: counts[name] for name in COUNT_NAMES},
        )

    # ------------------------------------------------------------------ many mappings

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
        reasons = np.empty(size, np.int8)
        infeasible = too_large(layer)
        hw, setting = None, self._setting(accelerator)
        if infeasible is not None:
            reasons[:] = infeasible.code
        elif size:
            from cost_models.exact.kernel import evaluate_rows

            hw, setting = self._prepared(layer, accelerator)
            pes = _NO_PES if mappings.num_pes is None else _owned(mappings.num_pes)
            arrays = (
                _owned(mappings.orders),
                _owned(mappings.parallel),
                _owned(mappings.tiles),
                _owned(mappings.cluster_size),
                pes,
            )

            def work(low: int, high: int) -> None:
                evaluate_rows(*arrays, hw, rows, reasons, low, high)

            run_rows(work, size, default_threads() if self.threads is None else self.threads)
        counts = _RowCounts(rows, mappings.num_pes, accelerator.num_pes)

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            pes = mappings.num_pes
            return self._explain(
                layer,
                accelerator,
                mappings.tiles[row].tolist(),
                int(mappings.parallel[row, 0]),
                int(mappings.cluster_size[row]),
                accelerator.num_pes if pes is None else int(pes[row]),
                ReasonCode(int(reasons[row])),
            )

        def one(row: int) -> Cost:
            if reasons[row] != 0:
                return _refused(why(row))
            return self._cost(counts.row(row), setting)

        return _cost_batch(counts, reasons, setting, why, one)

    # ------------------------------------------------------------------ bounds and helpers

    def lower_bounds(self, layer: Layer, accelerator: Accelerator) -> dict[str, float]:
        """Energy that no mapping of a layer can beat under this model's table, by figure [nJ]."""
        bound = energy_bound(layer, self.energy_table)
        return {"energy_nj": bound, "energy_total_nj": bound}

    def _setting(self, accelerator: Accelerator) -> Setting:
        return Setting(
            accelerator.simd_lanes,
            accelerator.noc_bw,
            2 if self.double_buffer else 1,
            self.halo_space == "tile",
            self.energy_table,
        )

    def _prepared(self, layer: Layer, accelerator: Accelerator) -> tuple[IntTable, Setting]:
        """The kernel's integers of a layer on an accelerator; the last ones are kept."""
        found = self._known.get((layer, accelerator))
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._hw(layer, accelerator), self._setting(accelerator)
            self._known[layer, accelerator] = found
        return found

    def _hw(self, layer: Layer, accelerator: Accelerator) -> IntTable:
        # a stride beyond the filter acts like one of the filter's size: tiles share nothing
        stride = min(layer.stride, max(layer.R, layer.S))
        hw = np.array(
            [
                *layer.extents,
                stride,
                layer.depthwise,
                layer.repeats,
                accelerator.num_pes,
                -1 if accelerator.l1_bytes is None else accelerator.l1_bytes,
                -1 if accelerator.l2_bytes is None else accelerator.l2_bytes,
                accelerator.noc_bw or UNLIMITED_BW,
                accelerator.offchip_bw or UNLIMITED_BW,
                accelerator.simd_lanes,
                self.halo_time == "slide",
                self.halo_space == "tile",
                self.latency == "bound",
                2 if self.double_buffer else 1,
            ],
            np.int64,
        )
        assert hw.shape == (HW_FIELDS,)
        return hw

    def _explain(
        self,
        layer: Layer,
        accelerator: Accelerator,
        tiles: Sequence[Sequence[int]],
        outer_dim: int,
        cluster_size: int,
        num_pes: int,
        code: ReasonCode,
    ) -> Infeasible:
        outer = tuple(min(t, n) for t, n in zip(tiles[0], layer.extents, strict=True))
        inner = tuple(min(t, n) for t, n in zip(tiles[1], outer, strict=True))
        buffers = 2 if self.double_buffer else 1
        return explain(
            code, layer, accelerator, (outer, inner), outer_dim, cluster_size, num_pes, buffers
        )


class _RowCounts(MappingABC[str, NDArray[np.int64]]):
    """The columns of the kernel's rows by name, and `num_pes`."""

    def __init__(self, rows: IntTable, pes: NDArray[np.int32] | None, default: int) -> None:
        self._rows = rows
        self._pes = pes
        self._default = default

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name == "num_pes":
            if self._pes is None:
                return np.full(len(self._rows), self._default, np.int64)
            return self._pes.astype(np.int64)
        return self._rows[:, _COLUMN[name]]

    def row(self, index: int) -> dict[str, int]:
        """One row's counts as plain integers."""
        found = dict(zip(ROW_NAMES, self._rows[index].tolist(), strict=True))
        found["num_pes"] = self._default if self._pes is None else int(self._pes[index])
        return found

    def __iter__(self) -> Any:
        return iter(ROW_NAMES)

    def __len__(self) -> int:
        return len(ROW_NAMES)


_COLUMN = {name: i for i, name in enumerate(ROW_NAMES)}


def _cost_batch(
    counts: _RowCounts, reasons: NDArray[np.int8], setting: Setting, why: Any, one: Any
) -> CostBatch:
    failed = reasons != 0
    alone = counts.row(0) if len(reasons) == 1 else None

    def masked(value: Any) -> FloatArray:
        column = np.array(value, dtype=np.float64)
        column[failed] = _INF
        return column

    def figure(name: str) -> FloatArray:
        if alone is not None:  # plain numbers are several times faster than arrays of one
            value = _INF if failed[0] else FIGURE_OF[name](alone, setting)
            return np.array([value], dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return masked(FIGURE_OF[name](counts, setting))

    def part(name: str) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return masked(DETAIL_OF[name](counts, setting))

    def accesses(tensor: str) -> MappingABC[str, FloatArray]:
        return LazyColumns(
            ACCESS_KINDS, lambda kind: masked(ACCESSES[setting.tile][tensor, kind](counts))
        )

    return CostBatch(
        reason=reasons,
        figures=LazyColumns(FIGURES, figure),
        accesses=LazyColumns(TENSORS, accesses),
        detail=LazyColumns(DETAILS, part),
        counts=LazyColumns(COUNT_NAMES, counts.__getitem__),
        explain=why,
        one=one,
    )


def _refused(infeasible: Infeasible) -> Cost:
    figures: dict[str, Any] = dict.fromkeys(FIGURES, _INF)
    return Cost(infeasible, **figures)


def _tile_row(tiles: MappingABC[str, int], extents: tuple[int, ...]) -> list[int]:
    get = tiles.get
    k, c, y, x, r, s = extents
    row = [get("K", k), get("C", c), get("Y", y), get("X", x), get("R", r), get("S", s)]
    return [min(t, n) for t, n in zip(row, extents, strict=True)]


def _owned(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy where it is read-only (the kernel is compiled for the former)."""
    return array if array.flags.writeable else array.copy()


def _chosen(option: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        near = difflib.get_close_matches(str(value), choices, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CostModelError(
            f"{option}: got {value!r}, expected one of {', '.join(choices)}.{hint}"
        )
    return value
