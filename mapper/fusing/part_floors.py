"""What no mapping of a layer's parts in fused tiles is below, for all tilings at once.

Every MAC is paid for, with its accesses, and every tensor is moved once a part. Cycles are those of
the MACs on the best use of the PEs: a part has to be spread along one dimension over clusters, and
along one over the PEs of a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from cost_models import Accelerator
from layers import TENSORS, Layer, LayerKind, footprint
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


class PartFloors:
    """Least costs of a layer, summed over its parts; arrays are ``(rows, columns)``, by plan.

    Args:
        layer: The whole layer.
        chip: The chip.
        rows: Its pieces along rows, of each plan.
        columns: Likewise along columns; of a product, the independent products.
    """

    def __init__(
        self,
        layer: Layer,
        chip: Accelerator,
        rows: Sequence[Counter[Piece]],
        columns: Sequence[Counter[Piece]],
    ) -> None:
        self.layer, self.chip = layer, chip
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
        self.sizes = {
            "macs": outputs * (layer.macs // whole),
            "input": self._sum(rows_read, columns_read) * (layer.input_size // touched),
            "filter": parts * (layer.filter_size // (across if product else 1)),
            "output": outputs * (layer.output_size // whole),
        }
        cycles = least_cycles(layer, self._rows.outputs, self._columns.outputs, chip)
        self._compute = self._rows.counts @ cycles @ self._columns.counts.T

    def _sum(self, of_rows: Callable[[int], int], of_columns: Callable[[int], int]) -> FloatArray:
        """The product of a figure of rows and one of columns, summed over all parts."""
        return np.outer(self._rows.sums(of_rows), self._columns.sums(of_columns))

    def energy(self, resident: Resident, prices: Mapping[str, float]) -> FloatArray:
        """Energy of MACs and moves at prices by the names of `COUNTS` [nJ]."""
        total = np.zeros_like(self._compute)
        for name, size in self.sizes.items():
            total += prices[name] * size
            if name in TENSORS and name not in resident:
                total += prices[f"dram_{name}"] * size
        return total

    def cycles(self, resident: Resident) -> FloatArray:
        """Cycles of the MACs, or of what comes from DRAM where that takes longer."""
        rate = self.chip.buffers()[0].read_bw
        if rate is None:
            return self._compute
        bits = sum(
            getattr(self.chip.widths, name) * self.sizes[name]
            for name in ("input", "filter")
            if name not in resident
        )
        longer: FloatArray = np.maximum(self._compute, bits / rate)
        return longer


class _Pieces:
    """Pieces of plans along an axis: which outputs there are, and how often in each plan."""

    def __init__(self, plans: Sequence[Counter[Piece]]) -> None:
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


def least_cycles(layer: Layer, rows: IntArray, columns: IntArray, chip: Accelerator) -> FloatArray:
    """Fewest cycles of a layer with other output rows and columns: ``(rows, columns)``.

    Over all sizes of clusters and all pairs of dimensions: those along which a part is spread take
    as many steps as their largest share has.
    """
    wide, inner, _, across, *taps, products, groups = layer.extents
    rest = across if layer.kind is LayerKind.GEMM else products
    fixed = [extent for extent in (wide, inner, *taps, rest, groups) if extent > 1]
    extents = [np.array([[extent]], float) for extent in fixed]
    extents += [rows[:, None].astype(float), columns[None, :].astype(float)]
    total = np.ones((len(rows), len(columns)))
    for extent in extents:
        total = total * extent
    sizes = {(chip.num_pes // size, size) for size in range(1, chip.num_pes + 1)}
    outer, within = np.array(sorted(sizes), float).T[:, :, None, None]
    best = total
    for extent in extents:
        best = np.minimum(best, total / extent * np.ceil(extent / chip.num_pes))
    for one, other in combinations(extents, 2):
        for first, second in ((one, other), (other, one)):
            steps = np.ceil(first / outer) * np.ceil(second / within)
            best = np.minimum(best, total / (first * second) * steps.min(axis=0))
    return best / chip.simd_lanes
