"""What each node of a network has in L2, what room it has, and what passes cost, by what stays.

These are the terms of the problem: the search and the checker of certificates share them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cost_models
from cost_models import Accelerator, Chain, Moved, pass_cost
from layers import GraphNode, NetworkGraph, NodeKind
from mapper.staying.rooms import Stays, home_of, rooms_of, taken_bits
from mapper.staying.shape_facts import Resident


class Placement:
    """A network on a chip.

    Args:
        graph: The network.
        chip: The chip.
        options: Options of the model `exact`.
        counted: Whether nodes without MACs cost what they move in every place; if not, only what
            they move between DRAM and L2.

    Attributes:
        rooms: What may stay.
        capacity: Of L2 [bits]; inf without one.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        chip: Accelerator | Chain,
        options: Mapping[str, Any],
        counted: bool = False,
    ) -> None:
        self.graph, self._chip, self._counted = graph, chip, counted
        self.rooms = rooms_of(graph, chip)
        bits = home_of(chip).capacity_bits
        self.capacity = math.inf if bits is None else float(bits)
        self._room_of = {name: n for n, room in enumerate(self.rooms) for name in room.tensors}
        self._model = cost_models.load("exact", **options)
        self._sizes = {node.name: node.elements for node in graph.nodes} | {
            name: math.prod(shape) for name, shape in graph.sources.items()
        }
        self._left: dict[tuple[int, Stays], float] = {}

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
        latency, energy = pass_cost(self._model, self._chip, Moved(**moved))
        widths = self._chip.widths
        bits = moved["dram_read"] * widths.input + moved["dram_written"] * widths.output
        return float(latency), energy, bits / 8
