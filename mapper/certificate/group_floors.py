"""What no mapping of any tiling of a fused group is below, for the checker alone.

Every part pays for its MACs, with their accesses, and for every element that it moves once. Its
cycles are those of the best spread over the PEs, or of its elements over DRAM's ports, whichever
takes longer. It shares no code with the floors of the search (`mapper.fusing.part_floors`);
lists of levels have floors of their own (`mapper.certificate.deep_floors`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

import numpy as np

import cost_models
from cost_models import Accelerator, energy_of_counts
from layers import TENSORS, Layer, LayerKind, footprint
from mapper.certificate.deep_floors import DeepPrices, Outputs
from mapper.certificate.relaxation import TIGHT
from mapper.fusing.axis_plan import Piece
from mapper.fusing.fused_group import filter_bits, resident_of, sums_of
from mapper.fusing.group_terms import GroupTerms
from mapper.staying.shape_facts import Resident, SumWeights
from marl_common import FloatArray

SHORT = dict(zip(TENSORS, ("in", "fil", "out"), strict=True))
"""Tensors as counts of the model name them."""


class GroupFloors:
    """Floors of all tilings of a group.

    Arrays are flat, by tiles of keys, sets of filters that stay, plans of rows, and of columns.

    Args:
        terms: The group with what is in L2 beside it.
        all_pes: Whether every mapping has all PEs of the chip leak.
    """

    def __init__(self, terms: GroupTerms, all_pes: bool) -> None:
        self.terms = terms
        self._padding_free = terms.options.get("padding") == "free"
        self._prices: _Prices | DeepPrices
        if isinstance(terms.chip, Accelerator):
            self._prices = _Prices(terms.chip, terms.options, all_pes)
        else:
            self._prices = DeepPrices(terms.chip, self._padding_free)
        self._values: dict[SumWeights, FloatArray] = {}

    def values(self, weights: SumWeights) -> FloatArray:
        """What the sum of each tiling is not below."""
        if weights not in self._values:
            energy, latency = self.figures
            self._values[weights] = weights.energy * energy + weights.latency * latency
        return self._values[weights]

    @cached_property
    def figures(self) -> tuple[FloatArray, FloatArray]:
        """Energy [nJ] and latency [cycles] of each tiling at least."""
        terms, group = self.terms, self.terms.group
        found = np.zeros((2, *self.terms.shape))
        for place in range(len(group.layers)):
            rows, columns = (
                _Axis([plan.pieces[place] for plan in plans], self._padding_free)
                for plans in (group.row_plans, group.column_plans)
            )
            loads = np.array([terms.loads(plan, place)[:2] for plan in group.column_plans]).T
            for number, keys in enumerate(group.key_tiles):
                known: dict[Resident, FloatArray] = {}
                for chosen, filters in enumerate(terms.filters):
                    resident = resident_of(group, place, filters, terms.outside, keys)
                    if resident not in known:
                        known[resident] = np.zeros((2, *self.terms.shape[2:]))
                        for layer, often in group.cuts(place, keys):
                            figures = self._prices.of_parts(
                                layer, (rows.extents, columns.extents),
                                _sizes(layer, rows, columns), resident,
                            )  # fmt: skip
                            known[resident] += often * (rows.times @ figures @ columns.times.T)
                    found[:, number, chosen] += known[resident]
                    if place in filters:
                        found[:, number, chosen] += loads[:, None, :]
        energy, latency = found.reshape(2, -1) * TIGHT
        return energy, latency

    @cached_property
    def bits(self) -> FloatArray:
        """What each tiling takes of L2 at most; inf where the group is not cut."""
        terms, group = self.terms, self.terms.group
        rows, columns = group.row_plans, group.column_plans
        places = range(len(group.layers))
        each = [[filter_bits(group, terms.chip, n, plan) for plan in columns] for n in places]
        filters = np.array([np.sum([each[n] for n in some] or [[0] * len(columns)], axis=0)
                            for some in terms.filters], float)  # fmt: skip
        found = np.empty(self.terms.shape)
        for number, keys in enumerate(group.key_tiles):
            sums = np.zeros((len(rows), len(columns)))
            if keys:
                tiles = [[sum(sums_of(group, r.tile, c.tile)) for c in columns] for r in rows]
                sums += np.array(tiles) * terms.chip.widths.psum
            else:
                whole = np.outer([r.tiles == 1 for r in rows], [c.tiles == 1 for c in columns])
                sums[whole] = np.inf
            found[number] = filters[:, None] + np.maximum.reduce(
                [sums + self._windows(place, keys) for place in places]
            )
        return found.ravel()

    def _windows(self, place: int, keys: int) -> FloatArray:
        """What tensors between layers take during one of them: ``(rows, columns)``."""
        group = self.terms.group
        total = np.zeros(self.terms.shape[2:])
        for tensor in range(len(group.layers) - 1):
            read, line = (
                np.array([[plan.held[tensor], plan.kept[tensor]] for plan in group.row_plans])
                .T[:, :, None]
            )  # fmt: skip
            wide, corner = np.array(
                [[plan.held[tensor], plan.kept[tensor]] for plan in group.column_plans]
            ).T
            across, bits = group.columns[tensor].outputs, group.bits[tensor]
            kept = line * across + (read - line) * corner
            touched = line * across + (read - line) * wide
            if place == tensor:  # while it is written, sums have their own width
                bits = max(bits, self.terms.chip.widths.psum)
            here = touched if place in (tensor, tensor + 1) else kept
            total += here * (group.deep(tensor, keys) * bits)
        return total


class _Axis:
    """Pieces of a layer along an axis, and how often each plan has them: ``(plans, pieces)``."""

    def __init__(self, plans: Sequence[Counter[Piece]], padding_free: bool) -> None:
        pads = int(padding_free)
        keys = sorted({(p.outputs, pads * (p.low + p.high)) for plan in plans for p in plan})
        self.outputs, self.pads = np.array(keys).T
        self.extents = tuple(outputs for outputs, _ in keys)
        self.times = np.zeros((len(plans), len(keys)))
        for number, plan in enumerate(plans):
            for p, times in plan.items():
                self.times[number, keys.index((p.outputs, pads * (p.low + p.high)))] += times

    def touched(self, taps: int, stride: int, dilation: int) -> FloatArray:
        """Rows of the input that each piece reads; of those that are no padding, at least."""
        rows = [float(footprint(n, taps, stride, dilation)) for n in self.outputs.tolist()]
        found: FloatArray = np.maximum(np.array(rows) - self.pads, 0.0)
        return found


class _Prices:
    """What parts cost at least on a chip of two levels; :class:`DeepPrices` are those of others.

    Args:
        chip: The chip.
        options: Options of the model `exact`.
        all_pes: Whether every mapping has all PEs of the chip leak.
    """

    def __init__(self, chip: Accelerator, options: Mapping[str, Any], all_pes: bool) -> None:
        self._chip, self._all_pes = chip, all_pes
        self._model = cost_models.load("exact", **options)
        outer, inner = self._chip.buffers()
        # what some level does not hold goes another way: it is not known to cost anything
        held = [name for n, name in enumerate(TENSORS) if outer.holds[n] and inner.holds[n]]
        skipped = [f"l1_skipped_{SHORT[name]}" for n, name in enumerate(TENSORS)
                   if not inner.holds[n]]  # fmt: skip
        self._mac = self._nj({"macs": 1, **dict.fromkeys(skipped, 1)})
        self._inside = {name: self._nj(_inside(name)) if name in held else 0.0 for name in TENSORS}
        self._dram = {name: self._nj(_across(name)) if name in held else 0.0 for name in TENSORS}
        self._leak = self._nj({}, 1)

    def _nj(self, counts: dict[str, int], cycles: int = 0) -> float:
        """Energy of counts, buffers without a capacity at their smallest [nJ]."""
        return energy_of_counts(
            self._model, self._chip, cycles, {"l1_bits": 1, "l2_bits": 1, **counts}
        )

    def of_parts(
        self,
        layer: Layer,
        outputs: Outputs,
        sizes: Mapping[str, FloatArray],
        resident: Resident,
    ) -> FloatArray:
        """See :meth:`DeepPrices.of_parts`."""
        chip = self._chip
        macs = sizes["output"] * (layer.macs // layer.output_size)
        steps = least_steps(layer, *outputs, chip.num_pes)
        cycles = np.ceil(steps * TIGHT / chip.simd_lanes)
        outer, outside = chip.buffers()[0], [name for name in TENSORS if name not in resident]
        width = {"input": chip.widths.input, "filter": chip.widths.filter,
                 "output": min(chip.widths.output, chip.widths.psum)}  # fmt: skip
        for rate, names in ((outer.read_bw, ("input", "filter")), (outer.write_bw, ("output",))):
            if rate is not None:
                bits = sum(sizes[name] * width[name] for name in names if name in outside)
                cycles = np.maximum(cycles, np.ceil(bits * TIGHT / rate))
        energy = macs * self._mac + sum(sizes[name] * self._inside[name] for name in TENSORS)
        energy += sum(sizes[name] * self._dram[name] for name in outside)
        leaking = cycles if self._all_pes else macs / chip.simd_lanes / chip.num_pes
        return np.stack([energy + self._leak * leaking, cycles])


def _inside(name: str) -> dict[str, int]:
    """The counts of an element that passes once between L2 and the PEs."""
    if name == "output":
        return dict.fromkeys(("l2w_out", "l2w_out_tile", "l1drain_out"), 1)
    return dict.fromkeys((f"l2r_{SHORT[name]}", f"l2r_{SHORT[name]}_tile", f"l1w_{SHORT[name]}"), 1)


def _across(name: str) -> dict[str, int]:
    """The counts of an element that crosses DRAM's boundary once."""
    return {"dram_out_w" if name == "output" else f"dram_{SHORT[name]}": 1}


