"""Compare settings of searchers on layers that no published table has.

    python benchmarks/tune_searchers.py annealing local --results tuning.jsonl
    python benchmarks/tune_searchers.py --try ga --try ga:population=50 --seeds 3

A searcher's name stands for its defaults and the grid below, one option changed at a time;
``--try`` gives settings of one's own. Cases: six layers, three objectives, both cost models;
`--cases 12` takes twelve of the 36, always the same ones. The table shows the geometric mean over
cases of value / best known (of all runs in the results file) as the median seed has it, with the
lowest and highest seed: a setting is better only where the ranges do not meet. Finished runs are
kept in the results file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import marl_cases
import numpy as np

LAYERS = {
    "archgym": ("mobilenetv2.5", "resnet18.6", "conv:K=37,C=53,Y=31,X=47,R=5,S=3"),
    "edge": ("mobilenetv2.12", "vgg16.5", "resnet50.20"),
}
COST_MODELS = ("exact", "maestro")
GRID: dict[str, dict[str, tuple[float | str, ...]]] = {
    "annealing": {
        "chains": (4, 20),
        "hot": (0.2, 1.0),
        "cold": (0.002, 0.02),
        "far": (0.1, 0.4),
        "exchange": (0.15, 0.5),
        "cycles": (1, 4),
    },
    "local": {"starts": (16, 256), "kick": (0.9, 1.0), "kicked": (2, 5)},
    "cross-entropy": {
        "population": (100, 400),
        "elites": (0.05, 0.2),
        "memory": (0, 20),
        "rate": (0.15, 0.5),
        "floor": (0.02, 0.1),
        "patience": (10, 40),
    },
    "cma-es": {
        "population": (30, 120),
        "sigma": (0.2, 0.5),
        "growth": (1.0, 2.0),
        "patience": (20, 80),
    },
    "ppo-matched": {
        "discount": (0.0, 0.9),
        "entropy": (0.003, 0.01),
        "hidden": (64, 256),
        "episode_length": (4, 64),
        "reward": ("log", "inverse"),
        "learning_rate": (1.5e-3, 6e-3),
    },
}


def settings(words: list[str], tries: list[str]) -> Iterator[str]:
    """Every setting to compare, as `marl_cases` writes methods."""
    for name in words:
        yield name
        for option, values in GRID[name].items():
            yield from (f"{name}:{option}={value}" for value in values)
    yield from tries


def cases(count: int, cost_models: Sequence[str] = COST_MODELS) -> list[dict[str, str]]:
    """The first of the shuffled cases, so that a few are as mixed as all."""
    every = [
        {"cost_model": model, "accelerator": accelerator, "layer": layer, "objective": objective}
        for model in cost_models
        for accelerator, layers in LAYERS.items()
        for layer in layers
        for objective in marl_cases.OBJECTIVES
    ]
    order = np.random.default_rng(0).permutation(len(every))
    return [every[place] for place in order[:count]]


def table(
    methods: list[str], runs: list[dict[str, Any]], best: dict[tuple[Any, ...], float]
) -> list[dict[str, Any]]:
    """A row a setting: geometric mean over cases, seed by seed."""
    rows = []
    for method in methods:
        mine = [run for run in runs if run["method"] == method]
        worst = max(run["best"] / best[marl_cases.case(run)] for run in mine)
        seeds: dict[int, list[float]] = {}
        for run in mine:
            ratio = min(run["best"] / best[marl_cases.case(run)], 1e3)
            seeds.setdefault(run["seed"], []).append(float(np.log(ratio)))
        means = [float(np.exp(np.mean(logs))) for logs in seeds.values()]
        rows.append(
            {
                "setting": method,
                "seeds": len(seeds),
                "value / best": f"{np.median(means):.4f}",
                "lowest seed": f"{min(means):.4f}",
                "highest seed": f"{max(means):.4f}",
                "worst run": f"{worst:.3f}",
                "cpu_s": f"{np.mean([run['cpu_s'] for run in mine]):.2f}",
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("searchers", nargs="*", metavar="SEARCHER", help=", ".join(GRID))
    parser.add_argument("--try", dest="tries", action="append", default=[], metavar="SETTING")
    parser.add_argument("--cases", type=int, default=36)
    parser.add_argument("--cost-models", nargs="+", default=COST_MODELS, metavar="MODEL")
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("tuning.jsonl"))
    args = parser.parse_args()
    if unknown := [name for name in args.searchers if name not in GRID]:
        parser.error(f"no grid for {', '.join(unknown)}; expected some of {', '.join(GRID)}")
    if not args.searchers and not args.tries:
        parser.error(f"nothing to compare; name some of {', '.join(GRID)}, or give --try")
    methods = list(settings(args.searchers, args.tries))
    lines = args.results.read_text().splitlines() if args.results.exists() else []
    done = {marl_cases.key(run): run for run in map(json.loads, lines)}
    asked = [
        {**case, "method": method, "seed": seed, "budget": args.budget}
        for seed in range(args.seeds)
        for method in methods
        for case in cases(args.cases, args.cost_models)
    ]
    todo = [run for run in asked if marl_cases.key(run) not in done]
    for run in marl_cases.run_missing(todo, 1, args.results):
        done[marl_cases.key(run)] = run
    best: dict[tuple[Any, ...], float] = {}
    for run in done.values():
        case = marl_cases.case(run)
        best[case] = min(best.get(case, np.inf), run["best"])
    runs = [done[marl_cases.key(run)] for run in asked if marl_cases.key(run) in done]
    marl_cases.show(table(methods, runs, best))


if __name__ == "__main__":
    main()
