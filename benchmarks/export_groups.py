"""Random fused groups, exported to AccelForge and counted there, beside the exact model.

What a group moves is what its layers' parts move in every fused tile, by the exact model with the
tensors of the group in L2, and filters that are brought there once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.export_cases import Case, drawn
from benchmarks.export_rules import Counts, Node, accelforge_counts, accelforge_said
from cost_models import Accelerator, load_chip
from layers import TENSORS, Layer, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.export.fused_accelforge import FusedNests
from mapper.export.fused_source import group_nests, groups_of_steps
from mapper.fusing.axis_plan import AxisPlan
from mapper.fusing.fused_group import FusedTiling, filter_loads, groups_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_steps import GroupSteps, KnownPart
from mapper.staying.node_costs import NodeCosts
from mapper.staying.stay_proof import StaySetting

CHIPS = ("edge", "cloud")
KINDS = ("products", "attention", "convolutions")
WHOLE = {"halo_time": "none", "halo_space": "tile", "window": "box"}


@dataclass(frozen=True)
class GroupCase:
    """A group that is exported.

    Args:
        kind: Of `KINDS`.
        nests: As AccelForge takes it.
        cases: The part of each layer in a fused tile.
        loads: Of each layer, elements of its filter that are brought into L2 to stay there.
    """

    kind: str
    nests: FusedNests
    cases: list[Case]
    loads: list[int]

    def exact(self, place: int) -> Counts:
        """Elements of a layer by memory, tensor and way, in all fused tiles, by the exact model."""
        resident = "+".join(t for t in TENSORS if t in self.nests.resident[place])
        return self._all(place, self.cases[place].counts(**WHOLE, resident=resident))

    def by_rules(self, place: int) -> Counts:
        """The same by AccelForge's rules."""
        found = accelforge_counts(self.cases[place].nest, self.nests.resident[place])
        return self._all(place, found)

    def _all(self, place: int, of_tile: Counts) -> Counts:
        found = Counter({key: math.prod(self.nests.tiles) * n for key, n in of_tile.items()})
        found["DRAM", "filter", "read"] += self.loads[place]
        found[self.nests.home, "filter", "write"] += self.loads[place]
        return found

    def said(self, place: int, said: Node) -> Counts:
        """The same as AccelForge says."""
        return accelforge_said(
            self.cases[place].nest, said, f"Layer{place}", self.nests.names[place]
        )


def products(rows: int, *wide: int) -> NetworkGraph:
    """Products one after another, of so many rows and of widths from the input's on."""
    graph = GraphBuilder()
    at = graph.source("input", (rows, wide[0]))
    for place, (inner, outer) in enumerate(pairwise(wide)):
        at = graph.mac(Layer.gemm(f"product{place}", M=rows, N=outer, K=inner), at)
    return graph.graph()


def attention(heads: int, rows: int, keys: int, deep: int, *, softmax: bool) -> NetworkGraph:
    """Scores and context of some heads."""
    graph, each = GraphBuilder(), {"query": rows, "key": keys, "value": keys}
    query, key, value = (graph.source(name, (heads, n, deep)) for name, n in each.items())
    at = graph.mac(Layer.gemm("scores", M=rows, N=keys, K=deep, batch=heads), query, key)
    at = graph.norm("softmax", at) if softmax else at
    graph.mac(Layer.gemm("context", M=rows, N=deep, K=keys, batch=heads), at, value)
    return graph.graph()


def graph_of(kind: str, rng: np.random.Generator) -> NetworkGraph:
    """Layers of a kind that are one group."""
    graph = GraphBuilder()
    wide, deep, heads = (int(2 ** rng.integers(*some)) for some in ((3, 6), (2, 5), (0, 3)))
    rows = int(rng.choice([8, 12, 24]))
    if kind == "convolutions":
        channels, size = int(rng.choice([2, 3])), int(rng.choice([14, 18]))
        at = graph.source("x", (1, channels, size, size))
        for number in range(2):
            taps, filters = int(rng.choice([2, 3])), int(rng.choice([2, 4]))
            shape = (filters, channels, size, size, taps, taps)
            layer = Layer(f"conv{number}", "CONV", *shape)
            if rng.random() < 0.3:
                layer = Layer(f"conv{number}", "DSCONV", 1, *shape[1:])
            at = graph.mac(layer, at)
            channels, size = graph.shape(at)[1], layer.out_y
        return graph.graph()
    if kind == "attention":
        return attention(heads, rows, wide, deep, softmax=True)
    return products(rows, *[deep, wide, deep, wide, deep][: int(rng.integers(2, 5)) + 1])


def alike(plans: list[AxisPlan]) -> list[AxisPlan]:
    """Ways to cut an axis into fused tiles that are alike, without halos that are kept."""
    return [one for one in plans if not one.keep and all(len(some) == 1 for some in one.pieces)]


def group_cases(count: int, seed: int) -> Iterator[GroupCase]:
    """Groups with random tilings and mappings of whole factors, in turn of all kinds and chips."""
    rng = np.random.default_rng([seed, 47])
    for place in range(count):
        chip = load_chip(CHIPS[place // len(KINDS) % len(CHIPS)])
        assert isinstance(chip, Accelerator)
        yield random_group(KINDS[place % len(KINDS)], chip, rng)


def random_group(kind: str, chip: Accelerator, rng: np.random.Generator) -> GroupCase:
    """A group of more than one fused tile, with anything in L2 that may be there."""
    graph, setting = graph_of(kind, rng), StaySetting(chip, WHOLE)
    group = max(groups_of(graph, chip)[0], key=lambda one: len(one.layers))
    last, ways = len(group.layers) - 1, [alike(group.row_plans), alike(group.column_plans)]
    while True:
        rows, columns = (some[rng.integers(len(some))] for some in ways)
        if rows.tiles * columns.tiles > 1:
            break
    ends = [(0, "input"), (last, "output"), *((place, "filter") for place in range(last + 1))]
    outside = frozenset(one for one in ends if rng.random() < 0.2)
    tilings = GroupTilings(setting, group, outside, False)
    filters = tilings.filters[rng.integers(len(tilings.filters))]
    tiling = FusedTiling(rows, columns, filters)
    parts: list[KnownPart] = []
    for place, part in tilings.parts(tiling, np.inf):
        mapping = next(drawn(part.layer, chip, rng)).mapping
        known = setting.known(part.layer, part.resident, mapping)
        parts.append((place, part, known))
    steps = GroupSteps(NodeCosts(graph, setting), 0, frozenset(), 0).of(tilings, tiling, parts)
    return GroupCase(
        kind,
        group_nests(groups_of_steps(chip, steps)[0]),
        [Case(part.layer, chip, known.mapping) for _, part, known in parts],
        [
            sum(size * times for size, times in filter_loads(group, place, columns).items())
            if place in filters else 0
            for place in range(last + 1)
        ],
    )  # fmt: skip
