"""The optimum of a network whose layers may be fused, beside tensors that stay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from cost_models import Chain
from layers import TENSORS, Layer
from mapper.fusing.fused_group import FusedGroup, Outside, groups_of
from mapper.fusing.group_costs import GroupCosts, GroupTilings
from mapper.fusing.group_steps import GroupSteps
from mapper.fusing.group_terms import outside_of
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import LayerPart, NetworkResult, NodeResult
from mapper.staying.rooms import Stays, can_stay, home_of, taken_bits
from mapper.staying.shape_facts import KnownMapping, Resident, SumWeights
from mapper.staying.stay_proof import drawn
from mapper.staying.stay_schedule import Groups, StaySchedule

AT_ONCE = 8
"""Tilings of a group that are looked at together."""
MOST_LOOKED = 400
"""Tilings of a group, with what is in L2 beside it, that are looked at."""
MOST_PROOFS = 64
"""Proofs on a list of levels after which groups have none that are known to run."""


@dataclass
class FusedProblem(NetworkProblem):
    """A network on a chip, with groups of layers that may be fused; see :class:`NetworkProblem`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._groups: dict[tuple[int, int], FusedGroup] = {
            (place, group.nodes): group
            for place, groups in groups_of(self.graph, self.setting.chip).items()
            for group in groups
        }
        self._lengths: dict[int, list[int]] = {}
        for place, length in self._groups:
            self._lengths.setdefault(place, []).append(length)
        self._tilings: dict[tuple[FusedGroup, Outside], GroupTilings] = {}
        self._costs: dict[tuple[FusedGroup, Outside, float, SumWeights], GroupCosts] = {}
        self._drawn: set[tuple[Layer, Resident, float, SumWeights]] = set()

    @property
    def why_alone(self) -> str:
        """See :meth:`NetworkProblem.why_alone`; of what was looked at."""
        home = home_of(self.setting.chip)
        if not can_stay(home):
            return f"no layers are fused: {home.name} does not hold what is between them"
        if not self._groups:
            return "no layers are fused: none alone reads what the one before it writes"
        least = min((one.taken.min() for one in self._tilings.values()), default=math.inf)
        if least < self.costs.capacity:
            return "no layers are fused: there is no more to gain than the gap"
        return (
            f"no layers are fused: between them the smallest fused tile needs {least / 8:,g} B of "
            f"{home.name}, which has {self.costs.capacity / 8:,g} B"
        )

    def costs_of(self, place: int, length: int, taken: Stays, weights: SumWeights) -> GroupCosts:
        """What the tilings of a group cost.

        Args:
            place: Of its first node.
            length: Its number of nodes.
            taken: Rooms that are taken meanwhile.
            weights: What is summed.
        """
        group = self._groups[place, length]
        outside = outside_of(self.costs, group, place, taken)
        return self._costs_of(
            group, outside, self.costs.capacity - taken_bits(self.rooms, taken, place), weights
        )

    def _costs_of(
        self, group: FusedGroup, outside: Outside, left: float, weights: SumWeights
    ) -> GroupCosts:
        if (group, outside) not in self._tilings:
            self._tilings[group, outside] = GroupTilings(self.setting, group, outside, self.counted)
        key = (group, outside, left, weights)
        if key not in self._costs:
            tilings = self._tilings[group, outside]
            self._costs[key] = GroupCosts(tilings, left, weights, self.costs)
        return self._costs[key]

    def groups(self, weights: SumWeights, upper: bool) -> Groups:
        """See :class:`Groups`."""
        known = cache(GroupCosts.upper if upper else GroupCosts.lower)

        def cost(place: int, length: int, taken: Stays) -> float:
            return known(self.costs_of(place, length, taken, weights))

        def least(place: int, length: int) -> float:
            group = self._groups[place, length]
            everything = {(n, tensor) for n in range(len(group.layers)) for tensor in TENSORS}
            costs = self._costs_of(group, frozenset(everything), self.costs.capacity, weights)
            return costs.lower()

        return Groups(self._lengths, cost, least)

    def look(self, may: StaySchedule, weights: SumWeights) -> bool:
        """Look at more tilings of the groups whose cost is not known because of others."""
        looked = False
        for place, length in may.groups:
            costs = self.costs_of(place, length, may.stays[place], weights)
            best = costs.best(upper=False)
            if costs.looked >= MOST_LOOKED or (best is not None and best[0] <= costs.unseen):
                continue
            looked |= costs.look(AT_ONCE)
            best = costs.best(upper=False)
            for _, part in best[2] if best else ():
                self._draw(part, weights)
        return looked

    def _draw(self, part: LayerPart, weights: SumWeights) -> None:
        """Add the best of some mappings that agents propose to what is known of a part."""
        key = (part.layer, part.resident, part.room, weights)
        facts = self.costs.facts_of(part.layer, part.resident, weights)
        if key in self._drawn or not math.isinf(facts.upper(part.resident, part.room, weights)):
            return
        self._drawn.add(key)
        problem = self.setting.problem(*part[:3], weights)
        mapping = drawn(problem)
        if mapping is not None:
            self.costs.learnt += 1
            facts.add(part.resident, self.setting.known(part.layer, part.resident, mapping))

    def parts(self, may: StaySchedule, weights: SumWeights) -> Iterator[LayerPart]:
        """See :meth:`NetworkProblem.parts`; of groups those of the tiling that may be cheapest."""
        yield from super().parts(may, weights)
        enough = isinstance(self.setting.chip, Chain) and len(self._made) >= MOST_PROOFS
        for place, length in may.groups:
            costs = self.costs_of(place, length, may.stays[place], weights)
            best = costs.best(upper=False)
            if best is not None and not (enough and costs.upper() < math.inf):
                for number, part in best[2]:
                    self._draw(part, weights)
                    at = place + self._groups[place, length].places[number]
                    name = f"fused part of {self.graph.nodes[at].name}"
                    yield part._replace(layer=part.layer.renamed(name))

    def result(
        self, found: StaySchedule, weights: SumWeights, value: float, bound: float
    ) -> NetworkResult:
        """See :meth:`NetworkProblem.result`."""
        steps: list[NodeResult] = []
        groups = dict(found.groups)
        numbers = {place: number for number, place in enumerate(sorted(groups))}
        place = 0
        while place < len(found.stays):
            length = groups.get(place, 1)
            if length == 1:
                known = self.costs.known(place, found.stays[place], weights)
                steps.append(self.costs.step(place, found.stays[place], known))
            else:
                taken = found.stays[place]
                steps += self._fused(numbers[place], place, length, taken, weights)
            place += length
        return NetworkResult(tuple(steps), value, bound)

    def _fused(
        self, number: int, place: int, length: int, taken: Stays, weights: SumWeights
    ) -> list[NodeResult]:
        """The layers of a group, each with its parts."""
        costs = self.costs_of(place, length, taken, weights)
        best = costs.best(upper=True)
        assert best is not None
        _, tiling, parts = best
        known = [(layer, part, self._known(part, weights)) for layer, part in parts]
        return GroupSteps(self.costs, place, taken, number).of(costs.tilings, tiling, known)

    def _known(self, part: LayerPart, weights: SumWeights) -> KnownMapping:
        """The best mapping known of a part, which has one."""
        facts = self.costs.facts_of(part.layer, part.resident, weights)
        found = facts.best(part.resident, part.room, weights)
        assert found is not None
        return found
