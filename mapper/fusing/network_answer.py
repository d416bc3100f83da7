"""The answer of a network evaluated again: what stays, how layers are fused, every mapping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cost_models import CostModelError, MappingError, chip_from, mapping_from
from layers import GraphNode, Layer, NetworkGraph, to_fields
from mapper.fusing.answer_file import (
    AnsweredNode,
    AnswerError,
    AnswerFields,
    FusedFields,
    PartFields,
)
from mapper.fusing.axis_plan import AxisLayer, AxisPlan, axis_plan
from mapper.fusing.fused_execution import differences
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_steps import GroupSteps, KnownPart
from mapper.fusing.group_terms import outside_of
from mapper.staying.filter_costs import FilterCosts
from mapper.staying.kept_network import OBJECTIVES, check_inputs, check_keep
from mapper.staying.network_result import LayerPart, NetworkResult, NodeResult
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import Stays, home_of, taken_bits
from mapper.staying.shape_facts import KnownMapping, Resident
from mapper.staying.stay_proof import StaySetting

MODELS = ("exact", "simulator")
SAME = 1e-9
"""Share below which a figure is the one that the file has."""


class NetworkAnswer:
    """An answer beside its network.

    Args:
        answer: What the file has.
        graph: The network that it names.
        model: Of `MODELS`; the simulator executes every mapping, and the tiling of every group.

    Raises:
        AnswerError: What stays is none of what may, or the model is another.
        ValueError: A chip, an option or a network cannot be.
    """

    def __init__(self, answer: AnswerFields, graph: NetworkGraph, model: str) -> None:
        if model not in MODELS:
            raise AnswerError(
                f"cost model {model!r} does not price what moves between layers, expected exact "
                "or simulator"
            )
        chip = chip_from(answer.accelerator)
        fuse = "--fuse keep" if answer.tiles is None else "--fuse tiles"
        check_keep(chip, "exact", answer.cost_model_options, answer.objective, fuse)
        check_inputs(chip, answer.inputs, fuse)
        self.answer, self.graph, self.model = answer, graph, model
        self.home = home_of(chip).name
        self.setting = StaySetting(chip, dict(answer.cost_model_options))
        counted = answer.passes == "counted"
        self.costs = NodeCosts(graph, self.setting, counted)
        if answer.inputs > 1:
            self.costs = FilterCosts(graph, self.setting, counted, {}, answer.inputs)
        self._staying = self._stays()
        self._groups = {} if answer.tiles is None else groups_of(graph, chip)
        self._knowns: dict[tuple[Layer, Resident, str], KnownMapping] = {}

    def _stays(self) -> Stays:
        """Rooms of what the file says stays."""
        known = {room.tensors: n for n, room in enumerate(self.costs.rooms)}
        found = set()
        for number, given in enumerate(self.answer.stays):
            room = self.costs.rooms[known.get(tuple(given.tensors), 0)] if known else None
            where = f"stays[{number}]"
            if room is None or list(room.tensors) != given.tensors:
                raise AnswerError(f"{where}: {' = '.join(given.tensors)} may not stay here")
            has = (given.first, given.last, given.bytes)
            if has != (room.first, room.last, room.bits / 8):
                raise AnswerError(
                    f"{where}: from, to and bytes are {has}, expected "
                    f"{(room.first, room.last, room.bits / 8)}"
                )
            found.add(known[room.tensors])
        return frozenset(found)

    def evaluated(self) -> NetworkResult:
        """Every node with its cost; what is proven is taken from the file.

        Raises:
            AnswerError: A mapping, a tiling or a figure is not what the network has.
        """
        names = [given.node for given in self.answer.nodes]
        if names != [node.name for node in self.graph.nodes]:
            raise AnswerError(
                f"nodes: are not those of {self.answer.network}, in its order; search it again"
            )
        steps: list[NodeResult] = []
        groups = 0
        while len(steps) < len(names):
            place = len(steps)
            if self.answer.nodes[place].fused is None:
                steps.append(self._alone(place))
            else:
                steps += self._fused(place, groups)
                groups += 1
        for step, node in zip(steps, self.answer.nodes, strict=True):
            self._check_node(step, node)
        return self._summed(tuple(steps))

    def _summed(self, steps: tuple[NodeResult, ...]) -> NetworkResult:
        """Totals beside those of the file."""
        answer = self.answer
        name, claimed = ("keep", answer.keep) if answer.tiles is None else ("tiles", answer.tiles)
        found = NetworkResult(steps, claimed.value, claimed.bound)
        weights, edp = OBJECTIVES[answer.objective], found.latency * found.energy
        value = edp if weights is None else weights.of(found.energy, found.latency)
        _check(
            name,
            vars(claimed),
            {"latency_cycles": found.latency, "energy_nj": found.energy, "edp": edp,
             "dram_bytes": found.dram, "value": value, "gap": found.gap},
        )  # fmt: skip
        return found

    def _check_node(self, step: NodeResult, node: AnsweredNode) -> None:
        where = f"node {node.node}"
        if sorted(step.resident) != node.resident or str(step.node.kind) != node.kind:
            raise AnswerError(
                f"{where}: is {node.kind} with {node.resident} in L2, expected {step.node.kind} "
                f"with {sorted(step.resident)}"
            )
        _check(
            where,
            vars(node),
            {"latency_cycles": step.latency, "energy_nj": step.energy, "dram_bytes": step.dram,
             "taken_bytes": step.taken},
        )  # fmt: skip

    def _taken(self, first: int, last: int) -> Stays:
        """What is taken during some nodes; a tensor inside a group cannot stay by itself."""
        rooms = self.costs.rooms
        taken = frozenset(
            n for n in self._staying if rooms[n].first <= last and rooms[n].last >= first
        )
        inside = [rooms[n].tensors[0] for n in taken if first <= rooms[n].first < last]
        if inside:
            raise AnswerError(f"stays: {inside[0]} is inside a group, expected a tensor outside")
        left = self.costs.capacity - taken_bits(rooms, taken, first)
        if left < 0:
            raise AnswerError(
                f"node {self.graph.nodes[first].name}: tensors that stay need {-left / 8:g} B of "
                f"{self.home} more than there is"
            )
        return taken

    def _alone(self, place: int) -> NodeResult:
        node, given = self.graph.nodes[place], self.answer.nodes[place]
        taken = self._taken(place, place)
        if (node.layer is None) != (given.mapping is None):
            what = "no mapping" if node.layer is None else "a mapping"
            raise AnswerError(f"node {node.name}: mapping: expected {what}")
        known = None
        if node.layer is not None and given.mapping is not None:
            part = LayerPart(
                node.layer, self.costs.resident(node, taken), self.costs.room(place, taken)
            )
            known = self._known(part, given.mapping, node)
        return self.costs.step(place, taken, known)

    def _known(self, part: LayerPart, fields: Mapping[str, Any], node: GraphNode) -> KnownMapping:
        """A mapping from the file with its cost; it has to fit the room."""
        key = (part.layer.renamed(""), part.resident, repr(fields))
        try:
            if key not in self._knowns:
                mapping = mapping_from(fields)
                self._knowns[key] = self.setting.known(*key[:2], mapping, self.model)
        except (MappingError, CostModelError) as error:
            raise AnswerError(f"node {node.name}: mapping: {error}") from None
        found = self._knowns[key]
        if found.needs > part.room:
            raise AnswerError(
                f"node {node.name}: its tiles need {found.needs:g} B of L2, which has "
                f"{part.room:g} B left"
            )
        return found

    def _fused(self, place: int, number: int) -> list[NodeResult]:
        """The nodes of a group that begins at a place."""
        given = self.answer.nodes
        first = given[place].fused
        assert first is not None
        groups = [None if one.fused is None else one.fused.group for one in given]
        same = [n for n in range(place, len(given)) if groups[n] == first.group]
        length = same[-1] + 1 - place
        if first.group != number:
            raise AnswerError(f"node {given[place].node}: group: got {first.group}, expected "
                              f"{number}, the next one")  # fmt: skip
        group = next((one for one in self._groups.get(place, ()) if one.nodes == length), None)
        if group is None or [place + at for at in group.places] != same:
            raise AnswerError(
                f"group {number}: {given[place].node} to {given[same[-1]].node} is no chain that "
                "can be fused; expected two to four layers, each of which alone reads what the one "
                "before writes"
            )
        taken = self._taken(place, same[-1])
        fused = [one for n in same if (one := given[n].fused) is not None]
        tiling = _tiling(group, fused, number)
        outside = outside_of(self.costs, group, place, taken)
        counted = self.answer.passes == "counted"
        tilings = GroupTilings(self.setting, group, outside, counted)
        left = self.costs.capacity - taken_bits(self.costs.rooms, taken, place)
        parts = self._parts(tilings, tiling, left, [self.graph.nodes[n] for n in same], fused)
        return GroupSteps(self.costs, place, taken, number).of(tilings, tiling, parts)

    def _parts(
        self,
        tilings: GroupTilings,
        tiling: FusedTiling,
        left: float,
        nodes: list[GraphNode],
        fused: list[FusedFields],
    ) -> list[KnownPart]:
        """The parts of a group's layers with the mappings of the file."""
        wrong = differences(tilings.group, tiling) if self.model == "simulator" else []
        if wrong:
            raise AnswerError(f"group {fused[0].group}: executed: {wrong[0]}")
        found: list[KnownPart] = []
        given = [iter(one.parts) for one in fused]
        for place, part in tilings.parts(tiling, left):
            node = nodes[place]
            if part.room <= 0:
                raise AnswerError(
                    f"node {node.name}: what is fused with it needs {left / 8 - part.room:g} B of "
                    f"{self.home}, which has {left / 8:g} B"
                )
            own = next(given[place], None)
            _check_part(part, own, node)
            assert own is not None
            found.append((place, part, self._known(part, own.mapping, node)))
        if any(next(one, None) for one in given):
            raise AnswerError(f"group {fused[0].group}: parts: more than its tiles have")
        return found


