"""Compare configs of a searcher over diverse layers, against the best value that any run found.

Each ``--try`` is a searcher with options: ``ga``, ``ga:population=50,far=0.1``. The table shows the
geometric mean and the worst of (median over seeds / best known). Best known is the best of all
runs, kept in a file across calls so that it only ever gets harder.

    python benchmarks/tune_searchers.py --try ga --try ga:population=50 --cost-model maestro
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from maestro_env import Problem

LAYERS = [
    "mobilenetv2.2",
    "mobilenetv2.27",
    "resnet18.8",
    "vgg16.1",
    "bert_base.0",
    "conv:K=37,C=53,Y=31,X=47,R=5,S=3",
    "dsconv:C=144,Y=58,X=58,R=3,S=3",
    "conv:K=200,C=13,Y=57,X=40,R=3,S=3,stride=2",
]


def parse_try(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    options = dict(item.split("=") for item in rest.split(",")) if rest else {}
    return name, {key: json.loads(value) for key, value in options.items()}


def problems(args: argparse.Namespace) -> Iterator[tuple[str, Problem]]:
    for layer in args.layers:
        for accelerator in args.accelerators:
            for objective in args.objectives:
                key = f"{args.cost_model} {accelerator} {objective} {layer}"
                yield key, Problem(layer, accelerator, objective, args.cost_model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--try", dest="tries", action="append", required=True)
    parser.add_argument("--layers", nargs="+", default=LAYERS)
    parser.add_argument("--accelerators", nargs="+", default=["archgym", "edge"])
    parser.add_argument("--objectives", nargs="+", default=["latency", "edp"])
    parser.add_argument("--cost-model", default="maestro")
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--best", type=Path, help="JSON file of the best known values")
    parser.add_argument("--cases", action="store_true", help="show every case")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    known = json.loads(args.best.read_text()) if args.best and args.best.exists() else {}
    medians: dict[str, dict[str, float]] = {}
    seconds: dict[str, float] = {}
    for key, problem in problems(args):
        for text in args.tries:
            name, options = parse_try(text)
            start = time.process_time()
            values = [
                baselines.load(name, **options).search(problem, args.budget, seed).best_value
                for seed in range(args.first_seed, args.first_seed + args.seeds)
            ]
            seconds[text] = seconds.get(text, 0.0) + time.process_time() - start
            medians.setdefault(text, {})[key] = float(np.median(values))
            known[key] = min(known.get(key, np.inf), *values)
    if args.best:
        args.best.write_text(json.dumps(known, indent=1))
    rows = []
    for text, found in medians.items():
        ratios = {key: found[key] / known[key] for key in found}
        mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
        runs = len(found) * args.seeds
        rows.append({"try": text, "mean": mean, "worst": max(ratios.values())})
        print(
            f"{text:50s} mean {mean:.4f}  worst {max(ratios.values()):.4f}  "
            f"{seconds[text] / runs:.2f} CPU s a run"
        )
        if args.cases:
            for key, ratio in ratios.items():
                print(f"    {ratio:8.4f}  {key}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
