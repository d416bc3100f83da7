"""The tables of methods in docs/results.md and README.md, from the runs of marl_cases.py.

    python -m benchmarks methods_table RUNS --cost-model exact --csv docs/data/methods-exact.csv
    python -m benchmarks methods_table RUNS --cost-model maestro --csv docs/data/methods-maestro.csv
    python -m benchmarks methods_table RUNS --cases table3 --objectives edp
        --csv docs/data/methods-table3.csv
    python -m benchmarks methods_table RUNS --cases table3 --layers --csv docs/data/table3-exact.csv

RUNS are results files of ``marl_cases.py`` or folders of them. A case is judged by its optimum
(docs/data/case-optima.csv, of `exact`), else by the best value of any run. Values and arrivals
are medians over seeds; means over cases are geometric. `from` and `to` are the 95 % interval of
`marl / method` over cases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import case_optima
from benchmarks.frame import Row, Summary, grouped
from benchmarks.marl_cases import CASE, CASES, FIRST, OBJECTIVES, interval, key
from marl_runs import best_so_far, first_below, geometric_mean

Run = Row
GAP = ("above the best known [%]", "gap to optimum [%]")
"""What a column is called where optima are not known, and where they are."""
TARGET = 1.05
"""Of the reference: what counts as arrived."""
ROUNDED = 1e-9
"""Values that differ by less are equal to a proof."""


def read(paths: Iterable[Path], cost_model: str, budget: int) -> list[Run]:
    """All runs of a cost model with a budget; of equal ones the first."""
    found: dict[tuple[Any, ...], Run] = {}
    for path in paths:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            for line in file.read_text().splitlines():
                run = json.loads(line)
                if (run["cost_model"], run["budget"]) == (cost_model, budget):
                    found.setdefault(key(run), run)
    return list(found.values())


def of_cases(runs: list[Run], kind: str) -> list[Run]:
    """Those on the cases of `kind`."""
    asked = {(chip, layer) for chip, all_ in CASES[kind].items() for layer in all_}
    objectives = ("latency", "edp") if kind == "table3" else OBJECTIVES
    return [
        run
        for run in runs
        if (run["accelerator"], run["layer"]) in asked and run["objective"] in objectives
    ]


def references(runs: list[Run], cost_model: str) -> dict[tuple[Any, ...], float]:
    """What each case's values are divided by."""
    best = {name: min(run["best"] for run in some) for name, some in grouped(runs, *CASE).items()}
    optima = case_optima.read() if cost_model == "exact" else {}
    for name, value in best.items():
        optimum, bound = optima.get(name[1:], (value, 0.0))
        if value < bound * (1 - ROUNDED):
            raise SystemExit(f"{name}: a run found {value!r}, below the proven bound {bound!r}")
        best[name] = min(optimum, value)
    return best


def case_rows(runs: list[Run], cost_model: str, target: float) -> list[Run]:
    """A row a method and case, medians over seeds.

    `value` is over the reference; `arrival` is inf where most runs never reach the target;
    `anytime` is the mean of log(best so far / reference) over samples on a log axis.
    """
    reference, rows = references(runs, cost_model), []
    for method, some in grouped(runs, "method").items():
        for name, alike in grouped(some, *CASE).items():
            base = reference[name]
            places = np.unique(np.geomspace(FIRST, alike[0]["budget"], 200).astype(int))
            curves = [best_so_far(run["curve"], places) / base for run in alike]
            figures = {
                "value": [min(run["best"] / base, 1e3) for run in alike],
                "arrival": arrivals(alike, target * base),
                "anytime": [np.log(np.minimum(curve, 1e3)).mean() for curve in curves],
            }
            told = dict(zip(CASE, name, strict=True)) | {"case": name, "method": method}
            medians = {what: float(np.median(values)) for what, values in figures.items()}
            rows.append(told | medians | {"cpu_s": [run["cpu_s"] for run in alike]})
    return rows


def arrivals(runs: list[Run], value: float) -> list[float]:
    """Samples until each run is at or below a value; inf where it never is."""
    return [first_below(run["curve"], value) or np.inf for run in runs]


def reached(samples: list[float]) -> float | str:
    """The median of arrivals, if there is one."""
    middle = float(np.median(samples))
    return middle if np.isfinite(middle) else "not reached"


def method_rows(runs: list[Run], cost_model: str, target: float) -> list[Run]:
    """A row a method: the table of README.md and docs/results.md."""
    found = grouped(case_rows(runs, cost_model, target), "method")
    ours = {one["case"]: one["value"] for one in found.get("marl", [])}
    above, optima, rows = GAP[cost_model == "exact"], case_optima.read(), []
    for method, cases in found.items():
        edp = [one["value"] for one in cases if one["objective"] == "edp"]
        ratios = [ours[one["case"]] / one["value"] for one in cases if one["case"] in ours]
        pairs = [optima.get(one["case"][1:], (1, 0)) for one in cases if cost_model == "exact"]
        arrived = [one["arrival"] for one in cases]
        rows.append(
            {
                "method": method,
                "cases": len(cases),
                "proven": sum(value <= bound * (1 + ROUNDED) for value, bound in pairs),
                "seeds": min(len(one["cpu_s"]) for one in cases),
                "EDP, geometric mean": geometric_mean(edp) if edp else "",
                "samples to 5 %": reached(arrived),
                "cases within 5 %": int(np.isfinite(arrived).sum()),
                above: 100 * (geometric_mean([one["value"] for one in cases]) - 1),
                "marl / method": geometric_mean(ratios) if ratios else "",
                **interval(ratios),
                "anytime": float(np.mean([one["anytime"] for one in cases])),
                "CPU s": float(np.mean([s for one in cases for s in one["cpu_s"]])),
            }
        )
    return sorted(rows, key=lambda row: row[above])


def layer_rows(runs: list[Run], cost_model: str, target: float) -> list[Run]:
    """A row an objective and method, a column a layer: Table III, over each layer's reference."""
    layers = [layer for all_ in CASES["table3"].values() for layer in all_]
    found, rows = case_rows(runs, cost_model, target), []
    for (objective, method), cases in grouped(found, "objective", "method").items():
        values = {one["layer"]: one["value"] for one in cases}
        rows.append(
            {
                "objective": objective,
                "method": method,
                "seeds": min(len(one["cpu_s"]) for one in cases),
                **{name: values.get(name, "") for name in layers},
                "geometric mean": geometric_mean([*values.values()])
                if len(values) == len(layers)
                else "",
                "CPU s": float(np.mean([s for one in cases for s in one["cpu_s"]])),
            }
        )
    return sorted(rows, key=lambda row: (row["objective"], row["geometric mean"] or np.inf))


def made(given: Any) -> list[Run]:
    """The rows that the options ask for."""
    runs = of_cases(read(given.runs, given.cost_model, given.budget), given.cases)
    if given.objectives:
        runs = [run for run in runs if run["objective"] in given.objectives.split(",")]
    if not runs:
        raise SystemExit("no such runs in these files")
    return (layer_rows if given.layers else method_rows)(runs, given.cost_model, TARGET)


TABLE = Summary(
    __doc__,
    made,
    options={
        "runs_": [Path],
        "cost_model": "exact",
        "cases": ("compared", None, ("compared", "table3")),
        "layers": (False, "a row an objective and method"),
        "objectives": (str, "with commas; all of the cases where nothing is said"),
        "budget": 20_000,
    },
)
