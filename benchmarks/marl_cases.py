"""Compare marl with every other searcher on 24 cases: values, samples to a target, anytime curves.

    python benchmarks/marl_cases.py --methods marl,ga,gamma --seeds 3 --results cases.jsonl

Four layers on `archgym`, four on `edge`, three objectives each (`--cases table3`: the eight of
`benchmarks/table3.py`, all on `edge`; `two`: two on `archgym`, for methods that take minutes).
Every finished run is a line of the results file, which this process alone writes; the same command
continues, and `--no-run` only prints the table and which runs are missing. `from` and `to` are the
95 % interval of `first / method` over cases. `--workers N` searches in N processes of one thread
each. A method may carry options of its config: `marl:policy=false` is marl without its policies;
`marl:warm_start=neighbour` begins with what 5,000 samples on the network's nearest layer taught.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import neighbours
import numpy as np
import yaml
from scipy import stats

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


def wanted(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
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


def key(run: dict[str, Any]) -> tuple[Any, ...]:
    """What makes two runs the same."""
    names = ("cost_model", "accelerator", "layer", "objective", "method", "seed", "budget")
    return tuple(run[name] for name in names)


def case(run: dict[str, Any]) -> tuple[Any, ...]:
    """The problem of a run."""
    return run["cost_model"], run["accelerator"], run["layer"], run["objective"]


_warm: set[tuple[str, str]] = set()
"""Pairs of method and cost model that this process has imported already."""


def warm_up(run: dict[str, Any]) -> None:
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


def search(run: dict[str, Any]) -> dict[str, Any]:
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


def search_all(
    todo: list[dict[str, Any]], workers: int
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | Exception]]:
    """Each run with its result or the error that ended it, in the order in which they finish."""
    if workers == 1:
        for run in todo:
            try:
                yield run, search(run)
            except Exception as error:
                yield run, error
        return
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # read by the processes when they start
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_DFL)
    )
    try:
        futures = {pool.submit(search, run): run for run in todo}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                raise
            except Exception as error:
                yield futures[future], error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run_missing(
    todo: list[dict[str, Any]], workers: int, results: Path
) -> Iterator[dict[str, Any]]:
    """Search what is missing, a line of the results file each; one that fails stops no other."""
    kept = 0
    try:
        with results.open("a") as stream:
            for run, found in search_all(todo, workers):
                if isinstance(found, Exception):
                    print(f"failed: {label(run)}: {found}", file=sys.stderr)
                    continue
                stream.write(json.dumps(found) + "\n")
                stream.flush()
                kept += 1
                yield found
    except (KeyboardInterrupt, BrokenProcessPool) as error:
        why = "a process was killed" if isinstance(error, BrokenProcessPool) else "interrupted"
        print(f"{why}: {kept} new runs kept; the same command continues", file=sys.stderr)
        sys.exit(1 if isinstance(error, BrokenProcessPool) else 130)


def label(run: dict[str, Any]) -> str:
    """A run in words."""
    return f"{run['method']} on {', '.join(case(run)[::-1])}, seed {run['seed']}"


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
        low, high = interval(np.log(ratio))
        reached = [n for n in both if np.isfinite(cases[n][1]) and np.isfinite(first[n][1])]
        faster = [first[name][1] / cases[name][1] for name in reached]
        cpu = [run["cpu_s"] for run in runs if run["method"] == method]
        rows.append(
            {
                "method": method,
                "cases": len(cases),
                "seeds": seeds_of(runs, method),
                "value / best": float(np.exp(np.mean([np.log(c[0]) for c in cases.values()]))),
                "first / method": float(np.exp(np.mean(np.log(ratio)))) if ratio else None,
                "from": float(np.exp(low)),
                "to": float(np.exp(high)),
                "reached": int(sum(np.isfinite(c[1]) for c in cases.values())),
                "median samples": float(np.median([c[1] for c in cases.values()])),
                "samples first / method": float(np.median(faster)) if faster else None,
                "anytime": float(np.mean([c[2] for c in cases.values()])),
                "cpu_s": float(np.mean(cpu)),
            }
        )
    return rows


def interval(logs: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean over cases (Student's t); nothing is said of fewer than two."""
    if len(logs) < 2:
        return -np.inf, np.inf
    half = stats.t.ppf(0.975, len(logs) - 1) * np.std(logs, ddof=1) / np.sqrt(len(logs))
    return float(np.mean(logs) - half), float(np.mean(logs) + half)


def seeds_of(runs: list[dict[str, Any]], method: str) -> str:
    """Seeds a case of a method, such as `3`, or `1-3` where some cases have fewer."""
    counts: dict[tuple[Any, ...], int] = {}
    for run in runs:
        if run["method"] == method:
            counts[case(run)] = counts.get(case(run), 0) + 1
    low, high = min(counts.values()), max(counts.values())
    return str(low) if low == high else f"{low}-{high}"


def missing_lines(missing: list[dict[str, Any]], cases: int) -> Iterator[str]:
    """A line a method and seed that lacks runs: which, by name where they are few."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for run in missing:
        groups.setdefault((run["method"], run["seed"]), []).append(run)
    for (method, seed), runs in groups.items():
        names = "; ".join(", ".join(case(run)[1:]) for run in runs)
        which = "all" if len(runs) == cases else names
        yield f"missing: {method}, seed {seed}: {len(runs)} of {cases} cases ({which})"


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
        print("| " + " | ".join(cells) + " |")


def keep(rows: list[dict[str, Any]], path: Path, arguments: argparse.Namespace) -> None:
    """Write the table to a CSV file, each row with what it was measured on."""
    told = {"cost_model": arguments.cost_model, "samples": arguments.budget}
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*told, *rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows([{**told, **row} for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--cases", choices=sorted(CASES), default="compared")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--cost-model", default="exact")
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--target", type=float, default=1.05)
    parser.add_argument("--results", type=Path, default=Path("marl_cases.jsonl"))
    parser.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    parser.add_argument("--no-run", action="store_true", help="only what the results file holds")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("--csv", type=Path, help="write the table there too")
    arguments = parser.parse_args()
    if arguments.workers < 1:
        parser.error(f"argument --workers: {arguments.workers}; expected 1 or more")
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    done = {key(run): run for run in map(json.loads, lines)}
    asked = list(wanted(arguments))
    todo = [run for run in asked if key(run) not in done]
    if not arguments.no_run:
        found = run_missing(todo, arguments.workers, arguments.results)
        done.update((key(run), run) for run in found)
    runs = [done[key(run)] for run in asked if key(run) in done]
    rows = table(runs, arguments.budget, arguments.target) if runs else []
    if arguments.csv and rows:
        keep(rows, arguments.csv, arguments)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        show(rows)
    missing = [run for run in asked if key(run) not in done]
    cases = len({case(run) for run in asked})
    print(*missing_lines(missing, cases), sep="\n", end="\n" if missing else "", file=sys.stderr)


if __name__ == "__main__":
    main()
