"""What each node of a network costs on a chip, by what stays in L2 during it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import cost_models
from cost_models import Chain, Moved, pass_cost
from layers import GraphNode, Layer, NetworkGraph, NodeKind
from mapper.staying.network_result import NodeResult
from mapper.staying.rooms import home_of, rooms_of
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
from mapper.staying.stay_schedule import Stays, taken_bits

if TYPE_CHECKING:
    from baselines import StructureSpace


class NodeCosts:
    """What nodes cost at least, and at most as far as is known.

    Args:
        graph: The network.
        setting: Chip, model and space.
        counted: Whether nodes without MACs cost what they move in every place; if not, only what
            they move between DRAM and L2.
        facts: What is known, by shape.

    Attributes:
        rooms: What may stay.
        capacity: Of L2 [bits]; inf without one.
        learnt: Grows where more is known.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        setting: StaySetting,
        counted: bool = False,
        facts: dict[Layer, ShapeFacts] | None = None,
    ) -> None:
        self.graph, self.setting, self._counted = graph, setting, counted
        self.facts = {} if facts is None else facts
        self.rooms = rooms_of(graph, setting.chip)
        bits = home_of(setting.chip).capacity_bits
        self.capacity = math.inf if bits is None else float(bits)
        self.learnt = 0
        self._room_of = {name: n for n, room in enumerate(self.rooms) for name in room.tensors}
        self._shape = {node.layer: node.layer.renamed("") for node in graph.nodes if node.layer}
        self._model = cost_models.load("exact", **setting.options)
        self._sizes = {node.name: node.elements for node in graph.nodes} | {
            name: math.prod(shape) for name, shape in graph.sources.items()
        }
        self._roots: set[tuple[Layer, Resident, SumWeights]] = set()
        self._figures: set[tuple[Layer, Resident]] = set()
        self._left: dict[tuple[int, Stays], float] = {}
        self._spaces: dict[Layer, StructureSpace] = {}

    def _here(self, name: str, taken: Stays) -> bool:
        """Whether a tensor is in L2."""
        return self._room_of.get(name, -1) in taken

    def resident(self, node: GraphNode, taken: Stays) -> Resident:
        """What of a layer is in L2."""
        pairs = zip(("input", "filter"), node.inputs, strict=False)
        found = {kind for kind, name in pairs if self._here(name, taken)}
        return frozenset(found | ({"output"} if self._here(node.name, taken) else set()))

    def room(self, place: int, taken: Stays) -> float:
        """Bytes of L2 that a node's tiles may take; inf where nothing else takes any."""
        key = (place, taken)
        if key not in self._left:
            bits = taken_bits(self.rooms, taken, place)
            self._left[key] = (self.capacity - bits) / 8 if bits else math.inf
        return self._left[key]

    def pass_of(self, node: GraphNode, taken: Stays) -> tuple[float, float, float]:
        """Latency [cycles], energy [nJ] and bytes over DRAM's boundary of a node without MACs."""
        here = [self._here(name, taken) for name in (*node.reads, node.name)]
        if not self._counted and not any(here):
            return 0.0, 0.0, 0.0
        moved = {"dram_read": 0, "l2_read": 0, "dram_written": 0, "l2_written": 0}
        for name, inside in zip(node.reads, here, strict=False):
            size = self._sizes[name]
            if node.kind is NodeKind.CONCAT and len(node.reads) == 1:
                size = min(size, node.elements)  # a part
            moved["l2_read" if inside else "dram_read"] += size
        moved["l2_written" if here[-1] else "dram_written"] = node.elements
        if not self._counted:
            moved["l2_read"] = moved["l2_written"] = 0
        latency, energy = pass_cost(self._model, self.setting.chip, Moved(**moved))
        widths = self.setting.chip.widths
        bits = moved["dram_read"] * widths.input + moved["dram_written"] * widths.output
        return float(latency), energy, bits / 8

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
        return facts.lower(most, 0.0, weights)  # no less where less is in L2

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
