"""What `bo`, `tpe` and `ga` find with few and many samples, and what they cost.

    python benchmarks/model_based.py --results new.jsonl
    python benchmarks/model_based.py --results new.jsonl --budget 20000 --seeds 1
    python benchmarks/model_based.py --results new.jsonl --beside old.jsonl

EDP on `edge` under the model `exact` with ``halo_time=none`` and ``energy=maestro``, where it has
those options. Each run is a line of the results file; runs that it has are not repeated. The table
shows the median over seeds of the best value after so many samples, and the processor time of the
searches. `--beside` shows another version's file too (write it with this script, run with that
version's checkout as ``PYTHONPATH``); the last column is the geometric mean over layers of the
ratio of medians.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import cost_models
from maestro_env import Problem

METHODS = ("bo", "tpe", "ga")
LAYERS = ("mobilenetv2.2", "resnet18.6", "vgg16.4", "bert_base.0")
MARKS = (200, 1_000, 20_000)
Run = dict[str, Any]


def problem(layer: str) -> Problem:
    """The same problem in every version of the model."""
    known = ({"halo_time": "none", "energy": "maestro"}, {"halo_time": "none"}, {})
    for options in known:  # an older version has fewer options, and does without what these say
        with contextlib.suppress(ValueError, TypeError):
            model = cost_models.load("exact", **options)
            break
    return Problem(layer, "edge", "edp", model)


def search(method: str, layer: str, budget: int, seed: int) -> Run:
    """One search; the best value at each mark that it reached."""
    found: list[np.ndarray] = []
    searched = problem(layer)
    searched.on_evaluate = lambda _, evaluation: found.append(evaluation.values.copy())
    begun = time.process_time()
    baselines.load(method).search(searched, budget, seed)
    cpu_s = time.process_time() - begun
    best = np.minimum.accumulate(np.concatenate(found))
    marks = {str(mark): float(best[mark - 1]) for mark in MARKS if mark <= len(best)}
    return {
        "method": method,
        "layer": layer,
        "budget": budget,
        "seed": seed,
        "samples": len(best),
        "cpu_s": round(cpu_s, 2),
        "best": marks,
    }


def medians(runs: list[Run], method: str, mark: int) -> dict[str, float]:
    """Median over seeds for each layer."""
    values: dict[str, dict[int, float]] = {}
    for run in runs:
        if run["method"] == method and str(mark) in run["best"]:
            values.setdefault(run["layer"], {})[run["seed"]] = run["best"][str(mark)]
    return {layer: float(np.median(list(seeds.values()))) for layer, seeds in values.items()}


def table(runs: list[Run], beside: list[Run]) -> None:
    """A row for each method and mark."""
    print("| method | samples | " + " | ".join(LAYERS) + " | ratio |")
    print("|---|---|" + "---|" * (len(LAYERS) + 1))
    for method in METHODS:
        for mark in MARKS:
            mine, theirs = medians(runs, method, mark), medians(beside, method, mark)
            if not mine:
                continue
            cells = [
                f"{mine[layer]:.4g}" + (f" ({theirs[layer]:.4g})" if layer in theirs else "")
                if layer in mine
                else ""
                for layer in LAYERS
            ]
            logs = [np.log(mine[layer] / theirs[layer]) for layer in mine.keys() & theirs.keys()]
            ratio = f"{np.exp(np.mean(logs)):.3f}" if logs else ""
            print(f"| {method} | {mark:,} | " + " | ".join(cells) + f" | {ratio} |")
    for name, some in (("", runs), (" beside", beside)):
        for method in METHODS:
            for budget in sorted({run["samples"] for run in some if run["method"] == method}):
                cpu = [
                    run["cpu_s"]
                    for run in some
                    if run["method"] == method and run["samples"] == budget
                ]
                print(
                    f"{method}{name}: {budget:,} samples, {len(cpu)} runs, "
                    f"{min(cpu):.1f} to {max(cpu):.1f} CPU s"
                )


def read(path: Path) -> list[Run]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--layers", nargs="*", default=LAYERS)
    parser.add_argument("--budget", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--beside", type=Path)
    args = parser.parse_args()
    runs = read(args.results)
    done = {(run["method"], run["layer"], run["budget"], run["seed"]) for run in runs}
    for seed in range(args.seeds):
        for method in args.methods:
            for layer in args.layers:
                if (method, layer, args.budget, seed) not in done:
                    runs.append(search(method, layer, args.budget, seed))
                    with args.results.open("a") as stream:
                        stream.write(json.dumps(runs[-1]) + "\n")
    table(runs, read(args.beside) if args.beside else [])


if __name__ == "__main__":
    main()
