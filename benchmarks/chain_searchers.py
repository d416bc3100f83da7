"""Every searcher on every chip of the library that is a list of levels: 200 samples of four layers.

Values are over the physical bound of the objective. Fails where a searcher finds no mapping:

    python -m benchmarks chain_searchers --out chain-searchers.csv
    python -m benchmarks chain_searchers --out chain-searchers.csv --summary means.csv
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import baselines
from baselines import SearcherError
from cost_models import CHAINS
from maestro_env import Problem

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1", "gemm:M=128,N=768,K=768")
COLUMNS = ("method", "chip", "layer", "objective", "samples", "ratio", "cpu_seconds")


def comparable() -> list[str]:
    """Searchers that take such chips, but for those that list a space or take minutes."""
    found = []
    for name in baselines.names():
        can = baselines.load(name).capabilities
        if can.any_depth and not (can.enumerates or can.on_request) and name != "auto":
            found.append(name)
    return found


def summary(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """A row a method: the geometric mean over layers of value over bound, on each chip."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        by_chip = found.setdefault(row["method"], {})
        by_chip.setdefault(row["chip"], []).append(math.log(float(row["ratio"])))
    means = {
        method: {chip: math.exp(statistics.fmean(logs)) for chip, logs in by_chip.items()}
        for method, by_chip in found.items()
    }
    order = sorted(means, key=lambda method: math.prod(means[method].values()))
    return [
        {"method": method} | {chip: f"{mean:.3g}" for chip, mean in means[method].items()}
        for method in order
    ]


def write(path: Path, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=comparable())
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path, help="of --out, which is only read")
    args = parser.parse_args()
    if args.summary is not None:
        with args.out.open(encoding="utf-8", newline="") as text:
            write(args.summary, ("method", *CHAINS), summary(csv.DictReader(text)))
        return
    rows, failed = [], 0
    for method in args.methods:
        for chip in CHAINS:
            for layer in LAYERS:
                problem = Problem(layer, chip, args.objective)
                start = time.process_time()
                try:
                    found = baselines.load(method).search(problem, args.samples, args.seed)
                except SearcherError as error:
                    raise SystemExit(str(error)) from None
                spent = time.process_time() - start
                assert problem.bound is not None
                ratio = found.best_value / problem.bound
                failed += not math.isfinite(ratio)
                row = (method, chip, layer, args.objective, str(problem.samples))
                values = (*row, f"{ratio:.4g}", f"{spent:.2f}")
                rows.append(dict(zip(COLUMNS, values, strict=True)))
                print(*values, flush=True)
        if args.out is not None:
            write(args.out, COLUMNS, rows)
    if failed:
        raise SystemExit(f"{failed} of {len(rows)} searches found no mapping")


if __name__ == "__main__":
    main()
