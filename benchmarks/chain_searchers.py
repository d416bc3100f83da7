"""Every searcher on every chip of the library that is a list of levels: 200 samples of four layers.

Values are over the physical bound of the objective. Fails where a searcher finds no mapping:

    python -m benchmarks chain_searchers --out chain-searchers.csv
    python -m benchmarks chain_searchers --out chain-searchers.csv --summary means.csv
    python -m benchmarks chain_searchers --samples 20000 --seeds 5 --objectives edp latency \
        --chips simba eyeriss-rs --layers LAYER ... --out seeds.csv
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import baselines
from baselines import SearcherError
from benchmarks.frame import Row, Table, grouped, known, refuse, write
from benchmarks.house_hashes import comparable
from cost_models import CHAINS
from maestro_env import Problem
from marl_runs import geometric_mean

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1", "gemm:M=128,N=768,K=768")


def of_any_depth() -> list[str]:
    """Searchers that take such chips, but for those that prove optima or take minutes."""
    names = (name for name in comparable() if name != "auto")
    return [name for name in names if baselines.load(name).capabilities.any_depth]


def summary(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """A row a method: the geometric mean of value over bound, by chip and objective."""
    means: dict[str, dict[str, float]] = {}
    for (method, *column), own in grouped(rows, "method", "chip", "objective").items():
        ratios = [float(row["ratio"]) for row in own]
        means.setdefault(method, {})[" ".join(column)] = geometric_mean(ratios)
    order = sorted(means, key=lambda method: math.prod(means[method].values()))
    return [
        {"method": method} | {column: f"{mean:.3g}" for column, mean in means[method].items()}
        for method in order
    ]


def summed(given: Any) -> None:
    """Write the means of a file."""
    means = summary(known(given.out))
    write(given.summary, means[0], means)


def searched(given: Any, method: str, chip: str, layer: str, objective: str, seed: int) -> Any:
    """The row of one search."""
    problem = Problem(layer, chip, objective)
    start = time.process_time()
    try:
        found = baselines.load(method).search(problem, given.samples, seed)
    except SearcherError as error:
        refuse(str(error))
    assert problem.bound is not None
    spent = time.process_time() - start
    return problem.samples, f"{found.best_value / problem.bound:.4g}", f"{spent:.2f}"


def told(rows: list[Row], _: Any) -> bool:
    """Print how many searches found no mapping; true where one did."""
    failed = sum(not math.isfinite(float(row["ratio"])) for row in rows)
    print(f"{failed} of {len(rows)} searches found no mapping")
    return failed > 0


TABLE = Table(
    __doc__,
    ("method", "chip", "layer", "objective", "seed", "samples", "ratio", "cpu_seconds"),
    lambda given: product(
        given.methods, given.chips, given.layers, given.objectives, range(given.seeds)
    ),
    searched,
    options={
        "methods": of_any_depth(),
        "chips": (list(CHAINS), None, CHAINS),
        "layers": list(LAYERS),
        "objectives": ["edp"],
        "samples": 200,
        "seeds": 1,
        "summary": (Path, "of --out, which is only read"),
    },
    quick={"samples": 20},
    told=told,
    instead={"summary": summed},
)
