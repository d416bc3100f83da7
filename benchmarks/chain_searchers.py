"""Every searcher on every chip of the library that is a list of levels: 200 samples of four layers.

Values are over the physical bound of the objective. Fails where a searcher finds no mapping. What a
file holds already is not searched again, so that the same command goes on:

    python -m benchmarks chain_searchers --out chain-searchers.csv
    python -m benchmarks chain_searchers --out chain-searchers.csv --summary means.csv
    python -m benchmarks chain_searchers --samples 20000 --seeds 5 --objectives edp latency \
        --chips simba eyeriss-rs --layers LAYER ... --out seeds.csv
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import baselines
from baselines import SearcherError
from benchmarks.frame import known, write
from cost_models import CHAINS
from maestro_env import Problem

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1", "gemm:M=128,N=768,K=768")
OF_SEARCH = ("method", "chip", "layer", "objective", "seed")
COLUMNS = (*OF_SEARCH, "samples", "ratio", "cpu_seconds")


def comparable() -> list[str]:
    """Searchers that take such chips, but for those that prove optima or take minutes."""
    found = []
    for name in baselines.names():
        can = baselines.load(name).capabilities
        if can.any_depth and not (can.proves_optimum or can.on_request) and name != "auto":
            found.append(name)
    return found


def summary(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """A row a method: the geometric mean of value over bound, by chip and objective."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        columns = found.setdefault(row["method"], {})
        column = f"{row['chip']} {row['objective']}"
        columns.setdefault(column, []).append(math.log(float(row["ratio"])))
    means = {
        method: {column: math.exp(statistics.fmean(logs)) for column, logs in columns.items()}
        for method, columns in found.items()
    }
    order = sorted(means, key=lambda method: math.prod(means[method].values()))
    return [
        {"method": method} | {column: f"{mean:.3g}" for column, mean in means[method].items()}
        for method in order
    ]


def searched(method: str, chip: str, layer: str, objective: str, seed: int, samples: int) -> Any:
    """The row of one search."""
    problem = Problem(layer, chip, objective)
    start = time.process_time()
    try:
        found = baselines.load(method).search(problem, samples, seed)
    except SearcherError as error:
        raise SystemExit(str(error)) from None
    spent = time.process_time() - start
    assert problem.bound is not None
    figures = (str(problem.samples), f"{found.best_value / problem.bound:.4g}", f"{spent:.2f}")
    return dict(zip(COLUMNS, (method, chip, layer, objective, str(seed), *figures), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=comparable())
    parser.add_argument("--chips", nargs="+", choices=CHAINS, default=list(CHAINS))
    parser.add_argument("--layers", nargs="+", default=list(LAYERS))
    parser.add_argument("--objectives", nargs="+", default=["edp"])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path, help="of --out, which is only read")
    args = parser.parse_args()
    rows = known(args.out)
    if args.summary is not None:
        means = summary(rows)
        write(args.summary, means[0], means)
        return
    done = {tuple(row[name] for name in OF_SEARCH) for row in rows}
    every = product(range(args.seeds), args.methods, args.chips, args.objectives, args.layers)
    for seed, method, chip, objective, layer in every:
        if (method, chip, layer, objective, str(seed)) in done:
            continue
        rows.append(searched(method, chip, layer, objective, seed, args.samples))
        print(*rows[-1].values(), flush=True)
        if args.out is not None:
            write(args.out, COLUMNS, rows)
    failed = sum(not math.isfinite(float(row["ratio"])) for row in rows)
    if failed:
        raise SystemExit(f"{failed} of {len(rows)} searches found no mapping")


if __name__ == "__main__":
    main()
