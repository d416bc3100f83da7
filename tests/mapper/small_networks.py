"""Random small networks, and settings in which all of their mappings can be enumerated."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cost_models import Accelerator, Chain, load_chip
from layers import Layer, NetworkGraph, NodeKind
from layers.graph_builder import GraphBuilder
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of
from mapper.staying.shape_facts import ENERGY
from mapper.staying.stay_proof import StaySetting

Small = Callable[[int], tuple[NetworkGraph, StaySetting]]
"""A network and its setting by a seed."""
CHAIN = """
sources: {image: [1, 2, 24, 24]}
layers:
  - {name: wide, kind: conv, K: 12, C: 2, Y: 24, X: 24, R: 1, S: 1, inputs: [image]}
  - {name: deep, kind: dsconv, C: 12, Y: 24, X: 24, R: 3, S: 3, inputs: [wide]}
  - {name: narrow, kind: conv, K: 2, C: 12, Y: 22, X: 22, R: 1, S: 1, inputs: [deep]}
"""
NET = """
sources: {image: [1, 3, 10, 10]}
layers:
  - {name: a, kind: conv, K: 4, C: 3, Y: 10, X: 10, R: 3, S: 3, inputs: [image]}
  - {name: b, kind: conv, K: 4, C: 4, Y: 10, X: 10, R: 3, S: 3, padding: [1, 1, 1, 1], inputs: [a]}
  - {name: sum, kind: elementwise, inputs: [b, a], shape: [1, 4, 8, 8]}
  - {name: pool, kind: pooling, inputs: [sum], shape: [4]}
  - {name: fc, kind: gemm, M: 1, N: 2, K: 4, inputs: [pool]}
