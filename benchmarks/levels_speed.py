"""Speed of the exact model on chains of three and four memories: two tables of random nests.

    python -m benchmarks levels_speed

The first table's nests are those that a search of a deep chip takes by default: tiles of K, C, P,
Q, N and G that nest, of a random number of steps each (its logarithm is uniform), as even as steps
allow; filters (R and S) whole at every level; every loop order; fan-outs of 4 to 64 units along one
dimension. Those of the second table are harder: filters are tiled too, and fan-outs lie along one
dimension or along two (2 to 8 units each). One memory of three is fanned out, two of four; ports
limit, capacities do not.

Nests are counted as an array of records in one call, on one thread; figures are the best of several
runs, by processor time. The share of the clock follows from a second count by bounds, which leaves
the clock out and sums what passes each port instead.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import layers
from benchmarks.frame import Row, Table, grouped, in_turns
from cost_models.exact.kernel import count_nests
from cost_models.exact.nest import ONE, Nest, NestLevel, Port, R, S, Window
from cost_models.exact.nest_counts import record_of
from cost_models.exact.records import COUNTED, Counts, Work
from layers import DIMS, Layer

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1")
RATES = (32, 64, 128, 256)
"""Bits a cycle of a port."""


Dims = tuple[int, ...]
WHOLE = {"search": (R, S), "hard": ()}
"""Dimensions that each table's nests neither tile nor spread."""


def fan(rng: np.random.Generator, extents: Dims, whole: Dims) -> Dims:
    """Units along one dimension of an extent above 1 (4 to 64), or along two (2 to 8 each)."""
    units = list(ONE)
    long = [d for d, extent in enumerate(extents) if extent > 1 and d not in whole]
    dims = rng.choice(long, size=1 if whole else int(rng.integers(1, 3)), replace=False)
    low, high = (4, 64) if len(dims) == 1 else (2, 8)
    for d in dims:
        units[d] = int(rng.integers(low, high + 1))
    return tuple(units)


def inner_tile(rng: np.random.Generator, tile: Dims, whole: Dims) -> Dims:
    """Tiles of a random number of steps each, as even as steps allow."""
    steps = [1 if d in whole else int(n ** rng.uniform()) for d, n in enumerate(tile)]
    return tuple(-(-n // count) for n, count in zip(tile, steps, strict=True))


def random_nest(rng: np.random.Generator, layer: Layer, memories: int, whole: Dims) -> Nest:
    """A nest of a layer on a chain of memories, the inner ones of which are fanned out."""
    tile: Dims = layer.extents
    levels = []
    fanned = set(rng.choice(np.arange(1, memories), size=1 + (memories > 3), replace=False))
    for place in range(memories):
        units = fan(rng, layer.extents, whole) if place in fanned else ONE
        across = tuple(-(-n // u) for n, u in zip(tile, units, strict=True))
        tile = inner_tile(rng, across, whole)
        order = tuple(int(d) for d in rng.permutation(len(DIMS)))
        read, write = (int(rate) for rate in rng.choice(RATES, 2))
        levels.append(NestLevel(tile, units, order, port=Port(read, write)))
    return Nest(
        extents=layer.extents,
        levels=tuple(levels),
        coupled=layer.coupled_dims,
        windows=(
            Window(layer.stride_y, layer.dilation_y),
            Window(layer.stride_x, layer.dilation_x),
        ),
        dram=Port(64, 64),
    )


def seconds(nests: Any, stepwise: bool, runs: int) -> float:
    """Processor time to count an array of records, the best of several runs."""
    nests["stepwise"] = stepwise
    work, counts = np.zeros(1, Work), np.zeros(len(nests), Counts)
    status = np.zeros(len(nests), np.int64)
    works = {"": lambda: count_nests(work, nests, counts, status, len(nests))}
    best = min(in_turns(works, runs)[""])
    if (status != COUNTED).any():
        raise SystemExit(f"{int((status != COUNTED).sum())} of {len(nests)} nests were not counted")
    return best


def row_of(given: Any, table: str, memories: int, name: str) -> tuple[float, float]:
    """Nests a second of a layer, and the share of the clock."""
    rng, layer = np.random.default_rng(memories), layers.get(name)
    drawn = (random_nest(rng, layer, memories, WHOLE[table]) for _ in range(given.nests))
    records = np.concatenate([record_of(nest) for nest in drawn])
    whole, without = (seconds(records, stepwise, given.runs) for stepwise in (True, False))
    return round(given.nests / whole), round(1 - without / whole, 2)


def told(rows: list[Row], _: Any) -> None:
    """Print medians over the layers."""
    for (table, memories), mine in grouped(rows, "nests", "memories").items():
        rate, share = (np.median([float(row[name]) for row in mine]) for name in FIGURES)
        print(f"{table:7} {memories} memories: {rate:,.0f} nests/s, clock {share:.0%}")


FIGURES = ("nests_per_s", "clock_share")
TABLE = Table(
    __doc__,
    ("nests", "memories", "layer", *FIGURES),
    lambda _: product(WHOLE, (3, 4), LAYERS),
    row_of,
    "levels-speed.csv",
    {"nests": (2000, "of each layer and depth"), "runs": 5},
    {"nests": 50, "runs": 1},
    told,
)
