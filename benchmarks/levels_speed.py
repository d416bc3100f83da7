"""Speed of the exact model on chains of three and four memories.

Random nests of real layers: balanced tiles that nest, fans of 4 to 64 units (one with three
memories, two with four), ports that limit, capacities without a limit. Nests are counted as an
array of records in one call, on one thread; figures are the best of several runs, by processor
time. The share of the clock follows from a second count by bounds, which leaves the clock out and
sums what passes each port instead.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

import layers
from cost_models.exact.kernel import count_nests
from cost_models.exact.nest import ONE, Nest, NestLevel, Port, Window
from cost_models.exact.nest_record import record_of
from cost_models.exact.records import COUNTED, Counts, Work
from layers import DIMS, Layer

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1")
RATES = (32, 64, 128, 256)
"""Bits a cycle of a port."""


def fan(rng: np.random.Generator, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Units along one dimension of an extent above 1 (4 to 64), or along two (2 to 8 each)."""
    units = list(ONE)
    long = [d for d, extent in enumerate(extents) if extent > 1]
    dims = rng.choice(long, size=int(rng.integers(1, 3)), replace=False)
    low, high = (4, 64) if len(dims) == 1 else (2, 8)
    for d in dims:
        units[d] = int(rng.integers(low, high + 1))
    return tuple(units)


def inner_tile(rng: np.random.Generator, tile: tuple[int, ...]) -> tuple[int, ...]:
    """Tiles of a random number of steps each, as even as steps allow."""
    return tuple(-(-size // int(np.exp(rng.uniform(0, np.log(size))))) for size in tile)


def random_nest(rng: np.random.Generator, layer: Layer, memories: int) -> Nest:
    """A nest of a layer on a chain of memories, the inner ones of which are fanned out."""
    tile: tuple[int, ...] = layer.extents
    levels = []
    fanned = set(rng.choice(np.arange(1, memories), size=1 + (memories > 3), replace=False))
    for place in range(memories):
        units = fan(rng, layer.extents) if place in fanned else ONE
        tile = inner_tile(rng, tuple(-(-n // u) for n, u in zip(tile, units, strict=True)))
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
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        count_nests(work, nests, counts, status, 0, len(nests))
        best = min(best, time.process_time() - start)
    if (status != COUNTED).any():
        raise SystemExit(f"{int((status != COUNTED).sum())} of {len(nests)} nests were not counted")
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nests", type=int, default=2000, help="of each layer and depth")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for memories in (3, 4):
        speeds = []
        for name in LAYERS:
            rng = np.random.default_rng((args.seed, memories))
            layer = layers.get(name)
            nests = np.concatenate(
                [record_of(random_nest(rng, layer, memories)) for _ in range(args.nests)]
            )
            whole, without = (seconds(nests, stepwise, args.runs) for stepwise in (True, False))
            speeds.append(args.nests / whole)
            print(
                f"{memories} memories  {name:14} {speeds[-1]:10,.0f} nests/s stepwise"
                f" {args.nests / without:10,.0f} by bounds ({without / whole:.0%} of the time)"
            )
        print(f"{memories} memories  {'median':14} {statistics.median(speeds):10,.0f} nests/s")


if __name__ == "__main__":
    main()
