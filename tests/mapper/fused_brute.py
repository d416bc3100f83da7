"""Brute force over groups, tilings, what stays, and all mappings of all parts of small networks."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from cost_models import Mapping
from layers import Layer, LayerKind, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of, resident_of
from mapper.fusing.group_costs import GroupTilings
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import TensorRoom, rooms_of
from mapper.staying.shape_facts import ENERGY, Resident
from mapper.staying.stay_proof import StaySetting
from marl_common import FloatArray
from tests.mapper.staying import Points, all_costs, front, random_setting


def small_chain(seed: int) -> tuple[NetworkGraph, StaySetting]:
    """2 or 3 small convolutions, some with a sum behind them, on a chip with little L2."""
    rng = np.random.default_rng([47, seed])
    while True:
        setting = random_setting(rng)
        setting = replace(
            setting,
            chip=replace(setting.chip, l2_bytes=int(rng.integers(9, 24))),
            options={**setting.options, "double_buffer": False},
        )
        graph = GraphBuilder()
        rows, channels = int(rng.integers(5, 10)), 1
        at = first = graph.source("x", (1, channels, rows, 1))
        for number in range(int(rng.integers(2, 4))):
            taps = min(int(rng.choice([1, 2, 2])), rows)
            filters = 1 if number % 2 else int(rng.choice([2, 3, 4]))
            pad = (taps - 1) * int(rng.integers(2))
            layer = Layer(f"l{number}", "CONV", filters, channels, rows + pad, 1, taps, 1,
                          padding=(pad, 0, 0, 0))  # fmt: skip
            at, channels, rows = graph.mac(layer, at), filters, layer.out_y
        if graph.shape(first) == graph.shape(at) and rng.random() < 0.5:
            at = graph.add("add", at, first)
        built = graph.graph()
        if all(layer.macs <= 72 for layer in built.layers):
            values = [
                problem.look(problem.space.sample(50, seed)).values
                for problem in (
                    setting.problem(one, frozenset(), math.inf, ENERGY) for one in built.layers
                )
            ]
            if all(np.isfinite(some).any() for some in values):
                return built, setting


def long_attention(seed: int) -> tuple[NetworkGraph, StaySetting]:
    """The same of one head whose rows are long for L2."""
    return small_attention(seed, (7, 12), (1, 1, 5, 1), (2, 3, 9, 2))


def small_attention(
    seed: int,
    l2_bytes: tuple[int, int] = (12, 30),
    least: tuple[int, ...] = (1, 2, 2, 1),
    most: tuple[int, ...] = (4, 4, 4, 4),
) -> tuple[NetworkGraph, StaySetting]:
    """Scores, a softmax and the context of some heads, on a chip with little L2."""
    rng = np.random.default_rng([48, seed])
    setting = random_setting(rng)
    setting = replace(
        setting,
        chip=replace(setting.chip, l2_bytes=int(rng.integers(*l2_bytes))),
        options={**setting.options, "double_buffer": False},
    )
    heads, rows, keys, depth = (
        int(rng.integers(low, high)) for low, high in zip(least, most, strict=True)
    )
    graph = GraphBuilder()
    query, key, value = (
        graph.source(name, (heads, extent, depth))
        for name, extent in (("query", rows), ("key", keys), ("value", keys))
    )
    at = graph.mac(Layer.gemm("scores", M=rows, N=keys, K=depth, batch=heads), query, key)
    at = graph.norm("softmax", at)
    graph.mac(Layer.gemm("context", M=rows, N=depth, K=keys, batch=heads), at, value)
    return graph.graph(), setting


class FusedBrute:
    """Everything that a small network may do, one after another.

    Args:
        graph: The network.
        setting: Chip, options and space.
    """

    def __init__(self, graph: NetworkGraph, setting: StaySetting) -> None:
        self.graph, self.setting, self.chip = graph, setting, setting.chip
        self.rooms = rooms_of(graph, setting.chip)
        self.groups = groups_of(graph, setting.chip)
        self.passes = NodeCosts(graph, setting)
        self._costs: dict[tuple[Layer, Resident], FloatArray] = {}

    def best(self) -> Points:
        """Energies and latencies of which none is worse in both than another."""
        found: Points = []
        for chosen in product((False, True), repeat=len(self.rooms)):
            taken = [room for room, stays in zip(self.rooms, chosen, strict=True) if stays]
            for cut in self._cuts(0):
                found = front(found + self._points(taken, cut))
        return found

    def _cuts(self, place: int) -> Iterator[tuple[FusedGroup | None, ...]]:
        """All ways to run the nodes from a place on: by themselves (None) or in groups."""
        if place == len(self.graph.nodes):
            yield ()
            return
        for group in (None, *self.groups.get(place, ())):
            length = 1 if group is None else group.nodes
            for rest in self._cuts(place + length):
                yield (group, *rest)

    def _points(self, taken: list[TensorRoom], cut: tuple[FusedGroup | None, ...]) -> Points:
        sums: Points = [(0.0, 0.0)]
        place = 0
        for group in cut:
            length = 1 if group is None else group.nodes
            names = [node.name for node in self.graph.nodes[place : place + length]]
            if any(name in room.tensors for room in taken for name in names[:-1]):
                return []
            live = [r for r in taken if r.first < place + length and r.last >= place]
            left = (self.chip.l2_bytes or 0) * 8 - sum(room.bits for room in live)
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
        return self._layer(node.layer.renamed(""), resident, left / 8)

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
        for rows, columns, keys, *stays in product(
            group.row_plans, group.column_plans, group.key_tiles, *[(False, True)] * len(places)
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

        PEs leak for as long as it takes, at a rate that mappings differ by on a slower chip.
        """
        layer = Layer.gemm("", M=1, N=elements, K=1)
        one = Mapping(("KCYXRS", "KCYXRS"), ("C", "C"), ({"K": 1}, {"K": 1}), 1)
        slower = replace(self.setting, chip=replace(self.chip, noc_bw=1, offchip_bw=1))
        dram, here, slow = (
            setting.known(layer, frozenset(resident), one)
            for setting, resident in ((self.setting, ""), (self.setting, ["filter"]), (slower, ""))
        )
        leak = (slow.energy - dram.energy) / (slow.latency - dram.latency or 1)
        rate = self.chip.buffers()[0].read_bw
        cycles = 1 if rate is None else -(-elements * self.chip.widths.filter // rate)
        return dram.energy - here.energy + leak * (cycles - dram.latency + here.latency), cycles
