"""Speed of the exact model on chains of three and four memories: two tables of random nests.

    python -m benchmarks levels_speed --csv docs/data/levels-speed.csv

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

import argparse
import csv
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import layers
from cost_models.exact.kernel import count_nests
from cost_models.exact.nest import ONE, Nest, NestLevel, Port, R, S, Window
from cost_models.exact.nest_counts import record_of
from cost_models.exact.records import COUNTED, Counts, Work
from layers import DIMS, Layer

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1")
RATES = (32, 64, 128, 256)
"""Bits a cycle of a port."""


WHOLE = {"search": (R, S), "hard": ()}
"""Dimensions that each table's nests neither tile nor spread."""


def fan(
    rng: np.random.Generator, extents: tuple[int, ...], whole: tuple[int, ...]
) -> tuple[int, ...]:
    """Units along one dimension of an extent above 1 (4 to 64), or along two (2 to 8 each)."""
    units = list(ONE)
    long = [d for d, extent in enumerate(extents) if extent > 1 and d not in whole]
    dims = rng.choice(long, size=1 if whole else int(rng.integers(1, 3)), replace=False)
    low, high = (4, 64) if len(dims) == 1 else (2, 8)
    for d in dims:
        units[d] = int(rng.integers(low, high + 1))
    return tuple(units)


def inner_tile(
    rng: np.random.Generator, tile: tuple[int, ...], whole: tuple[int, ...]
) -> tuple[int, ...]:
    """Tiles of a random number of steps each, as even as steps allow."""
    steps = [1 if d in whole else int(n ** rng.uniform()) for d, n in enumerate(tile)]
    return tuple(-(-n // count) for n, count in zip(tile, steps, strict=True))


def random_nest(
    rng: np.random.Generator, layer: Layer, memories: int, whole: tuple[int, ...]
) -> Nest:
    """A nest of a layer on a chain of memories, the inner ones of which are fanned out."""
    tile: tuple[int, ...] = layer.extents
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
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        count_nests(work, nests, counts, status, len(nests))
        best = min(best, time.process_time() - start)
    if (status != COUNTED).any():
        raise SystemExit(f"{int((status != COUNTED).sum())} of {len(nests)} nests were not counted")
    return best


def speeds(table: str, memories: int, nests: int, runs: int) -> list[tuple[str, float, float]]:
    """Nests a second of each layer, and the share of the clock; the last row is the median."""
    rows: list[tuple[str, float, float]] = []
    for name in LAYERS:
        rng, layer = np.random.default_rng(memories), layers.get(name)
        drawn = (random_nest(rng, layer, memories, WHOLE[table]) for _ in range(nests))
        records = np.concatenate([record_of(nest) for nest in drawn])
        whole, without = (seconds(records, stepwise, runs) for stepwise in (True, False))
        rows.append((name, nests / whole, 1 - without / whole))
    middle = statistics.median(row[1] for row in rows), statistics.median(row[2] for row in rows)
    return [*rows, ("median", *middle)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nests", type=int, default=2000, help="of each layer and depth")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--csv", type=Path, help="write both tables there too")
    args = parser.parse_args()
    lines: list[list[object]] = [["nests", "memories", "layer", "nests_per_s", "clock_share"]]
    for table in WHOLE:
        for memories in (3, 4):
            for name, rate, share in speeds(table, memories, args.nests, args.runs):
                print(f"{table:7} {memories} memories  {name:14} {rate:10,.0f} nests/s", end="")
                print(f"  (clock {share:.0%})", flush=True)
                lines.append([table, memories, name, round(rate), round(share, 2)])
    if args.csv is not None:
        with args.csv.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
