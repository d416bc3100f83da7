"""What no tiling of a fused group is below, from floors and the bounds of its parts.

All tilings have floors; those with the lowest are looked at, one after another: the bounds of their
parts, which certificates or the model give, and what is paid besides come to more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from mapper.certificate.group_floors import GroupFloors
from mapper.certificate.kept_certificate import PartTerms
from mapper.fusing.fused_group import FusedGroup, Outside, groups_of
from mapper.fusing.group_terms import GroupTerms, outside_of
from mapper.search.problem_spec import ProblemSpec
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import SumWeights

AT_ONCE = 8
"""Tilings that are looked at together."""
MOST_LOOKED = 512
"""Tilings of a group, with what is in L2 beside it, that are looked at."""
PartBound = Callable[[PartTerms], float]
"""What the sum of a part is not below."""


class GroupBound:
    """The bound of one sum of a group.

    Args:
        floors: Floors of its tilings.
        left: Bits of L2 that other tensors leave.
        weights: What is summed.
        part_bound: Bounds of parts.
    """

    def __init__(
        self, floors: GroupFloors, left: float, weights: SumWeights, part_bound: PartBound
    ) -> None:
        self._floors, self._left, self._weights = floors, left, weights
        self._part_bound = part_bound
        self._order: list[int] | None = None
        self._looked, self._best = 0, math.inf
        values = floors.values(weights)[floors.bits < left]
        self._next = float(values.min()) if len(values) else math.inf

    @property
    def least(self) -> float:
        """No tiling costs less, as far as it was looked at them."""
        return min(self._best, self._next)

    def look(self) -> bool:
        """Look at some more tilings that may be cheaper than all so far; whether there were any."""
        values = self._floors.values(self._weights)
        if self._order is None:
            fitting = np.flatnonzero(self._floors.bits < self._left)
            ranked = np.argsort(values[fitting], kind="stable")[: MOST_LOOKED + 1]
            self._order = fitting[ranked].tolist()
        before = self._looked
        while self._looked < before + AT_ONCE and self._next < self._best:
            if self._looked == MOST_LOOKED:
                break
            number = self._order[self._looked]
            self._best = min(self._best, max(self._next, self._sum(number)))
            self._looked += 1
            more = self._looked < len(self._order)
            self._next = float(values[self._order[self._looked]]) if more else math.inf
        return self._looked > before

    def _sum(self, number: int) -> float:
        """What a tiling's parts and the rest cost at least, as far as it may be the best."""
        terms, weights = self._floors.terms, self._weights
        tiling = terms.tiling(number)
        total = sum(weights.of(*one) for one in terms.besides(tiling))
        for _, (layer, resident, room, times) in terms.parts(tiling, self._left):
            if total >= self._best:
                break
            total += times * self._part_bound(PartTerms(layer, resident, room, weights))
        return total


class NetworkGroups:
    """The groups of a network, with what their tilings cost, and their bounds.

    Args:
        placement: The network on its chip.
        plain: The problem of a layer of which nothing is in L2, and nothing else takes room.
        counted: Whether passes cost what they move within L2.
    """

    def __init__(self, placement: Placement, plain: ProblemSpec, counted: bool) -> None:
        self._at, self._counted = placement, counted
        self._chip, self._options = plain.accelerator, plain.cost_model_options
        self._all_pes = "num_pes" not in plain.space.get("co_search", ())
        same: dict[FusedGroup, FusedGroup] = {}  # so that each is cut once
        self.by_place: dict[int, dict[int, FusedGroup]] = {
            place: {group.nodes: same.setdefault(group, group) for group in groups}
            for place, groups in groups_of(placement.graph, plain.accelerator).items()
        }
        self._floors = cache(self._floors_of)
        self._known: dict[tuple[FusedGroup, Outside, float, SumWeights], GroupBound] = {}

    def terms(self, place: int, nodes: int, taken: Stays) -> tuple[GroupTerms, float]:
        """A group with what is in L2 beside it, and the bits of L2 that this leaves.

        Args:
            place: Of its first node.
            nodes: How many it has.
            taken: Rooms that are taken meanwhile.
        """
        group, outside, left = self._at_place(place, nodes, taken)
        return self._floors(group, outside).terms, left

    def bound(
        self, place: int, nodes: int, taken: Stays, weights: SumWeights, part_bound: PartBound
    ) -> GroupBound:
        """The bound of a group; see :meth:`terms`."""
        group, outside, left = self._at_place(place, nodes, taken)
        key = group, outside, left, weights
        if key not in self._known:
            floors = self._floors(group, outside)
            self._known[key] = GroupBound(floors, left, weights, part_bound)
        return self._known[key]

    def _at_place(self, place: int, nodes: int, taken: Stays) -> tuple[FusedGroup, Outside, float]:
        group = self.by_place[place][nodes]
        left = self._at.capacity - taken_bits(self._at.rooms, taken, place)
        return group, outside_of(self._at, group, place, taken), left

    def least(self, place: int, weights: SumWeights) -> dict[int, float]:
        """What each group that begins at a place costs at least, whatever is in L2."""
        found = {}
        for nodes, group in self.by_place.get(place, {}).items():
            last = len(group.layers) - 1
            ends = {(0, "input"), (last, "output")}
            everything = frozenset(ends | {(n, "filter") for n in range(last + 1)})
            found[nodes] = float(self._floors(group, everything).values(weights).min())
        return found

    def _floors_of(self, group: FusedGroup, outside: Outside) -> GroupFloors:
        terms = GroupTerms(self._chip, self._options, group, outside, self._counted)
        return GroupFloors(terms, self._all_pes)
