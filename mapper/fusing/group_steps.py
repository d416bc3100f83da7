"""A fused group in the answer: its layers with the mappings of their parts, and its passes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from layers import GraphNode
from mapper.fusing.fused_group import FusedTiling
from mapper.fusing.group_costs import GroupTilings
from mapper.staying.network_result import FusedStep, LayerPart, NodeResult
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import KnownMapping

KnownPart = tuple[int, LayerPart, KnownMapping]
"""A layer's place in its group, its part in some fused tiles, and the mapping of this part."""


class GroupSteps:
    """What nodes of a group are in the answer.

    Args:
        costs: What nodes cost.
        place: Of the group's first node.
        taken: Rooms that are taken meanwhile.
        number: Of the group in the answer.
    """

    def __init__(self, costs: NodeCosts, place: int, taken: Stays, number: int) -> None:
        self._costs, self._place, self._number = costs, place, number
        self._names = tuple(name for n in sorted(taken) for name in costs.rooms[n].tensors)
        self._bits = taken_bits(costs.rooms, taken, place)

    def of(
        self, tilings: GroupTilings, tiling: FusedTiling, parts: Sequence[KnownPart]
    ) -> list[NodeResult]:
        """Its nodes, in order.

        Args:
            tilings: The group with what it reads and writes.
            tiling: How it is cut.
            parts: All parts of its layers.
        """
        group, nodes = tilings.group, self._costs.graph.nodes[self._place :]
        steps = []
        for layer, at in enumerate(group.places):
            own = [(part, known) for other, part, known in parts if other == layer]
            steps.append(self._layer(nodes[at], tilings, tiling, layer, own))
            if layer + 1 == len(group.places):
                break
            energy, latency = tilings.pass_costs(tiling, layer)
            inside, bytes_taken = frozenset({"input", "output"}), self._bits / 8
            steps += [
                NodeResult(node, inside, self._names, latency, energy, 0.0, bytes_taken, None)
                for node in nodes[at + 1 : group.places[layer + 1]]
            ]
        return steps

    def _layer(
        self,
        node: GraphNode,
        tilings: GroupTilings,
        tiling: FusedTiling,
        layer: int,
        parts: Sequence[tuple[LayerPart, KnownMapping]],
    ) -> NodeResult:
        stays = layer in tiling.filters
        none = (0.0, 0.0, 0.0)
        load = tilings.loads(tiling.columns, layer) if stays else none
        sums = tilings.sums(tiling) if layer == len(tilings.group.layers) - 1 else none
        energy, latency, dram = (
            more + last + math.fsum(part.times * getattr(one, name) for part, one in parts)
            for name, more, last in zip(("energy", "latency", "dram"), load, sums, strict=True)
        )
        fused = FusedStep(
            self._number,
            (tiling.rows.tile, tiling.columns.tile),
            tiling.tiles,
            (tiling.rows.halo, tiling.columns.halo),
            stays,
            tuple(parts),
            tiling.keys,
        )
        first, known = parts[0]
        room = self._costs.capacity / 8 - first.room
        return NodeResult(
            node, first.resident, self._names, latency, energy, dram, room, known, fused
        )