def _sizes(layer: Layer, rows: _Axis, columns: _Axis) -> dict[str, FloatArray]:
    """Elements of each tensor of a part: ``(pieces of rows, pieces of columns)``."""
    outputs = np.outer(rows.outputs, columns.outputs).astype(float)
    if layer.kind is LayerKind.GEMM:  # its columns are independent products
        return {
            "input": outputs * layer.C,
            "filter": np.broadcast_to(columns.outputs * float(layer.C * layer.K), outputs.shape),
            "output": outputs * layer.K,
        }
    touched = np.outer(
        rows.touched(layer.R, layer.stride_y, layer.dilation_y),
        columns.touched(layer.S, layer.stride_x, layer.dilation_x),
    )
    return {
        "input": touched * (layer.repeats * layer.C),
        "filter": np.full(outputs.shape, float(layer.filter_size)),
        "output": outputs * (layer.output_size // (layer.out_y * layer.out_x)),
    }


@lru_cache(maxsize=256)
def least_steps(
    layer: Layer, rows: tuple[int, ...], columns: tuple[int, ...], pes: int
) -> FloatArray:
    """MACs of the busiest PE at least, for other rows and columns of outputs: ``(rows, columns)``.

    One dimension is spread over the clusters, and one, maybe the same, over the PEs of a cluster.
    """
    product = layer.kind is LayerKind.GEMM
    fixed = [
        extent for at, extent in enumerate(layer.extents) if at not in (2, 6 if product else 3)
    ]
    extents = [np.full((1, 1), float(extent)) for extent in fixed if extent > 1]
    extents += [np.array(rows, float)[:, None], np.array(columns, float)[None, :]]
    work = np.ones((len(rows), len(columns)))
    for extent in extents:
        work = work * extent
    largest = {pes // size: size for size in range(1, pes + 1)}  # PEs of so many clusters
    best = work
    for extent in extents:
        best = np.minimum(best, work / extent * np.ceil(extent / pes))
    for one, other in permutations(extents, 2):
        share = np.full(np.broadcast_shapes(one.shape, other.shape), np.inf)
        for clusters, size in largest.items():
            share = np.minimum(share, np.ceil(one / clusters) * np.ceil(other / size))
        best = np.minimum(best, work / (one * other) * share)
    return best
