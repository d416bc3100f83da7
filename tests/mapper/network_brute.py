"""Brute force over groups, tilings, what stays, and all mappings of all parts of small networks."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import compress, product
from typing import Any

import numpy as np

from cost_models import Accelerator, Chain, ChainMapping, Mapping
from layers import Layer, LayerKind, NetworkGraph
from maestro_env import Problem
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of, resident_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_terms import GroupTerms
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import NetworkResult
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import TensorRoom, home_of, room_limit, rooms_of
from mapper.staying.shape_facts import ENERGY, LATENCY, Resident
from mapper.staying.stay_proof import StayProof, StaySetting
from marl_common import FloatArray
from tests.baselines.proofs import every_action
from tests.mapper.small_networks import small

Points = list[tuple[float, float]]
Cut = tuple[FusedGroup | None, ...]


class Bare:
    """A context of a run that nobody looks at."""

    def progress(self, *_: Any, **__: Any) -> None:
        """Nothing."""


def prove_here(proofs: Sequence[StayProof]) -> list[Any]:
    return [proof.run(Bare()) for proof in proofs]


def all_costs(problem: Problem) -> FloatArray:
    """``(N, 3)`` energy, latency and bytes of the level next to DRAM of all mappings."""
    found, held = [], room_limit(problem.accelerator).removeprefix("max_")
    for actions in every_action(problem):
        costs = problem.look(actions).costs
        some = np.stack([costs.energy_nj, costs.latency_cycles, costs.column(held)], axis=1)
        found.append(some[costs.feasible])
    return np.unique(np.concatenate(found), axis=0)


def front(points: Points) -> Points:
    found: Points = []
    for energy, latency in sorted(points):
        if not found or latency < found[-1][1]:
            found.append((energy, latency))
    return found


def subsets(items: Sequence[Any]) -> Iterator[list[Any]]:
    return (list(compress(items, some)) for some in product((False, True), repeat=len(items)))


class NetworkBrute:
    """Everything that a small network may do, one after another.

    Args:
        graph: The network.
        setting: Chip, options and space.
        counted: Whether nodes without MACs cost what they move in every place.
        fused: Whether layers may be fused.
        inputs: How often the network runs. Where it does more than once, filters may stay, and
            costs are a run's mean.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        setting: StaySetting,
        counted: bool = False,
        fused: bool = False,
        inputs: int = 1,
    ) -> None:
        self.graph, self.setting, self.chip = graph, setting, setting.chip
        self.capacity = home_of(setting.chip).capacity_bits or 0
        self.rooms = rooms_of(graph, setting.chip)
        self.groups = groups_of(graph, setting.chip) if fused else {}
        self.passes = NodeCosts(graph, setting, counted)
        self.inputs, self.filters = inputs, set[str]()
        self.bits = {node.name: 8 * node.elements for node in graph.nodes}
        self._costs: dict[tuple[Layer, Resident], FloatArray] = {}
        self._loads: dict[int, tuple[float, float]] = {}

    def best(self) -> Points:
        """Energies and latencies of which none is worse in both than another."""
        found: Points = []
        layers = [node.name for node in self.graph.nodes if node.layer is not None]
        for filters in subsets(layers if self.inputs > 1 else ()):
            self.filters = set(filters)
            for taken in subsets(self.rooms):
                for cut in self._cuts(0):
                    found = front(found + self._points(taken, cut))
        return found

    def _cuts(self, place: int) -> Iterator[Cut]:
        """All ways to run the nodes from a place on: by themselves (None) or in groups."""
        if place == len(self.graph.nodes):
            yield ()
            return
        for group in (None, *self.groups.get(place, ())):
            length = 1 if group is None else group.nodes
            for rest in self._cuts(place + length):
                yield (group, *rest)

    def _points(self, taken: list[TensorRoom], cut: Cut) -> Points:
        sums: Points = [(0.0, 0.0)]
        place, held = 0, sum(
            8 * node.layer.filter_size
            for node in self.graph.nodes
            if node.layer is not None and node.name in self.filters
        )  # fmt: skip
        for group in cut:
            length = 1 if group is None else group.nodes
            names = [node.name for node in self.graph.nodes[place : place + length]]
            if any(name in room.tensors for room in taken for name in names[:-1]):
                return []
            live = [r for r in taken if r.first < place + length and r.last >= place]
            left = self.capacity - held - sum(self.bits[room.tensors[0]] for room in live)
            if left < 0:
                return []
            own = self._node(place, live, left) if group is None else []
            if group is not None:
                own = self._group(place, group, live, left)
            sums = front([(e + f, t + u) for e, t in sums for f, u in own])
            place += length
        return sums

    def _node(self, place: int, live: list[TensorRoom], left: float) -> Points:
        node = self.graph.nodes[place]
        if node.layer is None:
            numbers = frozenset(n for n, room in enumerate(self.rooms) if room in live)
            latency, energy, _ = self.passes.pass_of(node, numbers)
            return [(energy, latency)]
        inside = {name for room in live for name in room.tensors}
        named = (("input", node.inputs[0]), ("output", node.name))
        resident = frozenset(kind for kind, name in named if name in inside)
        if node.name not in self.filters:
            return self._layer(node.layer.renamed(""), resident, left / 8)
        energy, latency = (figure / self.inputs for figure in self._load(node.layer.filter_size))
        own = self._layer(node.layer.renamed(""), resident | {"filter"}, left / 8)
        return [(e + energy, t + latency) for e, t in own]

    def _layer(self, layer: Layer, resident: Resident, room: float) -> Points:
        if (layer, resident) not in self._costs:
            problem = self.setting.problem(layer, resident, math.inf, ENERGY)
            self._costs[layer, resident] = all_costs(problem)
        costs = self._costs[layer, resident]
        return front([(e, t) for e, t, _ in costs[costs[:, 2] <= room].tolist()])

    def _group(self, place: int, group: FusedGroup, live: list[TensorRoom], left: float) -> Points:
        inside = {name for room in live for name in room.tensors}
        first, last = (self.graph.nodes[n] for n in (place, place + group.nodes - 1))
        outside = {(0, "input")} if first.inputs[0] in inside else set()
        outside |= {(len(group.layers) - 1, "output")} if last.name in inside else set()
        places = range(len(group.layers))
        found: Points = []
        tilings = GroupTilings(self.setting, group, frozenset(outside), counted=False)
        stay = (False, True) if home_of(self.chip).holds[1] else (False,)
        for rows, columns, keys, *stays in product(
            group.row_plans, group.column_plans, group.key_tiles, *[stay] * len(places)
        ):
            filters = frozenset(n for n in places if stays[n])
            tiling = FusedTiling(rows, columns, filters, keys)
            rooms = [left - tiling.room_bits(group, self.chip, n) for n in places]
            if (tiling.tiles == 1 and not keys) or min(rooms) <= 0:
                continue
            sums: Points = [tilings.sums(tiling)[:2]]
            for n in places:
                resident = resident_of(group, n, filters, frozenset(outside), keys)
                for size, times in self._filters(group, tiling, n).items():
                    load = self._load(size)
                    sums = [(e + times * load[0], t + times * load[1]) for e, t in sums]
                for layer, count in tiling.parts(group, n):
                    own = self._layer(layer, resident, rooms[n] / 8)
                    sums = front([(e + count * f, t + count * u) for e, t in sums for f, u in own])
            found = front(found + sums)
        return found

    def least_of(self, terms: GroupTerms, tiling: FusedTiling) -> tuple[float, float]:
        """Least energy and latency of a tiling's parts, with the filters that are brought."""
        energy, latency = map(
            math.fsum,
            zip((0.0, 0.0), *(terms.loads(tiling.columns, n)[:2] for n in tiling.filters),
                strict=True),
        )  # fmt: skip
        for _, (layer, resident, _, count) in terms.parts(tiling, math.inf):
            points = self._layer(layer, resident, math.inf)
            energy += count * min(energy for energy, _ in points)
            latency += count * min(latency for _, latency in points)
        return energy, latency

    def _filters(self, group: FusedGroup, tiling: FusedTiling, place: int) -> Counter[int]:
        """Elements of a filter that are brought into L2 at a time, and how often; none is read."""
        layer, found = group.layers[place], Counter[int]()
        if place in tiling.filters and layer.kind is LayerKind.GEMM:
            for first in range(0, layer.N, tiling.columns.tile):
                heads = min(tiling.columns.tile, layer.N - first)
                found[layer.filter_size // layer.N * heads] += 1
        elif place in tiling.filters:
            found[layer.filter_size] += 1
        return found

    def _load(self, elements: int) -> tuple[float, float]:
        """Energy and latency to bring a filter into L2: what a layer saves if it is there.

        PEs leak for as long as it takes, at a rate that chips of two speeds differ by.
        """
        if elements not in self._loads:
            layer, chip = Layer.gemm("", M=1, N=elements, K=1), self.chip
            level = chip.levels[0] if isinstance(chip, Chain) else chip.buffers()[0]
            one, rate = self._any_mapping(layer), level.read_bw
            slower, faster = (replace(self.setting, chip=self._of_speed(n)) for n in (1, 8))
            ways = ((self.setting, ""), (self.setting, ["filter"]), (slower, ""), (faster, ""))
            there, here, slow, fast = (
                setting.known(layer, frozenset(resident), one) for setting, resident in ways
            )
            leak = (slow.energy - fast.energy) / (slow.latency - fast.latency)
            cycles = 1 if rate is None else -(-elements * chip.widths.filter // rate)
            spent = leak * (cycles - there.latency + here.latency)
            self._loads[elements] = there.energy - here.energy + spent, cycles
        return self._loads[elements]

    def _of_speed(self, elements: int) -> Accelerator | Chain:
        """The chip with so many elements a cycle from DRAM."""
        if isinstance(self.chip, Chain):
            dram, *others = self.chip.levels
            return replace(self.chip, levels=(replace(dram, read_bw=8 * elements), *others))
        return replace(self.chip, noc_bw=elements, offchip_bw=elements)

    def _any_mapping(self, layer: Layer) -> Mapping | ChainMapping:
        """A mapping of a product with one row, which reads each filter element once."""
        if not isinstance(self.chip, Chain):
            return Mapping(("KCYXRS", "KCYXRS"), ("C", "C"), ({"K": 1}, {"K": 1}), 1)
        problem = self.setting.problem(layer, frozenset(), math.inf, ENERGY)
        looked = problem.look(problem.space.sample(200, 0))
        found: ChainMapping = looked.mappings[int(np.flatnonzero(looked.feasible)[0])]
        return found


@cache
def brute_of(seed: int) -> tuple[NetworkGraph, StaySetting, bool, Points]:
    """A small network, its setting, whether passes are counted, and its best points."""
    graph, setting, counted = small(seed)
    return graph, setting, counted, NetworkBrute(graph, setting, counted).best()


def beside_brute(net: NetworkProblem, best: Points) -> list[tuple[NetworkResult, float]]:
    """Optima of latency, energy and their product, each beside the least of all points."""
    return [
        (net.sum(LATENCY), min(latency for _, latency in best)),
        (net.sum(ENERGY), min(energy for energy, _ in best)),
        (net.product(), min(energy * latency for energy, latency in best)),
    ]
