"""Searches of cost models that are dear: the best of few samples, and the search's own time.

    python -m benchmarks dear_models          # runs that the file lacks, then the table

Models: `maestro`; `exact:halo_time=none`, whose figures are those of the simulator with that option
(see `exact_simulated`); and the fake model of the tests, as one of a third party, whose figures are
not like those of `exact`. The reference of a case is the best of all its runs and of
20,000 samples of `ga` and of `annealing`. docs/data/dear-models.csv has a row a run: best value
and the search's processor time [s], all calls of the model included, at each number of samples.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import baselines
from benchmarks.frame import Row, Table, show
from maestro_env import Evaluation, Problem
from marl_common import IntArray
from tests.fake_model import FakeModel

METHODS = ("proxy", "ga", "marl", "cma-es", "tpe", "bo")
SAMPLES = (5, 20, 100, 500)
SEEDS, REFERENCE = 5, 20_000
OF_RUN = ("model", "layer", "objective", "method", "seed")
LIMITS = [f"{what} at {n}" for n in SAMPLES for what in ("value", "cpu_s")]
NEAR = 1.05
SLOW, SOME = ("bo", "tpe"), (100, 20)
"""Methods that take long by themselves, and samples of the first seed and of later ones; the first
case's first seed has `SAMPLES[-1]`, but for slow methods."""


class Case(NamedTuple):
    """One case."""

    model: str
    layer: str
    objective: str

    def problem(self) -> Problem:
        """The problem on `edge`."""
        model: Any = FakeModel() if self.model == "fake" else self.model
        return Problem(self.layer, "edge", self.objective, model)


SMALL = ("conv:K=16,C=8,Y=12,X=12,R=3,S=3", "gemm:M=32,N=64,K=64")
"""Layers that the simulator can walk."""
CASES = (
    *(Case("maestro", layer, "edp") for layer in ("mobilenetv2.2", "resnet18.2", "vgg16.8")),
    *(Case("maestro", "resnet18.10", objective) for objective in ("latency", "energy")),
    *(Case("exact:halo_time=none", layer, o) for layer in SMALL for o in ("edp", "latency")),
    *(Case("fake", layer, "edp") for layer in ("mobilenetv2.2", "resnet18.2")),
)


def measured(case: Case, method: str, seed: int) -> dict[str, str]:
    """A run: best value and processor time at each of `SAMPLES`."""
    problem, found = case.problem(), dict[str, str]()
    long = not seed and case == CASES[0] and method not in SLOW
    most = SAMPLES[-1] if long else SOME[seed > 0]
    values, spent = list[float](), list[float]()

    def after(actions: IntArray, evaluation: Evaluation) -> None:
        values.extend(evaluation.values)
        spent.extend([time.process_time() - began] * len(evaluation.values))

    problem.on_evaluate = after
    began = time.process_time()
    with contextlib.suppress(baselines.SearcherError):
        baselines.load(method).search(problem, most, seed)
    for n in SAMPLES:
        if n <= most and values:
            best, at = min(values[:n]), spent[:n][-1]
            found |= {f"value at {n}": repr(float(best)), f"cpu_s at {n}": f"{at:.3f}"}
    return found


def keys(_: Any) -> Iterator[tuple[str, str, str, str, int]]:
    """The references, then all runs, short ones first."""
    yield from ((*case, "reference", 0) for case in CASES)
    for method, seed, case in itertools.product(METHODS, (*range(1, SEEDS), 0), CASES):
        yield *case, method, seed


def run(_: Any, model: str, layer: str, objective: str, method: str, seed: int) -> Row:
    """A run, or the reference of a case."""
    case = Case(model, layer, objective)
    if method != "reference":
        return measured(case, method, seed)
    searches = (baselines.load(name) for name in ("ga", "annealing"))
    best = min(one.search(case.problem(), REFERENCE, 0).best_value for one in searches)
    return {f"value at {SAMPLES[-1]}": repr(float(best))}


def case_of(row: Row) -> Case:
    """The case of a run."""
    return Case(row["model"], row["layer"], row["objective"])


def references(rows: list[Row]) -> dict[Case, float]:
    """The best value of each case."""
    found: dict[Case, float] = {}
    for row in rows:
        case = case_of(row)
        values = [float(row[f"value at {n}"]) for n in SAMPLES if row.get(f"value at {n}")]
        found[case] = min([found.get(case, np.inf), *values])
    return found


def told(rows: list[Row], _: Any) -> None:
    """Print a row a model and method: runs within 5 %, mean ratio, own processor time."""
    best, table = references(rows), []
    models = [*dict.fromkeys(case.model for case in CASES), "all"]
    for model, method in itertools.product(models, METHODS):
        mine = [r for r in rows if r["method"] == method and model in (r["model"], "all")]
        if not mine:
            continue
        one: Row = {"model": model, "method": method}
        for n in SAMPLES:
            column = f"value at {n}"
            ratios = np.array([float(r[column]) / best[case_of(r)] for r in mine if r.get(column)])
            mean = np.exp(np.log(np.minimum(ratios, 1e3)).mean()) if len(ratios) else np.nan
            near = f"{np.mean(ratios <= NEAR):.0%}, {mean:.3f}" if len(ratios) else ""
            one[f"{n} samples"] = near
        for n, name in ((20, "CPU s at 20"), (SOME[0], "at 100")):
            times = [float(r[f"cpu_s at {n}"]) for r in mine if r.get(f"cpu_s at {n}")]
            one[name] = f"{np.median(times or [0.0]):.2f}"
        table.append(one)
    show(table)


TABLE = Table(__doc__, (*OF_RUN, *LIMITS), keys, run, "dear-models.csv", told=told)
