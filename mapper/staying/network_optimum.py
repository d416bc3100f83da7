"""The optimum of a network whose tensors may stay in L2, with a lower bound.

What layers cost at least and at most gives two schedules. Layers on the one that may be cheapest
are proven where they are and what they have room for, until it is known to cost what it may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from cost_models import Chain
from layers import Layer, NetworkGraph
from mapper.staying.least_product import least_product
from mapper.staying.network_result import (
    CLOSE,
    LayerPart,
    NetworkResult,
    NetworkStoppedError,
    UnmappableError,
)
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import TensorRoom
from mapper.staying.shape_facts import BOTH, Resident, ShapeFacts, SumWeights
from mapper.staying.stay_proof import StayProof, StaySetting
from mapper.staying.stay_schedule import NO_GROUPS, Groups, StaySchedule, schedule

MOST_ROOMS = 12
"""Rooms of a shape that are proven; others are rounded to them, down for the answer, up for the
bound."""
NO_MAPPING = (
    "a layer has no mapping on this chip; `mapper search --network` without --fuse says which"
)
RunProofs = Callable[[Sequence[StayProof]], Sequence[Any]]
"""Does proofs and gives their results, in order; None for one that was stopped."""


@dataclass
class NetworkProblem:
    """A network on a chip.

    Args:
        graph: The network.
        setting: Chip, model and space; the gap of proofs is chosen here.
        run: Does proofs.
        counted: Whether nodes without MACs cost what they move in every place; if not, only what
            they move between DRAM and L2.
        gap: The gap at which to stop.
        facts: What is known, by shape.
    """

    graph: NetworkGraph
    setting: StaySetting
    run: RunProofs
    counted: bool = False
    gap: float = 0.0
    facts: dict[Layer, ShapeFacts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.setting = replace(self.setting, gap=self.gap / 4)
        self.costs = NodeCosts(self.graph, self.setting, self.counted, self.facts)
        self._made: set[tuple[Layer, Resident, float, SumWeights]] = set()

    @property
    def rooms(self) -> tuple[TensorRoom, ...]:
        """What may stay."""
        return self.costs.rooms

    def least(self, weights: SumWeights, stay: bool) -> tuple[StaySchedule, float]:
        """The schedule of the least sum, and what no sum is below.

        Args:
            weights: What is summed.
            stay: Whether tensors may stay.

        Raises:
            NetworkStoppedError: Proofs were stopped.
            UnmappableError: A layer has no mapping.
        """
        while True:
            learnt = self.costs.learnt
            may = self.best_schedule(weights, stay, upper=False)
            known = self.best_schedule(weights, stay, upper=True)
            if math.isinf(may.bound):
                raise UnmappableError(NO_MAPPING)
            if known.value <= may.bound * (1 + max(self.gap / 2, CLOSE)):
                return known, may.bound
            if self.look(may, weights):
                continue
            asked = self._asked(may, weights)
            if not asked and self.costs.learnt > learnt:
                continue
            if not asked and math.isinf(known.value):
                raise UnmappableError(NO_MAPPING)
            if not asked:
                return known, may.bound
            for proof, result in zip(asked, self.run(asked), strict=True):
                if result is None:
                    raise NetworkStoppedError
                shape = proof.layer.renamed("")
                self.costs.learnt += 1
                proof.take_in(result, self.facts[shape])
                self._made.add((shape, proof.resident, proof.room, proof.weights))

    def look(self, may: StaySchedule, weights: SumWeights) -> bool:
        """Learn more of what a schedule costs before proofs are asked for; whether there was any.

        Here there is none; networks with fused layers look at tilings.
        """
        return False

    def result(
        self, found: StaySchedule, weights: SumWeights, value: float, bound: float
    ) -> NetworkResult:
        """A schedule with the mappings that are known to be best for it."""
        steps = [
            self.costs.step(place, taken, self.costs.known(place, taken, weights))
            for place, taken in enumerate(found.stays)
        ]
        return NetworkResult(tuple(steps), value, bound)

    def floor(self, weights: SumWeights, stay: bool = True) -> float:
        """What no sum is below, by what is known already.

        Raises:
            UnmappableError: A layer has no mapping.
        """
        bound = self.best_schedule(weights, stay, upper=False).bound
        if math.isinf(bound):
            raise UnmappableError(NO_MAPPING)
        return bound

    def sum(self, weights: SumWeights, stay: bool = True) -> NetworkResult:
        """The network of the least latency, or energy; see :meth:`least`."""
        found, bound = self.least(weights, stay)
        return self.result(found, weights, found.value, bound)

    def product(self, stay: bool = True) -> NetworkResult:
        """The network of the least product of energy and latency [nJ cycles]."""
        return least_product(
            lambda weights: self.sum(weights, stay),
            lambda weights: self.floor(weights, stay),
            self.gap,
        )

    def best_schedule(self, weights: SumWeights, stay: bool, upper: bool) -> StaySchedule:
        """The schedule of the least sum: of known costs (`upper`), or of what nodes cost at least.

        Args:
            weights: What is summed.
            stay: Whether tensors may stay.
            upper: Whether costs are known ones.
        """
        return schedule(
            len(self.graph.nodes),
            self.rooms if stay else (),
            self.costs.capacity,
            cache(lambda place, taken: self.costs.of(place, taken, weights, upper)),
            lambda place: self.costs.least(place, weights),
            self.groups(weights, upper),
        )

    @property
    def why_alone(self) -> str:
        """Why no layers run as one, if that may be; here they may not."""
        return ""

    def groups(self, weights: SumWeights, upper: bool) -> Groups:
        """Nodes that may run as one; here there are none."""
        return NO_GROUPS

    def parts(self, may: StaySchedule, weights: SumWeights) -> Iterator[LayerPart]:
        """What a schedule asks of layers that run by themselves."""
        inside = {n for place, length in may.groups for n in range(place, place + length)}
        for place, taken in enumerate(may.stays):
            node = self.graph.nodes[place]
            if node.layer is not None and place not in inside:
                resident = self.costs.resident(node, taken)
                yield LayerPart(node.layer, resident, self.costs.room(place, taken))

    def _asked(self, may: StaySchedule, weights: SumWeights) -> list[StayProof]:
        """Proofs of the layers on a schedule whose cost is not known well enough, worst first."""
        unsure: dict[tuple[Layer, Resident, float], float] = {}
        first: dict[Layer, Layer] = {}
        for layer, resident, room, times in self.parts(may, weights):
            shape = layer.renamed("")
            facts = self.costs.facts_of(shape, resident, weights)
            low, high = (
                facts.lower(resident, room, weights),
                facts.upper(resident, room, weights),
            )
            rooms = facts.proven.get(resident, set())
            full = len(rooms) >= MOST_ROOMS and room not in rooms
            if high > low * (1 + CLOSE) and not full:
                key = (shape, resident, room)
                first.setdefault(shape, layer)
                unsure[key] = unsure.get(key, 0.0) + times * (high - low)
        spare, aim = self.gap / 8 * may.bound, weights
        if isinstance(self.setting.chip, Chain) and weights.energy and weights.latency:
            aim = BOTH
        asked: list[StayProof] = []
        for key in sorted(unsure, key=lambda k: (unsure[k], k[0].macs, sorted(k[1]), k[2])):
            shape, resident, room = key
            if unsure[key] <= spare:
                spare -= unsure[key]
                continue
            if (*key, aim) not in self._made:
                start = self._start(shape, resident, room, weights)
                asked.append(StayProof(self.setting, first[shape], resident, room, aim, start))
        return asked[::-1]

    def _start(self, shape: Layer, resident: Resident, room: float, weights: SumWeights) -> Any:
        """The best mapping known of a shape, wherever its tensors are."""
        facts = self.facts[shape]
        best = facts.best(resident, room, weights)
        if best is None:
            deep = isinstance(self.setting.chip, Chain)  # a proof says itself whether it fits
            for other in facts.mappings:
                best = best or facts.best(other, math.inf if deep else room, weights)
        return None if best is None else best.mapping
