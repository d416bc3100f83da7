"""Random small networks, and brute force over all that may stay and all mappings of all layers."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import cost_models
from cost_models import Accelerator
from layers import Layer, NetworkGraph, NodeKind
from layers.graph_builder import GraphBuilder
from maestro_env import Problem
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import NetworkResult
from mapper.staying.node_costs import NodeCosts
from mapper.staying.rooms import rooms_of
from mapper.staying.shape_facts import ENERGY, LATENCY, Resident
from mapper.staying.stay_proof import StayProof, StaySetting
from marl_common import FloatArray
from tests.baselines.proofs import every_action

Points = list[tuple[float, float]]


class Bare:
    """A context of a run that nobody looks at."""

    def progress(self, *_: Any, **__: Any) -> None:
        """Nothing."""


def prove_here(proofs: Sequence[StayProof]) -> list[Any]:
    return [proof.run(Bare()) for proof in proofs]


def random_network(rng: np.random.Generator, residual: bool) -> NetworkGraph:
    """2 to 5 small layers, convolutions and products, with passes between them."""
    graph = GraphBuilder()
    rows, channels = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    at = graph.source("x", (1, channels, rows, 1))
    kept = at
    for number in range(int(rng.integers(2, 6))):
        taps = int(rng.choice([1, 1, 2]))
        filters = int(rng.choice([channels, channels, 1, 2, 4]))
        if taps > rows:
            taps = 1
        pad = taps - 1
        layer = Layer(
            f"l{number}", "CONV", filters, channels, rows + pad, 1, taps, 1, padding=(pad, 0, 0, 0)
        )  # fmt: skip
        at, channels = graph.mac(layer, at), filters
        if residual and graph.shape(kept) == graph.shape(at) and number:
            at = graph.add(f"add{number}", at, kept)
        if rng.random() < 0.4:
            kept = at
        if rng.random() < 0.15:
            at = graph.norm(f"norm{number}", at)
        if rng.random() < 0.15 and rows > 2:
            rows -= 1
            at = graph.move(NodeKind.POOLING, f"pool{number}", (at,), (1, channels, rows, 1))
    return graph.graph()


def random_setting(rng: np.random.Generator) -> StaySetting:
    """A chip on which something may stay, and a space that can be enumerated."""
    chip = Accelerator(
        int(rng.integers(1, 7)), int(rng.integers(8, 40)), int(rng.integers(20, 90)),
        int(rng.choice([1, 2, 8])), int(rng.choice([1, 2, 4])),
    )  # fmt: skip
    options = {
        "double_buffer": bool(rng.random() < 0.5),
        "energy": str(rng.choice(["cacti", "maestro"])),
    }
    space = {"tiles": "divisors", "parallel": str(rng.choice(["K", "C", "KY"]))}
    return StaySetting(chip, options, space)


def all_costs(problem: Problem) -> FloatArray:
    """``(N, 3)`` energy, latency and bytes of L2 of all mappings."""
    found = []
    for actions in every_action(problem):
        costs = problem.look(actions).costs
        some = np.stack([costs.energy_nj, costs.latency_cycles, costs.l2_bytes], axis=1)
        found.append(some[costs.feasible])
    return np.unique(np.concatenate(found), axis=0)


def front(points: Points) -> Points:
    found: Points = []
    for energy, latency in sorted(points):
        if not found or latency < found[-1][1]:
            found.append((energy, latency))
    return found


def brute(graph: NetworkGraph, setting: StaySetting, counted: bool, inputs: int = 1) -> Points:
    """Energies and latencies of all choices of what stays, and of all mappings: the best ones.

    Of several inputs a run's mean, in which each set of filters may stay.
    """
    found: Points = []
    layers = [node for node in graph.nodes if node.layer is not None]
    for chosen in product((False, True), repeat=len(layers) if inputs > 1 else 0):
        filters = {node.name for node, stays in zip(layers, chosen, strict=False) if stays}
        found = front(found + _brute(graph, setting, counted, filters, inputs))
    return found


def _brute(
    graph: NetworkGraph, setting: StaySetting, counted: bool, filters: set[str], inputs: int
) -> Points:
    """The same where these nodes' filters stay."""
    chip, rooms = setting.two_levels, rooms_of(graph, setting.chip)
    held = sum(
        node.layer.filter_size for node in graph.nodes if node.name in filters and node.layer
    )
    sizes = {node.name: node.elements for node in graph.nodes}
    passes = NodeCosts(graph, setting, counted)
    costs: dict[tuple[Layer, Resident], FloatArray] = {}
    best: Points = []
    for choice in product((False, True), repeat=len(rooms)):
        taken = [room for room, stays in zip(rooms, choice, strict=True) if stays]
        inside = {name for room in taken for name in room.tensors}
        sums: Points = [(0.0, 0.0)]
        for place, node in enumerate(graph.nodes):
            live = [room for room in taken if room.first <= place <= room.last]
            left = (chip.l2_bytes or 0) - held - sum(sizes[room.tensors[0]] for room in live)
            if left < 0:
                sums = []
                break
            if node.layer is None:
                numbers = frozenset(n for n, room in enumerate(rooms) if room in live)
                latency, energy, _ = passes.pass_of(node, numbers)
                sums = [(e + energy, t + latency) for e, t in sums]
                continue
            named = (("input", node.inputs[0]), ("output", node.name))
            resident = frozenset(kind for kind, name in named if name in inside)
            load = (0.0, 0.0)
            if node.name in filters:
                resident |= {"filter"}
                load = filter_load(setting, node.layer.filter_size)
            key = (node.layer.renamed(""), resident)
            if key not in costs:
                problem = setting.problem(node.layer, resident, math.inf, ENERGY)
                costs[key] = all_costs(problem)
            fitting = costs[key][costs[key][:, 2] <= left]
            own = front([(e, t) for e, t, _ in fitting.tolist()])
            more = load[0] / inputs, load[1] / inputs
            sums = front([(e + f + more[0], t + u + more[1]) for e, t in sums for f, u in own])
        best = front(best + sums)
    return best


def filter_load(setting: StaySetting, size: int) -> tuple[float, float]:
    """Energy [nJ] and latency [cycles] of reading a filter of bytes from DRAM into L2, once."""
    chip, cycles = setting.two_levels, -(-size // (setting.two_levels.offchip_bw or 1))
    model = cost_models.load("exact", **setting.options)
    counts = {"dram_fil": size}
    return cost_models.energy_of_counts(model, chip, cycles, counts), float(cycles)


def small(seed: int) -> tuple[NetworkGraph, StaySetting, bool]:
    """A random network on a chip; every other one has residual edges."""
    rng = np.random.default_rng([50, seed])
    while True:
        setting = random_setting(rng)
        graph = random_network(rng, residual=seed % 2 == 0)
        adds = any(node.name.startswith("add") for node in graph.nodes)
        if adds != (seed % 2 == 0) or any(layer.macs > 60 for layer in graph.layers):
            continue
        problems = [setting.problem(one, frozenset(), math.inf, ENERGY) for one in graph.layers]
        values = [problem.look(problem.space.sample(100, seed)).values for problem in problems]
        if all(np.isfinite(some).any() for some in values):
            return graph, setting, bool(rng.random() < 0.3)


def beside_brute(net: NetworkProblem, best: Points) -> list[tuple[NetworkResult, float]]:
    """Optima of latency, energy and their product, each beside the least of all points."""
    return [
        (net.sum(LATENCY), min(latency for _, latency in best)),
        (net.sum(ENERGY), min(energy for energy, _ in best)),
        (net.product(), min(energy * latency for energy, latency in best)),
    ]
