"""Run marl and every other searcher on 24 cases, of which `methods_table` makes tables.

    python -m benchmarks marl_cases --methods marl,ga,gamma --seeds 3 --results cases.jsonl

Four layers on `archgym`, four on `edge`, three objectives each (`--cases table3`: the eight of the
paper's Table III, on `edge`; `two`: two on `archgym`, for methods that take minutes).
``mapper compare`` runs them, and keeps them in a store beside the results file, so that the same
command goes on; the file has a line a finished run, of earlier commands too. A method may carry
options of its config: `marl:policy=false` is marl without its policies.
"""

from __future__ import annotations

import json
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import Row, asked
from marl_common import write_text
from marl_runs import mean_interval

Run = Row
CASES: dict[str, dict[str, tuple[str, ...]]] = {
    "compared": {
        "archgym": ("mobilenetv2.2", "resnet18.1", "vgg16.1", "alexnet.2"),
        "edge": ("mobilenetv2.7", "resnet18.10", "vgg16.8", "alexnet.4"),
    },
    "two": {"archgym": ("mobilenetv2.2", "vgg16.1")},
    "table3": {
        "edge": (
            *("mobilenetv2.2", "mobilenetv2.7", "mobilenetv2.32", "mobilenetv2.46"),
            *("vgg16.1", "vgg16.4", "vgg16.8", "vgg16.11"),
        )
    },
}
OBJECTIVES = ("latency", "edp", "energy")
METHODS = (
    "marl,ga,gamma,random,random-walk,annealing,local,cross-entropy,cma-es,tpe,bo,ppo-matched,ppo"
)
FIRST = 100
"""The anytime area begins here: before it, every method draws its first population."""


CASE = ("cost_model", "accelerator", "layer", "objective")
"""What the problem of a run is."""
case, key = itemgetter(*CASE), itemgetter(*CASE, "method", "seed", "budget")
"""The problem of a run, and what makes two runs the same."""


def compared(given: Any, accelerator: str, layers: tuple[str, ...]) -> list[Run]:
    """What ``mapper compare`` finds on layers on an accelerator; ends where it does not end well.

    Raises:
        SystemExit: An option is wrong, or the command was interrupted.
    """
    words = [sys.executable, "-m", "mapper", "compare", "-l", ",".join(layers), "-a", accelerator]
    for name in ("objectives", "methods", "cost_model", "budget", "seeds", "workers"):
        words += ["--" + name.replace("_", "-"), str(getattr(given, name))]
    words += ["--store", str(given.results.with_suffix(".db")), "--format", "json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):  # 1: some runs failed, as was said
        raise SystemExit(done.returncode)
    found: list[Run] = json.loads(done.stdout)
    return [run | {"best": np.inf if run["best"] is None else run["best"]} for run in found]


def interval(ratios: list[float]) -> dict[str, float]:
    """The 95 % interval of a geometric mean over cases (Student's t); all of fewer than two."""
    if len(ratios) < 2:
        return {"from": 0.0, "to": np.inf}
    mean, half = mean_interval(np.log(ratios))
    return {"from": float(np.exp(mean - half)), "to": float(np.exp(mean + half))}


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
        workers=(1, "processes"),
    )
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    runs = {key(run): run for run in map(json.loads, lines)}
    for accelerator, layers in CASES[given.cases].items():
        runs |= {key(run): run for run in compared(given, accelerator, layers)}
    write_text(given.results, "".join(json.dumps(run) + "\n" for run in runs.values()))
