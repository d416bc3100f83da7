"""What the tilings of a fused group cost at least, and at most as far as is known.

All tilings have a floor: what no mapping of their parts is below, since every MAC and every tensor
is paid for once a part. Those with the lowest floors are looked at first: their parts are layers,
of which bounds, mappings and proofs are known as of any other layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from mapper.fusing.fused_group import FusedGroup, FusedTiling, Outside, filter_bits, resident_of
from mapper.fusing.group_terms import GroupTerms, Part
from mapper.fusing.part_floors import PartFloors, WorkPrices
from mapper.staying.node_costs import NodeCosts
from mapper.staying.shape_facts import SumWeights
from mapper.staying.stay_proof import StaySetting
from marl_common import FloatArray, IntArray

Best = tuple[float, FusedTiling, list[Part]]
"""What a tiling costs, and its parts."""


class GroupTilings(GroupTerms):
    """All tilings of a group that fit, with their floors.

    Args:
        setting: Chip, options and space.
        group: The group.
        outside: What is whole in L2 of what it reads and writes.
        counted: Whether passes cost what they move within L2.
    """

    def __init__(
        self, setting: StaySetting, group: FusedGroup, outside: Outside, counted: bool
    ) -> None:
        super().__init__(setting.chip, setting.options, group, outside, counted)

    @cached_property
    def floors(self) -> tuple[FloatArray, FloatArray]:
        """Energy [nJ] and latency [cycles] of all tilings at least."""
        rows, columns = self.group.row_plans, self.group.column_plans
        prices = WorkPrices(self.chip, self.options)
        energy, latency = np.zeros(self.shape), np.zeros(self.shape)
        for (number, keys), place in product(
            enumerate(self.group.key_tiles), range(len(self.group.layers))
        ):
            pieces = ([plan.pieces[place] for plan in plans] for plans in (rows, columns))
            along, across = pieces
            cuts = [(PartFloors(layer, prices, along, across), often)
                    for layer, often in self.group.cuts(place, keys)]  # fmt: skip
            loads = np.array([self.loads(plan, place)[:2] for plan in columns])
            for chosen, filters in enumerate(self.filters):
                at = number, chosen
                resident = resident_of(self.group, place, filters, self.outside, keys)
                for least, often in cuts:
                    latency[at] += often * least.cycles(resident)
                    energy[at] += often * least.energy(resident)
                if place in filters:
                    energy[at] += loads[:, 0]
                    latency[at] += loads[:, 1]
        return energy.ravel(), latency.ravel()

    @cached_property
    def taken(self) -> FloatArray:
        """Bits of L2 that the tensors of each tiling take at most; inf for the one that is no cut.

        The single tile that is the whole group is left out: its tensors are whole.
        """
        group, chip = self.group, self.chip
        places = range(len(group.layers))
        found = np.full(self.shape, np.inf)
        for column, columns in enumerate(group.column_plans):
            bits = [filter_bits(group, chip, place, columns) for place in places]
            stay = [sum(bits[place] for place in one) for one in self.filters]
            for (row, rows), (number, keys) in product(
                enumerate(group.row_plans), enumerate(group.key_tiles)
            ):
                tiling = FusedTiling(rows, columns, frozenset(), keys)
                if tiling.tiles > 1 or keys:
                    most = max(tiling.room_bits(group, chip, place) for place in places)
                    found[number, :, row, column] = np.add(stay, most)
        return found.ravel()

    def cheapest(self, weights: SumWeights, left: float) -> tuple[IntArray, FloatArray]:
        """Numbers of the tilings that fit, by what they cost at least, and these costs."""
        fitting = np.flatnonzero(self.taken < left)
        energy, latency = (floor[fitting] for floor in self.floors)
        values = weights.energy * energy + weights.latency * latency
        order = np.argsort(values, kind="stable")
        return fitting[order], values[order]


class GroupCosts:
    """What the tilings of a group cost, by the weights of one sum.

    Args:
        tilings: The tilings.
        left: Bits of L2 that other tensors leave.
        weights: What is summed.
        network: What is known of parts.
    """

    def __init__(
        self, tilings: GroupTilings, left: float, weights: SumWeights, network: NodeCosts
    ) -> None:
        self.tilings, self.weights, self._left, self._network = tilings, weights, left, network
        self._best: dict[bool, tuple[int, Best | None]] = {}
        self._order, self._floors = tilings.cheapest(weights, left)
        self._looked: list[tuple[FusedTiling, list[Part], float]] = []

    def _sum(self, parts: Sequence[Part], upper: bool) -> float:
        total = 0.0
        for _, (layer, resident, room, times) in parts:
            facts = self._network.facts_of(layer, resident, self.weights)
            total += times * (facts.upper if upper else facts.lower)(resident, room, self.weights)
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

    def look(self, count: int) -> bool:
        """Look at some more tilings, those with the lowest floors; whether there were any."""
        low = len(self._looked)
        for number in self._order[low : low + count]:
            tiling = self.tilings.tiling(int(number))
            parts = self.tilings.parts(tiling, self._left)
            fixed = math.fsum(self.weights.of(*one) for one in self.tilings.besides(tiling))
            self._looked.append((tiling, parts, fixed))
            self._network.learnt += 1
        return len(self._looked) > low

    def best(self, upper: bool) -> Best | None:
        """The tiling of the least known cost, or bound, among those that were looked at."""
        when, found = self._best.get(upper, (-1, None))
        if when != self._network.learnt:
            sums = ((more + self._sum(parts, upper), tiling, parts)
                    for tiling, parts, more in self._looked)  # fmt: skip
            found = min(sums, key=lambda one: one[0], default=None)
            self._best[upper] = (self._network.learnt, found)
        return found

    def upper(self) -> float:
        """The least cost that is known."""
        found = self.best(upper=True)
        return math.inf if found is None else found[0]

    def lower(self) -> float:
        """No tiling costs less."""
        found = self.best(upper=False)
        return min(math.inf if found is None else found[0], self.unseen)
