"""Hold bounds of chips of any depth against random mappings, and proven optima against near ones.

    python -m benchmarks chain_random
    python -m benchmarks chain_random --axis-dims 2 --out docs/data/chain-random-axes.csv

Part ``ways``: random mappings of random ways of spreading units beside the bound of their way, of
real layers. Part ``near``: of a proven optimum all mappings that differ in one or two choices, of a
tile by a step, of loop orders, and of axes' dimensions and units by any. Exits with 1 where a value
is below a bound or an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

import layers
from baselines import prove
from benchmarks.chain_problems import structures_of
from benchmarks.frame import Table, held
from maestro_env import Problem
from tests.baselines.proofs import least_of, spread_bounds

CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs")
LAYERS = ("resnet18.conv3_1b", "mobilenetv2.block2_depthwise", "bert_base.block0_context")
OPTIMA = {
    "simba": "block14_depthwise block8_depthwise block12_depthwise block4_depthwise block3_expand "
    "block3_project block4_project block15_depthwise classifier block2_depthwise resnet18.fc",
    "nvdla-cacc": "block7_depthwise block4_depthwise block14_depthwise block2_depthwise",
    "eyeriss-rs": "resnet18.conv3_1b resnet18.conv1 resnet18.conv2_1a resnet18.conv4_1b "
    "resnet18.conv4_1a",
}
"""Layers that are proven in a second or so, of mobilenetv2 where none is named."""
SAME = 1e-9


def beside_bounds(layer: str, chip: str, given: Any) -> tuple[int, float]:
    """Random mappings of some ways of spreading units beside the bounds of these."""
    problem = Problem(layers.parse(layer), chip, space={"axis_dims": given.axis_dims})
    structures = structures_of(problem)
    rng, least, count = np.random.default_rng(44), np.inf, 0
    chosen = rng.choice(len(structures.ways), min(given.ways, len(structures.ways)), replace=False)
    for row in chosen.tolist():
        way = structures.ways[row]
        low = least_of(spread_bounds(structures, structures.spread(way), parts=False))
        actions = problem.space.sample(given.each, row)
        for level, pick in enumerate(way):
            for column, choice in structures.fans[level][pick].columns.items():
                actions[:, column] = choice
        values = problem.look(actions).values
        count += len(values)
        if np.isfinite(values).any():
            least = min(least, float(values.min()) / low)
    return count, least


def near(layer: str, chip: str, axis_dims: int) -> tuple[int, float]:
    """The neighbours of a proven optimum beside it."""
    problem = Problem(layers.parse(layer), chip, space={"axis_dims": axis_dims})
    proof = prove(problem)
    assert proof.proven
    best = problem.action_of(proof.mapping)[0]
    steps = [
        [s for s in (at - 1, at, at + 1) if 0 <= s < len(p)] if p.kind == "tile"
        else list(range(len(p)))
        for p, at in zip(problem.space.parameters, best.tolist(), strict=True)
    ]  # fmt: skip
    least, count = np.inf, 0
    for i, j in combinations(range(len(steps)), 2):
        picks = list(product(steps[i], steps[j]))
        near = np.repeat(best[None], len(picks), axis=0)
        near[:, (i, j)] = picks
        least = min(least, float(problem.look(near).values.min()))
        count += len(near)
    return count, least / proof.value


def row(given: Any, part: str, chip: str, _: str, layer: str) -> tuple[int, str, bool]:
    """Of a case, by how much the least value is above its bound or optimum."""
    dims = given.axis_dims
    count, ratio = near(layer, chip, dims) if part == "near" else beside_bounds(layer, chip, given)
    return count, repr(ratio), ratio >= 1 - SAME


def keys(_: Any) -> Iterator[tuple[str, ...]]:
    """The cases of both parts."""
    for chip, layer in product(CHIPS, LAYERS):
        yield "ways", chip, "edp", layer
    for chip, names in OPTIMA.items():
        for name in names.split():
            yield "near", chip, "edp", name if "." in name else f"mobilenetv2.{name}"


TABLE = Table(
    __doc__,
    ("part", "accelerator", "objective", "layer", "mappings", "least_ratio", "holds"),
    keys,
    row,
    "chain-random.csv",
    {
        "ways": (30, "of each layer on each chip"),
        "each": (4_000, "random mappings of each way"),
        "axis_dims": (1, "dimensions that may share an axis"),
    },
    {"ways": 2, "each": 100},
    held,
)
