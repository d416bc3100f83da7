"""What the tilings of a fused group cost at least, and at most as far as is known.

All tilings have a floor: what no mapping of their parts is below, since every MAC and every tensor
is paid for once a part. Those with the lowest floors are looked at first: their parts are layers,
of which bounds, mappings and proofs are known as of any other layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

import cost_models
from cost_models import energy_of_counts
from layers import Layer, footprint
from mapper.fusing.axis_plan import AxisPlan
from mapper.fusing.fused_group import (
    FusedGroup,
    FusedTiling,
    filter_bits,
    resident_of,
)
from mapper.staying.network_optimum import LayerPart
from mapper.staying.shape_facts import Resident, ShapeFacts, SumWeights
from marl_common import FloatArray, IntArray

if TYPE_CHECKING:
    from cost_models import Accelerator
    from mapper.staying.stay_proof import StaySetting

COUNTS = {
    "macs": ("macs",),
    "input": ("l2r_in", "l2r_in_tile", "l1w_in"),
    "filter": ("l2r_fil", "l2r_fil_tile", "l1w_fil"),
    "output": ("l2w_out", "l2w_out_tile", "l1drain_out"),
    "dram_input": ("dram_in",),
    "dram_filter": ("dram_fil",),
    "dram_output": ("dram_out_w",),
}
"""Counts of the cost model that grow with a MAC, or with an element that is moved once."""


Part = tuple[int, LayerPart]
"""A layer's place in its group, and what it computes in some of the fused tiles."""


