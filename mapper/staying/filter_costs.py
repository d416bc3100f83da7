"""Filters that stay in L2 over many runs of a network, and what their nodes cost then.

A filter is read from DRAM once for all runs and takes its own elements at its own bits of L2 from
the first node of the first run to the last node of the last. What nodes cost is a run's mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cost_models import filter_load_cost
from layers import GraphNode, Layer, NetworkGraph
from mapper.staying.network_result import NodeResult
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import Stays, TensorRoom, can_stay, home_of
from mapper.staying.shape_facts import KnownMapping, Resident, ShapeFacts, SumWeights
from mapper.staying.stay_proof import StaySetting


class FilterCosts(NodeCosts):
    """What nodes cost where filters may stay; see :class:`NodeCosts`.

    Args:
        graph: The network.
        setting: Chip, model and space.
        counted: Whether nodes without MACs cost what they move in every place.
        facts: What is known, by shape.
        inputs: How often the network runs.

    Attributes:
        tensors: How many of the rooms are of tensors; those of filters come after them.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        setting: StaySetting,
        counted: bool,
        facts: dict[Layer, ShapeFacts],
        inputs: int,
    ) -> None:
        super().__init__(graph, setting, counted, facts)
        self.inputs, self.tensors = inputs, len(self.rooms)
        self._filter_of: dict[str, int] = {}
        self._loads: dict[int, tuple[float, float, float]] = {}
        home, rooms = home_of(setting.chip), list(self.rooms)
        for node in graph.nodes if can_stay(home) and home.holds[1] and inputs > 1 else ():
            if node.layer is None or len(node.inputs) > 1:
                continue  # what another node writes is a tensor
            bits = node.layer.filter_size * setting.chip.widths.filter
            if bits <= self.capacity:
                self._filter_of[node.name] = len(rooms)
                name = f"filter of {node.name}"
                rooms.append(TensorRoom((name,), 0, len(graph.nodes) - 1, bits, bits))
        self.rooms = tuple(rooms)

    @property
    def filters(self) -> Stays:
        """Rooms of filters."""
        return frozenset(range(self.tensors, len(self.rooms)))

    def filter_of(self, place: int) -> int | None:
        """The room of a node's filter, or None where it may not stay."""
        return self._filter_of.get(self.graph.nodes[place].name)

    def bits(self, filters: Iterable[int]) -> int:
        """What filters take [bits]."""
        return sum(self.rooms[number].bits for number in filters)

    def resident(self, node: GraphNode, taken: Stays) -> Resident:
        """See :meth:`Placement.resident`."""
        found = super().resident(node, taken)
        return found | {"filter"} if self._filter_of.get(node.name, -1) in taken else found

    def of(self, place: int, taken: Stays, weights: SumWeights, upper: bool) -> float:
        """See :meth:`NodeCosts.of`; with its share of bringing a filter that stays."""
        energy, latency, _ = self._load(place, taken)
        return super().of(place, taken, weights, upper) + weights.of(energy, latency)

    def step(self, place: int, taken: Stays, known: KnownMapping | None) -> NodeResult:
        """See :meth:`NodeCosts.step`."""
        found = super().step(place, taken, known)
        energy, latency, dram = self._load(place, taken)
        return replace(
            found,
            energy=found.energy + energy,
            latency=found.latency + latency,
            dram=found.dram + dram,
        )

    def _load(self, place: int, taken: Stays) -> tuple[float, float, float]:
        """A run's share of bringing a node's filter: energy [nJ], latency [cycles], bytes of DRAM.

        It is brought before the node first runs, at the rate of DRAM.
        """
        layer = self.graph.nodes[place].layer
        if layer is None or self.filter_of(place) not in taken:
            return 0.0, 0.0, 0.0
        if place not in self._loads:
            found = filter_load_cost(self._model, self.setting.two_levels, {layer.filter_size: 1})
            energy, latency, dram = (figure / self.inputs for figure in found)
            self._loads[place] = energy, latency, dram
        return self._loads[place]