"""
EXPERTS = {
    "model_type": "mixtral", "vocab_size": 50, "hidden_size": 16, "intermediate_size": 24,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_local_experts": 4, "num_experts_per_tok": 2,
}  # fmt: skip
TILES = "search --network net.yaml -o energy --fuse tiles --workers 1 --l2-bytes 2000"
"""The search in which the layers of `CHAIN` are fused."""


def random_network(rng: np.random.Generator, residual: bool) -> NetworkGraph:
    """2 to 5 small layers, convolutions and products, with passes between them."""
    graph = GraphBuilder()
    rows, channels = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    at = kept = graph.source("x", (1, channels, rows, 1))
    for number in range(int(rng.integers(2, 6))):
        taps = int(rng.choice([1, 1, 2]))
        filters = int(rng.choice([channels, channels, 1, 2, 4]))
        taps = 1 if taps > rows else taps
        at = graph.mac(column_of(f"l{number}", (filters, channels), rows, taps, taps - 1), at)
        channels = filters
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


def column_of(name: str, channels: tuple[int, int], rows: int, taps: int, pad: int) -> Layer:
    """A convolution of one column, padded at its head; `channels` are those of filters first."""
    return Layer(name, "CONV", *channels, rows + pad, 1, taps, 1, padding=(pad, 0, 0, 0))


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


def little_setting(rng: np.random.Generator, l2_bytes: tuple[int, int]) -> StaySetting:
    """The same with so little L2, of which nothing is buffered twice."""
    setting = random_setting(rng)
    chip = replace(setting.two_levels, l2_bytes=int(rng.integers(*l2_bytes)))
    return replace(setting, chip=chip, options={**setting.options, "double_buffer": False})


def possible(graph: NetworkGraph, setting: StaySetting, samples: int, seed: int) -> bool:
    """Whether each layer has a mapping among so many random ones."""
    problems = [setting.problem(one, frozenset(), math.inf, ENERGY) for one in graph.layers]
    values = [problem.look(problem.space.sample(samples, seed)).values for problem in problems]
    return all(np.isfinite(some).any() for some in values)


def small(seed: int) -> tuple[NetworkGraph, StaySetting, bool]:
    """A random network on a chip; every other one has residual edges."""
    rng = np.random.default_rng([50, seed])
    while True:
        setting = random_setting(rng)
        graph = random_network(rng, residual=seed % 2 == 0)
        adds = any(node.name.startswith("add") for node in graph.nodes)
        if adds != (seed % 2 == 0) or any(layer.macs > 60 for layer in graph.layers):
            continue
        if possible(graph, setting, 100, seed):
            return graph, setting, bool(rng.random() < 0.3)


def small_chain(seed: int) -> tuple[NetworkGraph, StaySetting]:
    """2 or 3 small convolutions, some with a sum behind them, on a chip with little L2."""
    rng = np.random.default_rng([47, seed])
    while True:
        setting, graph = little_setting(rng, (9, 24)), GraphBuilder()
        rows, channels = int(rng.integers(5, 10)), 1
        at = first = graph.source("x", (1, channels, rows, 1))
        for number in range(int(rng.integers(2, 4))):
            taps = min(int(rng.choice([1, 2, 2])), rows)
            filters = 1 if number % 2 else int(rng.choice([2, 3, 4]))
            pad = (taps - 1) * int(rng.integers(2))
            layer = column_of(f"l{number}", (filters, channels), rows, taps, pad)
            at, channels, rows = graph.mac(layer, at), filters, layer.out_y
        if graph.shape(first) == graph.shape(at) and rng.random() < 0.5:
            at = graph.add("add", at, first)
        built = graph.graph()
        if all(one.macs <= 72 for one in built.layers) and possible(built, setting, 50, seed):
            return built, setting


def deep_setting(l2_bytes: int, filters: bool) -> StaySetting:
    """A list of levels whose first one inside DRAM has so many bytes, and filters or none."""
    home = ["input", "filter", "output"] if filters else ["input", "output"]
    port, plain = {"read_bw": 32, "write_bw": 32}, {"double_buffer": False}
    inner: list[dict[str, Any]] = [{"name": "Pe", "bytes": 8, **plain}]
    if not filters:
        inner = [{"name": "Weights", "bytes": 4, "holds": ["filter"], **plain},
                 {"name": "Sums", "bytes": 4, "holds": ["output"], **plain}]  # fmt: skip
    levels = [
        {"name": "DRAM", "read_bw": 16, "write_bw": 16},
        {"name": "Glb", "bytes": l2_bytes, "holds": home, "fanout": {"axes": [2], "dims": "KY"},
         **port, **plain},
        *inner,
    ]  # fmt: skip
    return StaySetting(Chain.from_dict({"levels": levels}), space={"tiles": "divisors"})


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
    setting = little_setting(rng, l2_bytes)
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


def placed(small: Small, seed: int, filters: bool | None) -> tuple[NetworkGraph, StaySetting]:
    """A small network, or the same on a list of levels with as much room, for filters or not."""
    graph, setting = small(seed)
    if filters is not None:
        setting = deep_setting(setting.two_levels.l2_bytes or 0, filters)
    return graph, setting


def random_chain(rng: np.random.Generator) -> NetworkGraph:
    """2 to 4 convolutions in a row, with taps, strides, dilation and padding of their own."""
    graph = GraphBuilder()
    rows, columns = (int(n) for n in rng.integers(3, 14, 2))
    at = graph.source("x", (1, 1, rows, columns))
    for number in range(int(rng.integers(2, 5))):
        taps = [int(rng.integers(1, min(n, 3) + 1)) for n in (rows, columns)]
        spread = [int(rng.integers(1, 3)) if 2 * (t - 1) < n else 1
                  for t, n in zip(taps, (rows, columns), strict=True)]  # fmt: skip
        reach = [d * (t - 1) + 1 for t, d in zip(taps, spread, strict=True)]
        pads = [int(n) for n in rng.integers(0, 2, 4)] if rng.random() < 0.7 else [0] * 4
        pads = [min(pad, reach[side // 2] - 1) for side, pad in enumerate(pads)]
        layer = Layer(
            f"l{number}", "CONV", 1, 1, rows + pads[0] + pads[1], columns + pads[2] + pads[3],
            *taps, stride=(int(rng.integers(1, 3)), int(rng.integers(1, 3))),
            dilation=(spread[0], spread[1]), padding=(pads[0], pads[1], pads[2], pads[3]),
        )  # fmt: skip
        at = graph.mac(layer, at)
        rows, columns = layer.out_y, layer.out_x
    return graph.graph()


def random_tiling(rng: np.random.Generator) -> tuple[FusedGroup, FusedTiling]:
    """A tiling of all layers of a random chain."""
    while True:
        graph = random_chain(rng)
        groups = groups_of(graph, load_chip("edge"))
        whole = [one for one in groups.get(0, ()) if len(one.layers) == len(graph.nodes)]
        if whole:
            rows, columns = whole[0].row_plans, whole[0].column_plans
            tiling = FusedTiling(
                rows[rng.integers(len(rows))], columns[rng.integers(len(columns))], frozenset()
            )
            return whole[0], tiling