class GroupTilings:
    """All tilings of a group that fit, with their floors.

    Args:
        setting: Chip, options and space.
        group: The group.
        outside: Those of its own input and output that are whole in L2.
    """

    def __init__(self, setting: StaySetting, group: FusedGroup, outside: Resident) -> None:
        self.setting, self.group, self.outside = setting, group, outside
        self.chip: Accelerator = setting.chip
        self._bits = filter_bits(group, self.chip)
        self._model = cost_models.load("exact", **setting.options)
        places = range(len(group.layers))
        self.filters = [
            frozenset(place for place in places if chosen >> place & 1)
            for chosen in range(2 ** len(places))
        ]

    def tiling(self, number: int) -> FusedTiling:
        """A tiling by its number."""
        group = self.group
        shape = (len(self.filters), len(group.row_plans), len(group.column_plans))
        chosen, row, column = (int(one) for one in np.unravel_index(number, shape))
        return FusedTiling(group.row_plans[row], group.column_plans[column], self.filters[chosen])

    def parts(self, tiling: FusedTiling, left: float) -> list[Part]:
        """The layers' work in fused tiles, where other tensors leave so many bits of L2."""
        found = []
        for place in range(len(self.group.layers)):
            taken = tiling.room_bits(self.group, self.chip, place, self._bits)
            resident = resident_of(self.group, place, tiling, self.outside)
            room = (left - taken) / 8
            found += [
                (place, LayerPart(layer, resident, room, count))
                for layer, count in tiling.parts(self.group, place)
            ]
        return found

    def loads(self, tiling: FusedTiling, place: int) -> tuple[float, float, float]:
        """Energy [nJ], latency [cycles] and bytes of DRAM to bring a filter that stays into L2."""
        if place not in tiling.filters:
            return 0.0, 0.0, 0.0
        bits, rate = self._bits[place], self.chip.buffers()[0].read_bw
        latency = 1 if rate is None else -(-bits // rate)
        elements = self.group.layers[place].filter_size
        energy = energy_of_counts(self._model, self.chip, latency, {"dram_fil": elements})
        return energy, float(latency), bits / 8

    @cached_property
    def _prices(self) -> dict[str, float]:
        """Energy of a MAC with its accesses, and of an element moved once [nJ]."""
        return {
            name: energy_of_counts(self._model, self.chip, 0, dict.fromkeys(some, 1))
            for name, some in COUNTS.items()
        }

    @cached_property
    def floors(self) -> tuple[FloatArray, FloatArray]:
        """Energy [nJ] and latency [cycles] of all tilings at least."""
        rows, columns = self.group.row_plans, self.group.column_plans
        shape = (len(self.filters), len(rows), len(columns))
        energy, latency = np.zeros(shape), np.zeros(shape)
        for place, layer in enumerate(self.group.layers):
            sizes = _sizes(layer, place, rows, columns)
            for chosen, filters in enumerate(self.filters):
                tiling = FusedTiling(rows[0], columns[0], filters)
                resident = resident_of(self.group, place, tiling, self.outside)
                more, longer = self._layer_floor(sizes, resident)
                load = self.loads(tiling, place)
                energy[chosen] += more + load[0]
                latency[chosen] += longer + load[1]
        return energy.ravel(), latency.ravel()

    def _layer_floor(
        self, sizes: dict[str, FloatArray], resident: Resident
    ) -> tuple[FloatArray, FloatArray]:
        prices, chip = self._prices, self.chip
        energy = sum(prices[name] * size for name, size in sizes.items())
        moved = [name for name in ("input", "filter", "output") if name not in resident]
        energy = energy + sum(prices[f"dram_{name}"] * sizes[name] for name in moved)
        latency = sizes["macs"] / (chip.num_pes * chip.simd_lanes)
        rate = chip.buffers()[0].read_bw
        bits = sum(getattr(chip.widths, name) * sizes[name] for name in moved if name != "output")
        if rate is not None:
            latency = np.maximum(latency, bits / rate)
        return energy, latency

    @cached_property
    def taken(self) -> FloatArray:
        """Bits of L2 that the tensors of each tiling take at most; inf for the one that is no cut.

        The single tile that is the whole group is left out: its tensors are whole.
        """
        group, nothing = self.group, frozenset[int]()
        found = np.full((len(group.row_plans), len(group.column_plans)), np.inf)
        for row, rows in enumerate(group.row_plans):
            for column, columns in enumerate(group.column_plans):
                one = FusedTiling(rows, columns, nothing)
                if one.tiles > 1:
                    found[row, column] = max(
                        one.room_bits(group, self.chip, place, self._bits)
                        for place in range(len(group.layers))
                    )
        stay = np.array([sum(self._bits[place] for place in one) for one in self.filters])
        return (stay[:, None, None] + found).ravel()

    def cheapest(self, weights: SumWeights, left: float) -> tuple[IntArray, FloatArray]:
        """Numbers of the tilings that fit, by what they cost at least, and these costs."""
        fitting = np.flatnonzero(self.taken < left)
        energy, latency = (floor[fitting] for floor in self.floors)
        values = weights.energy * energy + weights.latency * latency
        order = np.argsort(values, kind="stable")
        return fitting[order], values[order]


def _sizes(
    layer: Layer, place: int, rows: Sequence[AxisPlan], columns: Sequence[AxisPlan]
) -> dict[str, FloatArray]:
    """MACs, and elements of each tensor summed over all parts: ``(rows, columns)``."""

    def sums(plans: Sequence[AxisPlan], taps: int, stride: int, spread: int) -> FloatArray:
        """Outputs, inputs and number of the pieces of each plan."""
        pieces = [plan.pieces[place].items() for plan in plans]
        found = [
            [(piece.outputs * n, footprint(piece.outputs, taps, stride, spread) * n, n)
             for piece, n in some]
            for some in pieces
        ]  # fmt: skip
        return np.array([np.sum(some, axis=0) for some in found], float).T

    y = sums(rows, layer.R, layer.stride_y, layer.dilation_y)
    x = sums(columns, layer.S, layer.stride_x, layer.dilation_x)
    outputs, inputs, parts = (np.outer(one, other) for one, other in zip(y, x, strict=True))
    touched = footprint(layer.out_y, layer.R, layer.stride_y, layer.dilation_y)
    touched *= footprint(layer.out_x, layer.S, layer.stride_x, layer.dilation_x)
    whole = layer.out_y * layer.out_x
    return {
        "macs": outputs * (layer.macs // whole),
        "input": inputs * (layer.input_size // touched),
        "filter": parts * layer.filter_size,
        "output": outputs * (layer.output_size // whole),
    }


class GroupCosts:
    """What the tilings of a group cost, by the weights of one sum.

    Args:
        tilings: The tilings.
        left: Bits of L2 that other tensors leave.
        weights: What is summed.
        facts: What is known of a part, with the bounds of its whole space.
    """

    def __init__(
        self,
        tilings: GroupTilings,
        left: float,
        weights: SumWeights,
        facts: Callable[[Layer, Resident, SumWeights], ShapeFacts],
    ) -> None:
        self.tilings, self.weights, self._left, self._facts = tilings, weights, left, facts
        self._order, self._floors = tilings.cheapest(weights, left)
        self._looked: list[tuple[FusedTiling, list[Part], float]] = []

    def _sum(self, parts: Sequence[Part], upper: bool) -> float:
        total = 0.0
        for _, (layer, resident, room, count) in parts:
            facts = self._facts(layer, resident, self.weights)
            total += count * (facts.upper if upper else facts.lower)(resident, room, self.weights)
        return total

    @property
    def looked(self) -> int:
        """How many tilings were looked at."""
        return len(self._looked)

    @property
    def unseen(self) -> float:
        """What the tilings that were not looked at cost at least."""
        seen = len(self._looked)
        return float(self._floors[seen]) if seen < len(self._floors) else math.inf

    def look(self, count: int) -> list[list[Part]]:
        """Look at some more tilings, those with the lowest floors; their parts."""
        low = len(self._looked)
        for number in self._order[low : low + count]:
            tiling = self.tilings.tiling(int(number))
            parts = self.tilings.parts(tiling, self._left)
            loads = (self.tilings.loads(tiling, place)[:2] for place in tiling.filters)
            more = math.fsum(self.weights.of(*load) for load in loads)
            self._looked.append((tiling, parts, more))
        return [parts for _, parts, _ in self._looked[low:]]

    def best(self, upper: bool) -> tuple[float, FusedTiling, list[Part]] | None:
        """The tiling of the least known cost, or bound, among those that were looked at."""
        if not self._looked:
            return None
        return min(
            ((more + self._sum(parts, upper), tiling, parts)
             for tiling, parts, more in self._looked),
            key=lambda one: one[0],
        )  # fmt: skip

    def upper(self) -> float:
        """The least cost that is known."""
        found = self.best(upper=True)
        return math.inf if found is None else found[0]

    def lower(self) -> float:
        """No tiling costs less."""
        found = self.best(upper=False)
        return min(math.inf if found is None else found[0], self.unseen)
