"""What each node of a network costs on a chip, by what stays in L2 during it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cost_models import Chain
from layers import GraphNode, Layer, NetworkGraph
from mapper.staying.network_result import NodeResult
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import (
    ENERGY,
    LATENCY,
    CostLine,
    KnownMapping,
    Resident,
    ShapeFacts,
    SumWeights,
)
from mapper.staying.stay_proof import StaySetting

if TYPE_CHECKING:
    from baselines import StructureSpace


class NodeCosts(Placement):
    """What nodes cost at least, and at most as far as is known; see :class:`Placement`.

    Args:
        graph: The network.
        setting: Chip, model and space.
        counted: Whether nodes without MACs cost what they move in every place.
        facts: What is known, by shape.

    Attributes:
        learnt: Grows where more is known.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        setting: StaySetting,
        counted: bool = False,
        facts: dict[Layer, ShapeFacts] | None = None,
    ) -> None:
        super().__init__(graph, setting.chip, setting.options, counted)
        self.setting, self.facts = setting, {} if facts is None else facts
        self.learnt = 0
        self._shape = {node.layer: node.layer.renamed("") for node in graph.nodes if node.layer}
        self._roots: set[tuple[Layer, Resident, SumWeights]] = set()
        self._figures: set[tuple[Layer, Resident]] = set()
        self._spaces: dict[Layer, StructureSpace] = {}

    def of(self, place: int, taken: Stays, weights: SumWeights, upper: bool) -> float:
        """What a node costs as far as is known (`upper`), or at least."""
        node = self.graph.nodes[place]
        if node.layer is None:
            latency, energy, _ = self.pass_of(node, taken)
            return weights.of(energy, latency)
        facts, resident = self._facts(node.layer, taken, node, weights)
        room = self.room(place, taken)
        return (facts.upper if upper else facts.lower)(resident, room, weights)

    def least(self, place: int, weights: SumWeights) -> float:
        """What a node costs at least, whatever stays."""
        node = self.graph.nodes[place]
        if node.layer is None:
            return 0.0
        everything = frozenset(range(len(self.rooms)))
        facts, most = self._facts(node.layer, everything, node, weights)
        room = self.room(place, frozenset())  # no less where less is in L2, or less is left
        return facts.lower(most, room, weights)

    def known(self, place: int, taken: Stays, weights: SumWeights) -> KnownMapping | None:
        """The best mapping known of a node that runs by itself; None of a node without MACs."""
        node = self.graph.nodes[place]
        if node.layer is None:
            return None
        facts, resident = self._facts(node.layer, taken, node, weights)
        found = facts.best(resident, self.room(place, taken), weights)
        assert found is not None
        return found

    def step(self, place: int, taken: Stays, known: KnownMapping | None) -> NodeResult:
        """A node that runs by itself with a mapping, if it is a layer."""
        node = self.graph.nodes[place]
        names = tuple(name for n in sorted(taken) for name in self.rooms[n].tensors)
        bits = taken_bits(self.rooms, taken, place)
        latency, energy, dram = self.pass_of(node, taken)
        if known is not None:
            latency, energy, dram = known.latency, known.energy, known.dram
        resident = self.resident(node, taken)
        return NodeResult(node, resident, names, latency, energy, dram, bits / 8, known)

    def _facts(
        self, layer: Layer, taken: Stays, node: GraphNode, weights: SumWeights
    ) -> tuple[ShapeFacts, Resident]:
        """What is known of a layer."""
        resident = self.resident(node, taken)
        return self.facts_of(self._shape[layer], resident, weights), resident

    def facts_of(self, shape: Layer, resident: Resident, weights: SumWeights) -> ShapeFacts:
        """What is known of a shape; at first what its bounds say of the whole space."""
        facts = self.facts.setdefault(shape, ShapeFacts())
        if (shape, resident, weights) not in self._roots:
            self._roots.add((shape, resident, weights))
            self.learnt += 1
            for line in self._first_lines(shape, resident, weights):
                facts.bound(resident, line)
        return facts

    def _first_lines(self, shape: Layer, resident: Resident, weights: SumWeights) -> list[CostLine]:
        """What the cost model's bounds of its whole space say of a layer."""
        from baselines import StructureSpace

        found = []
        if (shape, resident) not in self._figures:  # whatever is summed
            self._figures.add((shape, resident))
            floors = self.setting.problem(shape, resident, math.inf, ENERGY).figure_bounds
            for one, name in ((ENERGY, "energy_nj"), (LATENCY, "latency_cycles")):
                found.append(CostLine(math.inf, one, floors.get(name, 0.0)))
        if isinstance(self.setting.chip, Chain):
            return found
        problem = self.setting.problem(shape, resident, math.inf, weights)
        if shape not in self._spaces:
            self._spaces[shape] = StructureSpace(problem.space)
        space = self._spaces[shape]
        bounds = problem.lower_bounds_of(space.structures)
        if bounds is not None:
            values = [float(bounds.bounds(*roots).min()) for roots in space.roots()]
            found.append(CostLine(math.inf, weights, min(values) * (weights.energy or 1.0)))
        return found
