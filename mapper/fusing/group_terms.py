"""What a group's tilings ask of its layers, and what they cost besides.

These are terms of the problem: the search and the checker of certificates share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

import cost_models
from cost_models import Accelerator, Chain, Moved, filter_load_cost, pass_cost, rescaling_cost
from mapper.fusing.axis_plan import AxisPlan
from mapper.fusing.fused_group import (
    FusedGroup,
    FusedTiling,
    Outside,
    filter_loads,
    resident_of,
    sums_of,
)
from mapper.staying.network_result import LayerPart
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, home_of

Part = tuple[int, LayerPart]
"""A layer's place in its group, and what it computes in some of the fused tiles."""


def outside_of(network: Placement, group: FusedGroup, place: int, taken: Stays) -> Outside:
    """What is whole in L2 of what a group reads and writes.

    Args:
        network: The network on its chip.
        group: The group.
        place: Of its first node.
        taken: Rooms that are taken meanwhile.
    """
    ends = {(0, "input"), (len(group.layers) - 1, "output")}
    return frozenset(
        (number, tensor)
        for number, at in enumerate(group.places)
        for tensor in network.resident(network.graph.nodes[place + at], taken)
        if tensor == "filter" or (number, tensor) in ends
    )


class GroupTerms:
    """A group with what is in L2 beside it.

    Args:
        chip: The chip.
        options: Options of the model `exact`.
        group: The group.
        outside: What is whole in L2 of what it reads and writes.
        counted: Whether passes cost what they move within L2.
    """

    def __init__(
        self,
        chip: Accelerator | Chain,
        options: Mapping[str, Any],
        group: FusedGroup,
        outside: Outside,
        counted: bool,
    ) -> None:
        self.chip, self.options, self.group, self.outside = chip, options, group, outside
        self._counted = counted
        self._model = cost_models.load("exact", **options)
        held = home_of(chip).holds[1]
        places = [n for n in range(len(group.layers)) if held and (n, "filter") not in outside]
        self.filters = [
            frozenset(some) for count in range(len(places) + 1)
            for some in combinations(places, count)
        ]  # fmt: skip

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """How many there are of tiles of keys, sets of filters, and plans of rows and columns."""
        group = self.group
        return (
            len(group.key_tiles), len(self.filters), len(group.row_plans), len(group.column_plans)
        )  # fmt: skip

    def tiling(self, number: int) -> FusedTiling:
        """A tiling by its number, with `shape` laid out flat."""
        group = self.group
        keys, filters, rows, columns = (int(one) for one in np.unravel_index(number, self.shape))
        return FusedTiling(
            group.row_plans[rows], group.column_plans[columns], self.filters[filters],
            group.key_tiles[keys],
        )  # fmt: skip

    def parts(self, tiling: FusedTiling, left: float) -> list[Part]:
        """The layers' work in fused tiles, where other tensors leave so many bits of L2."""
        found = []
        for place in range(len(self.group.layers)):
            taken = tiling.room_bits(self.group, self.chip, place)
            resident = resident_of(self.group, place, tiling.filters, self.outside, tiling.keys)
            room = (left - taken) / 8
            found += [
                (place, LayerPart(layer, resident, room, count))
                for layer, count in tiling.parts(self.group, place)
            ]
        return found

    def loads(self, columns: AxisPlan, place: int) -> tuple[float, float, float]:
        """Energy [nJ], latency [cycles] and bytes of DRAM to bring a filter that stays into L2."""
        return filter_load_cost(self._model, self.chip, filter_loads(self.group, place, columns))

    def pass_costs(self, tiling: FusedTiling, tensor: int) -> tuple[float, float]:
        """Energy [nJ] and latency [cycles] of each pass over a tensor between two layers."""
        if not self._counted or not self.group.passes(tensor):
            return 0.0, 0.0
        found = [0.0, 0.0]
        for part, times in tiling.parts(self.group, tensor):
            moved = Moved(l2_read=part.output_size, l2_written=part.output_size)
            latency, energy = pass_cost(self._model, self.chip, moved)
            found[0] += times * energy
            found[1] += times * latency
        return found[0], found[1]

    def sums(self, tiling: FusedTiling) -> tuple[float, float, float]:
        """Energy [nJ], latency [cycles] and bytes of DRAM of adding up over tiles of keys.

        For each tile of keys but the first, the output's tile is read, scaled and written, with two
        elements a row, and read again where the next product adds to it. In the end it is written
        to where the output lies.
        """
        if not tiling.keys:
            return 0.0, 0.0, 0.0
        found = np.zeros(3)
        last = len(self.group.layers) - 1
        again = tiling.key_steps(self.group) - 1
        for row, often in tiling.rows.pieces[last].items():
            for column, times in tiling.columns.pieces[last].items():
                size, stats = sums_of(self.group, row.outputs, column.outputs)
                one = again * np.array([*rescaling_cost(self._model, self.chip, size, stats), 0.0])
                if (last, "output") not in self.outside:
                    moved = Moved(l2_read=size, dram_written=size)
                    latency, energy = pass_cost(self._model, self.chip, moved)
                    one += energy, latency, size * self.chip.widths.output / 8
                found += often * times * one
        return float(found[0]), float(found[1]), float(found[2])

    def besides(self, tiling: FusedTiling) -> list[tuple[float, float]]:
        """Energies [nJ] and latencies [cycles] of a tiling besides its parts.

        These are filters that are brought to stay, sums over tiles of keys, and passes.
        """
        found = [self.loads(tiling.columns, place)[:2] for place in sorted(tiling.filters)]
        found.append(self.sums(tiling)[:2])
        for tensor in range(len(self.group.layers) - 1):
            found += [self.pass_costs(tiling, tensor)] * self.group.passes(tensor)
        return found
