"""Prove the optimum of zoo layers in narrowed spaces, and show each method's gap to it.

    python benchmarks/optimum_gap.py --json optimum_gap.json

The spaces are cut (divisor tiles, few cluster sizes) so that exhaustive search finishes each in
minutes; every method searches the same cut space. A gap is the median over seeds of best / optimum.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from maestro_env import Problem

CLUSTERS = {"cluster_size": [8, 12, 14, 21]}
CASES: dict[str, dict[str, Any]] = {
    "mlp.2": {},
    "mobilenetv2.52": {"tiles": "divisors"},
    "mobilenetv2.1": {"tiles": "divisors"},
    "mobilenetv2.2": {
        "tiles": "divisors",
        "only": {**CLUSTERS, "outer_parallel": ["K", "C"], "inner_parallel": ["Y"]},
    },
    "bert_base.1": {"tiles": "divisors", "only": CLUSTERS},
    "resnet18.1": {
        "tiles": "divisors",
        "only": {"cluster_size": [14], "outer_parallel": ["K", "Y"], "inner_parallel": ["C", "X"]},
    },
}
METHODS = [name for name in baselines.names() if name != "exhaustive"]


def prove(problem: Problem) -> dict[str, Any]:
    start = time.perf_counter()
    result = baselines.load("exhaustive").search(problem, 10**9, seed=0)
    return {
        "optimum": result.best_value,
        "proven": result.proven,
        "samples": result.samples,
        "mappings": problem.space.size,
        "seconds": round(time.perf_counter() - start, 1),
    }


def gap(problem: Problem, method: str, budget: int, seeds: int, optimum: float) -> dict[str, Any]:
    start = time.process_time()
    runs = [baselines.load(method).search(problem, budget, seed) for seed in range(seeds)]
    return {
        "gap": float(np.median([run.best_value for run in runs])) / optimum - 1,
        "samples": runs[0].samples,
        "cpu_s": round((time.process_time() - start) / seeds, 2),
    }


def table(found: dict[str, Any], methods: list[str]) -> str:
    lines = ["| method | samples | " + " | ".join(found) + " |", "|---" * (len(found) + 2) + "|"]
    for method in methods:
        cells = [case["methods"].get(method) for case in found.values()]
        shown = ["" if cell is None else f"{100 * cell['gap']:.1f} %" for cell in cells]
        samples = next((str(cell["samples"]) for cell in cells if cell), "")
        lines.append(f"| {method} | {samples} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--cost-model", default="exact")
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="results; layers and methods in it are kept")
    args = parser.parse_args()
    found = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    names = [args.accelerator, args.objective, args.cost_model]
    problems = {name: Problem(name, *names, space=CASES[name]) for name in args.layers}
    for name, problem in problems.items():
        if name not in found:
            found[name] = {**prove(problem), "methods": {}}
            proof = {key: value for key, value in found[name].items() if key != "methods"}
            print(name, proof, flush=True)
    for method in args.methods:
        for name, problem in problems.items():
            case = found[name]
            if method not in case["methods"]:
                case["methods"][method] = gap(
                    problem, method, args.budget, args.seeds, case["optimum"]
                )
            if args.json:
                args.json.write_text(json.dumps(found, indent=1))
    print(table(found, args.methods))


if __name__ == "__main__":
    main()
