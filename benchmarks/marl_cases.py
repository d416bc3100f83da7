"""Run marl and every other searcher on 24 cases, of which `methods_table` makes tables.

    python -m benchmarks marl_cases --methods marl,ga,gamma --seeds 3 --results cases.jsonl

Four layers on `archgym`, four on `edge`, three objectives each (`--cases table3`: the eight of the
paper's Table III, on `edge`; `two`: two on `archgym`, for methods that take minutes).
Every finished run is a line of the results file, which this process alone writes; the same command
continues, and `--no-run` only says which runs are missing. A method may carry options of its
config: `marl:policy=false` is marl without its policies, and `marl:warm_start=neighbour` begins
with what 5,000 samples on the network's nearest layer taught.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy import stats

import baselines
from benchmarks import neighbours
from benchmarks.frame import asked, refuse
from benchmarks.pool import worked
from maestro_env import Problem

Run = dict[str, Any]
CASES = {
    "compared": {
        "archgym": ("mobilenetv2.2", "resnet18.1", "vgg16.1", "alexnet.2"),
        "edge": ("mobilenetv2.7", "resnet18.10", "vgg16.8", "alexnet.4"),
    },
    "other": {
        "archgym": ("mobilenetv2.5", "resnet18.6", "vgg16.4", "resnet50.10"),
        "edge": ("mobilenetv2.12", "resnet18.3", "vgg16.5", "resnet50.20"),
    },
    "hard": {
        "archgym": ("vgg16.4", "resnet50.10"),
        "edge": ("vgg16.5", "resnet50.20", "resnet18.3", "bert_base.1"),
    },
    "two": {"archgym": ("mobilenetv2.2", "vgg16.1")},
    "table3": {
        "edge": (
            *("mobilenetv2.2", "mobilenetv2.7", "mobilenetv2.32", "mobilenetv2.46"),
            *("vgg16.1", "vgg16.4", "vgg16.8", "vgg16.11"),
        ),
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


def wanted(arguments: argparse.Namespace) -> Iterator[Run]:
    """Every run that the arguments ask for, seed by seed, so that a table fills evenly."""
    for seed in range(arguments.seeds):
        for method in arguments.methods.split(","):
            for accelerator, layers in CASES[arguments.cases].items():
                for layer in layers:
                    for objective in arguments.objectives.split(","):
                        yield {
                            "cost_model": arguments.cost_model,
                            "accelerator": accelerator,
                            "layer": layer,
                            "objective": objective,
                            "method": method,
                            "seed": seed,
                            "budget": arguments.budget,
                        }


def key(run: Run) -> tuple[Any, ...]:
    """What makes two runs the same."""
    names = ("cost_model", "accelerator", "layer", "objective", "method", "seed", "budget")
    return tuple(run[name] for name in names)


def case(run: Run) -> tuple[Any, ...]:
    """The problem of a run."""
    return run["cost_model"], run["accelerator"], run["layer"], run["objective"]


_warm: set[tuple[str, str]] = set()
"""Pairs of method and cost model that this process has imported already."""


def warm_up(run: Run) -> None:
    """Import what a search needs, once a process: its time is not counted."""
    name, options = parse_method(run["method"])
    if (name, run["cost_model"]) in _warm:
        return
    options.pop("warm_start", None)
    with contextlib.suppress(Exception):  # a fault shows up in the run itself
        searcher = baselines.load(name, **options)
        samples = 300 if searcher.capabilities.max_samples is None else 8
        problem = Problem(run["layer"], run["accelerator"], run["objective"], run["cost_model"])
        searcher.search(problem, min(samples, run["budget"]), run["seed"])
    _warm.add((name, run["cost_model"]))


def search(run: Run) -> Run:
    """Run one search and keep its curve."""
    warm_up(run)
    problem = Problem(run["layer"], run["accelerator"], run["objective"], run["cost_model"])
    name, options = parse_method(run["method"])
    if options.get("warm_start") == "neighbour":
        options["warm_start"] = neighbours.policies(run)
    begin = time.process_time()
    result = baselines.load(name, **options).search(problem, run["budget"], run["seed"])
    return {
        **run,
        "samples": result.samples,
        "best": result.best_value,
        "cpu_s": time.process_time() - begin,
        "curve": [list(step) for step in result.improvements],
    }


def run_missing(todo: list[Run], workers: int, results: Path) -> Iterator[Run]:
    """Search what is missing, a line of the results file each; one that fails stops no other."""
    kept = 0
    try:
        with results.open("a") as stream:
            for run, found in worked(search, todo, workers):
                if isinstance(found, Exception):
                    print(f"failed: {label(run)}: {found}", file=sys.stderr)
                    continue
                stream.write(json.dumps(found) + "\n")
                stream.flush()
                kept += 1
                yield found
    except KeyboardInterrupt:
        print(f"interrupted: {kept} new runs kept; the same command continues", file=sys.stderr)
        sys.exit(130)


def label(run: Run) -> str:
    """A run in words."""
    return f"{run['method']} on {', '.join(case(run)[::-1])}, seed {run['seed']}"


def curve(run: Run, places: np.ndarray) -> np.ndarray:
    """Best value so far after each number of samples; inf before the first."""
    if not run["curve"]:
        return np.full(len(places), np.inf)
    n, value = np.array(run["curve"]).T
    rows = np.searchsorted(n, places, side="right") - 1
    return np.where(rows >= 0, value[np.maximum(rows, 0)], np.inf)


def interval(logs: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean over cases (Student's t); nothing is said of fewer than two."""
    if len(logs) < 2:
        return -np.inf, np.inf
    half = stats.t.ppf(0.975, len(logs) - 1) * np.std(logs, ddof=1) / np.sqrt(len(logs))
    return float(np.mean(logs) - half), float(np.mean(logs) + half)


def seeds_of(runs: list[Run], method: str) -> str:
    """Seeds a case of a method, such as `3`, or `1-3` where some cases have fewer."""
    counts: dict[tuple[Any, ...], int] = {}
    for run in runs:
        if run["method"] == method:
            counts[case(run)] = counts.get(case(run), 0) + 1
    low, high = min(counts.values()), max(counts.values())
    return str(low) if low == high else f"{low}-{high}"


def missing_lines(missing: list[Run], cases: int) -> Iterator[str]:
    """A line a method and seed that lacks runs: which, by name where they are few."""
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in missing:
        groups.setdefault((run["method"], run["seed"]), []).append(run)
    for (method, seed), runs in groups.items():
        names = "; ".join(", ".join(case(run)[1:]) for run in runs)
        which = "all" if len(runs) == cases else names
        yield f"missing: {method}, seed {seed}: {len(runs)} of {cases} cases ({which})"


def main() -> None:
    given = asked(
        __doc__,
        methods=METHODS,
        cases=("compared", None, sorted(CASES)),
        objectives=",".join(OBJECTIVES),
        cost_model="exact",
        budget=20_000,
        seeds=5,
        results=Path("marl_cases.jsonl"),
        workers=(1, "processes of one thread each"),
        no_run=(False, "only say which runs the results file lacks"),
    )
    if given.workers < 1:
        refuse(f"argument --workers: {given.workers}; expected 1 or more")
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    done = {key(run) for run in map(json.loads, lines)}
    runs = list(wanted(given))
    if not given.no_run:
        todo = [run for run in runs if key(run) not in done]
        done.update(map(key, run_missing(todo, given.workers, given.results)))
    missing = [run for run in runs if key(run) not in done]
    print(*missing_lines(missing, len({case(run) for run in runs})), sep="\n", file=sys.stderr)
