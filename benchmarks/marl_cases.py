"""Compare marl with every other searcher on 24 cases: values, samples to a target, anytime curves.

    python benchmarks/marl_cases.py --methods marl,ga,gamma --seeds 3 --results cases.jsonl

Four layers on `archgym`, four on `edge`, three objectives each. Every finished run is a line of the
results file; the same command continues, and `--no-run` only prints the tables. A method may carry
options of its config: `marl:policy=false` is marl without its policies.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import baselines
from maestro_env import Problem

CASES = {
    "compared": {
        "archgym": ("mobilenetv2.2", "resnet18.1", "vgg16.1", "alexnet.2"),
        "edge": ("mobilenetv2.7", "resnet18.10", "vgg16.8", "alexnet.4"),
    },
    "other": {
        "archgym": ("mobilenetv2.5", "resnet18.6", "vgg16.4", "resnet50.10"),
        "edge": ("mobilenetv2.12", "resnet18.3", "vgg16.5", "resnet50.20"),
    },
}
OBJECTIVES = ("latency", "edp", "energy")
METHODS = (
    "marl,ga,gamma,random,random-walk,annealing,local,cross-entropy,cma-es,tpe,bo,ppo-matched,ppo"
)
FIRST = 100
"""The anytime area begins here: before it, every method draws its first population."""


def parse_method(text: str) -> tuple[str, dict[str, Any]]:
    """``name:option=value:option=value`` as a name and options."""
    name, *pairs = text.split(":")
    return name, {key: yaml.safe_load(value) for key, value in (p.split("=") for p in pairs)}


def wanted(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every run that the arguments ask for, seed by seed, so that a table fills evenly."""
    for seed in range(arguments.seeds):
        for method in arguments.methods.split(","):
            for accelerator, layers in CASES[arguments.cases].items():
                for layer in layers:
                    for objective in OBJECTIVES:
                        yield {
                            "cost_model": arguments.cost_model,
                            "accelerator": accelerator,
                            "layer": layer,
                            "objective": objective,
                            "method": method,
                            "seed": seed,
                            "budget": arguments.budget,
                        }


def key(run: dict[str, Any]) -> tuple[Any, ...]:
    """What makes two runs the same."""
    names = ("cost_model", "accelerator", "layer", "objective", "method", "seed", "budget")
    return tuple(run[name] for name in names)


def case(run: dict[str, Any]) -> tuple[Any, ...]:
    """The problem of a run."""
    return run["cost_model"], run["accelerator"], run["layer"], run["objective"]


def search(run: dict[str, Any]) -> dict[str, Any]:
    """Run one search and keep its curve."""
    problem = Problem(run["layer"], run["accelerator"], run["objective"], run["cost_model"])
    name, options = parse_method(run["method"])
    begin = time.process_time()
    result = baselines.load(name, **options).search(problem, run["budget"], run["seed"])
    return {
        **run,
        "samples": result.samples,
        "best": result.best_value,
        "cpu_s": time.process_time() - begin,
        "curve": [list(step) for step in result.improvements],
    }


def curve(run: dict[str, Any], places: np.ndarray) -> np.ndarray:
    """Best value so far after each number of samples; inf before the first."""
    if not run["curve"]:
        return np.full(len(places), np.inf)
    n, value = np.array(run["curve"]).T
    rows = np.searchsorted(n, places, side="right") - 1
    return np.where(rows >= 0, value[np.maximum(rows, 0)], np.inf)


def table(runs: list[dict[str, Any]], budget: int, target: float) -> list[dict[str, Any]]:
    """A row a method, against the first one; medians over seeds, geometric means over cases."""
    best: dict[tuple[Any, ...], float] = {}
    for run in runs:
        best[case(run)] = min(best.get(case(run), np.inf), run["best"])
    places = np.unique(np.geomspace(FIRST, budget, 200).astype(int))
    figures: dict[str, dict[tuple[Any, ...], list[tuple[float, float, float]]]] = {}
    for run in runs:
        reference = best[case(run)]
        logs = np.log(np.minimum(curve(run, places), 1e3 * reference) / reference)
        value = min(run["best"], 1e3 * reference) / reference
        arrived = [n for n, v in run["curve"] if v <= target * reference]
        figures.setdefault(run["method"], {}).setdefault(case(run), []).append(
            (value, arrived[0] if arrived else np.inf, float(logs.mean()))
        )
    medians = {
        method: {name: np.median(np.array(values), axis=0) for name, values in cases.items()}
        for method, cases in figures.items()
    }
    first = medians[next(iter(medians))]
    rows = []
    for method, cases in medians.items():
        both = [name for name in cases if name in first]
        ratio = [first[name][0] / cases[name][0] for name in both]
        reached = [n for n in both if np.isfinite(cases[n][1]) and np.isfinite(first[n][1])]
        faster = [first[name][1] / cases[name][1] for name in reached]
        cpu = [run["cpu_s"] for run in runs if run["method"] == method]
        rows.append(
            {
                "method": method,
                "cases": len(cases),
                "value / best": float(np.exp(np.mean([np.log(c[0]) for c in cases.values()]))),
                "first / method": float(np.exp(np.mean(np.log(ratio)))) if ratio else None,
                "reached": int(sum(np.isfinite(c[1]) for c in cases.values())),
                "median samples": float(np.median([c[1] for c in cases.values()])),
                "samples first / method": float(np.median(faster)) if faster else None,
                "anytime": float(np.mean([c[2] for c in cases.values()])),
                "cpu_s": float(np.mean(cpu)),
            }
        )
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--cases", choices=sorted(CASES), default="compared")
    parser.add_argument("--cost-model", default="exact")
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--target", type=float, default=1.05)
    parser.add_argument("--results", type=Path, default=Path("marl_cases.jsonl"))
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    arguments = parser.parse_args()
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    done = {key(run): run for run in map(json.loads, lines)}
    runs = []
    for run in wanted(arguments):
        if key(run) not in done:
            if arguments.no_run:
                continue
            done[key(run)] = search(run)
            with arguments.results.open("a") as stream:
                stream.write(json.dumps(done[key(run)]) + "\n")
        runs.append(done[key(run)])
    rows = table(runs, arguments.budget, arguments.target)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)


if __name__ == "__main__":
    main()