def _tiling(group: FusedGroup, fused: list[FusedFields], number: int) -> FusedTiling:
    """How a group is cut; all of its layers say the same."""
    first = fused[0]
    for name in ("tile", "tiles", "halo", "keys"):
        if any(getattr(one, name) != getattr(first, name) for one in fused):
            raise AnswerError(f"group {number}: {name}: its layers differ, expected one for all")
    rows, columns = (
        _plan(axis, first, which, f"group {number}")
        for which, axis in enumerate((group.rows, group.columns))
    )
    filters = frozenset(place for place, one in enumerate(fused) if one.filter_stays)
    keys, most = first.keys or 0, group.layers[0].K
    if keys and (len(group.key_tiles) == 1 or keys >= most):
        raise AnswerError(
            f"group {number}: keys: got {keys}, expected fewer than the first of two products has"
        )
    found = FusedTiling(rows, columns, filters, keys)
    if first.tiles != found.tiles:
        raise AnswerError(f"group {number}: tiles: got {first.tiles}, expected {found.tiles}")
    return found


def _plan(axis: tuple[AxisLayer, ...], fused: FusedFields, which: int, where: str) -> AxisPlan:
    tile, most = fused.tile[which], axis[-1].outputs
    if tile > most:
        what = ("rows", "columns")[which]
        raise AnswerError(
            f"{where}: tile: {tile} {what}, but its last layer has {most}; expected at most {most}"
        )
    return axis_plan(axis, tile, fused.halo[which] == "kept")


def _check_part(part: LayerPart, given: PartFields | None, node: GraphNode) -> None:
    """Check that a part of the file is what the tiling has there."""
    layer = to_fields(part.layer.renamed(""))
    if given is None or (given.layer, given.count) != (layer, part.times):
        got = None if given is None else f"{given.count} of {given.layer}"
        raise AnswerError(
            f"node {node.name}: parts: got {got}, expected {part.times} of {layer}, whose shapes "
            "meet the layer before"
        )


def _check(where: str, given: Mapping[str, Any], found: Mapping[str, float]) -> None:
    """Check figures of the file."""
    for name, value in found.items():
        if not math.isclose(given[name], value, rel_tol=SAME, abs_tol=SAME):
            raise AnswerError(
                f"{where}: {name}: {given[name]:.12g} is written, but its mappings come to "
                f"{value:.12g}"
            )
