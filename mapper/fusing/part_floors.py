"""What no mapping of a layer's parts in fused tiles is below, for all tilings at once.

Every MAC is paid for, with its accesses, and every tensor is moved once a part. Cycles are those of
the MACs on the best use of the PEs: a part has to be spread along one dimension over clusters, and
along one over the PEs of a cluster; on a list of levels, along one over each axis of its fan-outs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

import cost_models
from cost_models import (
    Accelerator,
    Chain,
    LeastWork,
    energy_floor,
    energy_of_counts,
    leakage_nj,
    offchip_cycles,
)
from layers import DIMS, TENSORS, Layer, LayerKind, footprint
from mapper.fusing.axis_plan import Piece
from mapper.staying.shape_facts import Resident
from marl_common import FloatArray, IntArray

COUNTS = {
    "macs": ("macs",),
    "input": ("l2r_in", "l2r_in_tile", "l1w_in"),
    "filter": ("l2r_fil", "l2r_fil_tile", "l1w_fil"),
    "output": ("l2w_out", "l2w_out_tile", "l1drain_out"),
    "dram_input": ("dram_in",),
    "dram_filter": ("dram_fil",),
    "dram_output": ("dram_out_w",),
}
"""Counts of the exact model that grow with a MAC, or with an element that is moved once."""


MOST_SPREADS = 4096
"""Ways to spread a layer over a list of levels that are told apart."""


class WorkPrices:
    """What MACs and moves cost at least on a chip.

    Args:
        chip: The chip.
        options: Options of the model `exact`.
    """

    def __init__(self, chip: Accelerator | Chain, options: Mapping[str, Any]) -> None:
        self.chip, self.padding_free = chip, options.get("padding") == "free"
        self._model = cost_models.load("exact", **options)

    @cached_property
    def leak(self) -> float:
        """What all PEs leak in a cycle [nJ]."""
        if isinstance(self.chip, Chain):
            return leakage_nj(self.chip)
        return energy_of_counts(self._model, self.chip, 1, {})

    @cached_property
    def _each(self) -> dict[str, float]:
        """Energy of a MAC with its accesses, and of an element moved once [nJ]: of two levels."""
        assert isinstance(self.chip, Accelerator)
        return {
            name: energy_of_counts(self._model, self.chip, 0, dict.fromkeys(some, 1))
            for name, some in COUNTS.items()
        }

    def energy(self, sizes: Mapping[str, FloatArray], resident: Resident) -> FloatArray:
        """Energy without leakage of MACs and of elements that are moved once [nJ].

        Args:
            sizes: How many there are: ``macs``, and of each tensor.
            resident: Tensors that are whole in L2.
        """
        if isinstance(self.chip, Chain):
            input_, filter_, output = (name in resident for name in TENSORS)
            elements = [sizes[name] for name in TENSORS]
            here = input_, filter_, output
            work = LeastWork(sizes["macs"], elements, here, padding_free=self.padding_free)
            found: FloatArray = energy_floor(work, self.chip)
            return found
        total = np.zeros_like(sizes["macs"])
        for name, size in sizes.items():
            total += self._each[name] * size
            if name in TENSORS and name not in resident:
                total += self._each[f"dram_{name}"] * size
        return total

    def cycles(self, sizes: Mapping[str, FloatArray], resident: Resident) -> FloatArray | float:
        """Cycles of what comes from DRAM, where that takes any time."""
        loaded = [sizes[name] * (name not in resident) for name in TENSORS]
        if isinstance(self.chip, Chain):
            longest: FloatArray = offchip_cycles(self.chip, loaded)
            return longest
        rate = self.chip.buffers()[0].read_bw
        widths = self.chip.widths
        return (
            0.0 if rate is None else (widths.input * loaded[0] + widths.filter * loaded[1]) / rate
        )


class PartFloors:
    """Least costs of a layer, summed over its parts; arrays are ``(rows, columns)``, by plan.

    Args:
        layer: The whole layer.
        prices: What its work costs on the chip.
        rows: Its pieces along rows, of each plan.
        columns: Likewise along columns; of a product, the independent products.
    """

    def __init__(
        self,
        layer: Layer,
        prices: WorkPrices,
        rows: Sequence[Counter[Piece]],
        columns: Sequence[Counter[Piece]],
    ) -> None:
        self.layer, self._prices = layer, prices
        self._rows, self._columns = _Pieces(rows), _Pieces(columns)
        product = layer.kind is LayerKind.GEMM
        across = layer.N if product else layer.out_x
        outputs = self._sum(lambda y: y, lambda x: x)

        def rows_read(y: int) -> int:
            return footprint(y, layer.R, layer.stride_y, layer.dilation_y)

        def columns_read(x: int) -> int:
            return x if product else footprint(x, layer.S, layer.stride_x, layer.dilation_x)

        whole = layer.out_y * across
        touched = rows_read(layer.out_y) * columns_read(across)
        parts = self._sum(lambda y: 1, lambda x: x if product else 1)
        free = prices.padding_free
        read = np.outer(self._rows.read(rows_read, free), self._columns.read(columns_read, free))
        self.sizes = {
            "macs": outputs * (layer.macs // whole),
            "input": read * (layer.input_size // touched),
            "filter": parts * (layer.filter_size // (across if product else 1)),
            "output": outputs * (layer.output_size // whole),
        }
        cycles = least_cycles(layer, self._rows.outputs, self._columns.outputs, prices.chip)
        self._compute = self._rows.counts @ cycles @ self._columns.counts.T

    def _sum(self, of_rows: Callable[[int], int], of_columns: Callable[[int], int]) -> FloatArray:
        """The product of a figure of rows and one of columns, summed over all parts."""
        return np.outer(self._rows.sums(of_rows), self._columns.sums(of_columns))

    def energy(self, resident: Resident) -> FloatArray:
        """Energy of MACs and moves, and of leakage meanwhile [nJ]."""
        return self._prices.energy(self.sizes, resident) + self.cycles(resident) * self._prices.leak

    def cycles(self, resident: Resident) -> FloatArray:
        """Cycles of the MACs, or of what comes from DRAM where that takes longer."""
        longer: FloatArray = np.maximum(self._compute, self._prices.cycles(self.sizes, resident))
        return longer


class _Pieces:
    """Pieces of plans along an axis: which outputs there are, and how often in each plan."""

    def __init__(self, plans: Sequence[Counter[Piece]]) -> None:
        self._plans = plans
        self.outputs = np.array(sorted({piece.outputs for plan in plans for piece in plan}))
        place = {int(outputs): n for n, outputs in enumerate(self.outputs)}
        self.counts = np.zeros((len(plans), len(self.outputs)))
        for number, plan in enumerate(plans):
            for piece, often in plan.items():
                self.counts[number, place[piece.outputs]] += often

    def sums(self, of: Callable[[int], int]) -> FloatArray:
        """A figure of the outputs of a piece, summed over each plan."""
        each = np.array([of(int(outputs)) for outputs in self.outputs], float)
        total: FloatArray = self.counts @ each
        return total

    def read(self, of: Callable[[int], int], padding_free: bool) -> FloatArray:
        """Rows that pieces read, summed over each plan; all padding is taken off where it is free.

        Args:
            of: Rows that so many outputs read, those of padding among them.
            padding_free: Whether padding is no traffic.
        """
        found = []
        for plan in self._plans:
            rows = 0
            for piece, often in plan.items():
                pads = padding_free * (piece.low + piece.high)
                rows += often * max(of(piece.outputs) - pads, 0)
            found.append(float(rows))
        return np.array(found)


def least_cycles(
    layer: Layer, rows: IntArray, columns: IntArray, chip: Accelerator | Chain
) -> FloatArray:
    """Fewest cycles of a layer with other output rows and columns: ``(rows, columns)``.

    Over all sizes of clusters and all pairs of dimensions, or all dimensions of each axis: those
    along which a part is spread take as many steps as their largest share has.
    """
    across = "N" if layer.kind is LayerKind.GEMM else "X"
    sizes = {dim: np.array([[n]], float) for dim, n in zip(DIMS, layer.extents, strict=True)}
    sizes |= {"Y": rows[:, None].astype(float), across: columns[None, :].astype(float)}
    sizes = {dim: extent for dim, extent in sizes.items() if extent.max() > 1}
    if isinstance(chip, Chain):
        return _chain_cycles(sizes, chip, np.ones((len(rows), len(columns))))
    total = np.ones((len(rows), len(columns)))
    for extent in sizes.values():
        total = total * extent
    clusters = {(chip.num_pes // size, size) for size in range(1, chip.num_pes + 1)}
    outer, within = np.array(sorted(clusters), float).T[:, :, None, None]
    best = total
    for extent in sizes.values():
        best = np.minimum(best, total / extent * np.ceil(extent / chip.num_pes))
    for one, other in combinations(sizes.values(), 2):
        for first, second in ((one, other), (other, one)):
            steps = np.ceil(first / outer) * np.ceil(second / within)
            best = np.minimum(best, total / (first * second) * steps.min(axis=0))
    return best / chip.simd_lanes


def _chain_cycles(sizes: Mapping[str, FloatArray], chip: Chain, ones: FloatArray) -> FloatArray:
    """The same where each axis of a fan-out spreads a dimension; `sizes` are those above 1."""
    total = ones
    for extent in sizes.values():
        total = total * extent
    spreads: set[frozenset[tuple[str, int]]] = {frozenset()}
    for level in chip.levels:
        for axis in () if level.fanout.any else level.fanout.axes:
            along = [dim for dim in axis.dims if dim in sizes] or [""]
            spreads = {_spread(one, dim, axis.units) for one in spreads for dim in along}
            if len(spreads) > MOST_SPREADS:
                return total / chip.peak_macs_per_cycle
    best = total
    for one in spreads:
        steps = total
        for dim, units in one:
            steps = steps / sizes[dim] * np.ceil(sizes[dim] / units)
        best = np.minimum(best, steps)
    return best / chip.lanes


def _spread(spread: frozenset[tuple[str, int]], dim: str, units: int) -> frozenset[tuple[str, int]]:
    """A spread with units along a dimension besides; without one, they are idle."""
    if not dim:
        return spread
    found = dict(spread)
    found[dim] = found.get(dim, 1) * units
    return frozenset(found.items())
