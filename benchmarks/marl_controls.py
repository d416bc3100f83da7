"""marl beside its controls on the 24 cases of marl_cases.py, under both cost models.

    python -m benchmarks marl_controls --runs RUNS   # keeps docs/data/marl-controls-runs.csv
    python -m benchmarks marl_controls               # makes the two tables from it

RUNS are results files of ``marl_cases.py`` or folders of them. What is kept is a row a run: its
final value, and its samples until 5 % above the case's reference (nothing where it never was). A
reference is the proven optimum (docs/data/case-optima.csv, of `exact`), else the best value of any
of these runs. marl-controls.csv has a row a cost model, objective and method,
marl-controls-pairs.csv one a pair of methods. Values and arrivals are medians over seeds, means
over cases are geometric, and `from` and `to` are the 95 % interval of a ratio by a bootstrap of
cases and of their runs; above 1, the first is worse. `tie`, `better` and `worse` count cases by
their medians; p is Holm's over the pairs of all objectives together, and over those of single ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import marl_cases, methods_table
from benchmarks.frame import DATA, asked, known, show
from marl_runs import first_below, geometric_mean, holm, two_level_ratio

RUNS = DATA / "marl-controls-runs.csv"
TABLES = {"methods": DATA / "marl-controls.csv", "pairs": DATA / "marl-controls-pairs.csv"}
TARGET, BUDGET = 1.05, 20_000
OFF, ON = "marl:pretrained=none", "marl:pretrained=none:policy=true"
ONE = f"{ON}:agents=1"
SCREENED = "ga:screened=true"
METHODS = ("marl", OFF, ON, ONE, "ga", SCREENED, "annealing")
PAIRS = (
    *((ON, OFF), (ONE, ON), (SCREENED, "ga"), (OFF, SCREENED), (OFF, "ga")),
    *(("marl", other) for other in (OFF, ON, ONE, "ga", SCREENED, "annealing")),
)
Run = dict[str, Any]
Medians = dict[str, dict[tuple[Any, ...], float]]


def kept(paths: list[Path]) -> list[Run]:
    """A row a run of these methods, under both cost models."""
    rows = []
    for cost_model in ("exact", "maestro"):
        runs = methods_table.of_cases(methods_table.read(paths, cost_model, BUDGET), "compared")
        reference = methods_table.references(runs, cost_model)
        runs = [run for run in runs if run["method"] in METHODS]
        for run in sorted(runs, key=lambda run: tuple(map(str, marl_cases.key(run)))):
            rows.append(
                {
                    "cost_model": cost_model,
                    **{name: run[name] for name in ("accelerator", "layer", "objective")},
                    "method": run["method"],
                    "seed": run["seed"],
                    "best": repr(run["best"]),
                    "samples to 5 %": first_below(
                        run["curve"], TARGET * reference[marl_cases.case(run)]
                    ),
                    "cpu_s": round(run["cpu_s"], 2),
                }
            )
    return rows


def read() -> list[Run]:
    """The rows of the file that is kept, numbers as numbers."""
    numbers = ("best", "cpu_s", "samples to 5 %")
    return [row | {name: float(row[name] or "inf") for name in numbers} for row in known(RUNS)]


def medians(runs: list[Run], column: str) -> Medians:
    """Median over seeds of a column, a method and case."""
    groups: dict[tuple[str, tuple[Any, ...]], list[float]] = {}
    for run in runs:
        groups.setdefault((run["method"], marl_cases.case(run)), []).append(run[column])
    found: Medians = {}
    for (method, case), values in groups.items():
        found.setdefault(method, {})[case] = float(np.median(values))
    return found


def by_case(runs: list[Run], method: str) -> dict[tuple[Any, ...], np.ndarray]:
    """Final values of a method's runs, a case."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        if run["method"] == method:
            found.setdefault(marl_cases.case(run), []).append(run["best"])
    return {case: np.array(values) for case, values in found.items()}


def ratio(runs: list[Run], first: str, second: str) -> dict[str, float]:
    """How the first method's values stand to the second's, and on how many cases which is lower."""
    mine, other = by_case(runs, first), by_case(runs, second)
    both = [case for case in mine if case in other]
    found = two_level_ratio([mine[case] for case in both], [other[case] for case in both])
    logs = np.log([np.median(mine[case]) / np.median(other[case]) for case in both])
    told = {"ratio": found.value, "from": found.low, "to": found.high, "p": found.p}
    alike = np.abs(logs) < methods_table.ROUNDED
    counts = {"tie": alike, "better": (logs < 0) & ~alike, "worse": (logs > 0) & ~alike}
    return {**told, **{name: int(some.sum()) for name, some in counts.items()}}


def groups(runs: list[Run]) -> list[tuple[dict[str, str], list[Run]]]:
    """The runs of each cost model and objective, and of all objectives together."""
    found = []
    for cost_model in ("exact", "maestro"):
        mine = [run for run in runs if run["cost_model"] == cost_model]
        for objective in ("all", *marl_cases.OBJECTIVES):
            alike = [run for run in mine if objective in ("all", run["objective"])]
            found.append(({"cost model": cost_model, "objective": objective}, alike))
    return found


def method_rows(runs: list[Run]) -> list[dict[str, Any]]:
    """A row a cost model, objective and method."""
    rows = []
    for told, alike in groups(runs):
        cost_model = told["cost model"]
        reference = methods_table.references(alike, cost_model)
        values, arrivals = medians(alike, "best"), medians(alike, "samples to 5 %")
        for method in METHODS:
            arrived = list(arrivals[method].values())
            middle = float(np.median(arrived))
            over = ratio(alike, method, OFF)
            rows.append(
                {
                    **told,
                    "method": method,
                    "cases": len(arrived),
                    "seeds": marl_cases.seeds_of(alike, method),
                    "value / best": geometric_mean(
                        [value / reference[case] for case, value in values[method].items()]
                    ),
                    "over policy off": over["ratio"],
                    "from": over["from"],
                    "to": over["to"],
                    "within 5 %": int(np.isfinite(arrived).sum()),
                    "samples to 5 %": middle if np.isfinite(middle) else "not reached",
                    "CPU s": float(np.mean([r["cpu_s"] for r in alike if r["method"] == method])),
                }
            )
    return rows


def pair_rows(runs: list[Run]) -> list[dict[str, Any]]:
    """A row a cost model, objective and pair of methods."""
    rows = [
        {**told, "first": first, "second": second, **ratio(alike, first, second)}
        for told, alike in groups(runs)
        for first, second in PAIRS
    ]
    for together in (True, False):
        some = [row for row in rows if (row["objective"] == "all") == together]
        for row, p in zip(some, holm([row.pop("p") for row in some]), strict=True):
            row["p (Holm)"] = p
            better = "better" if row["ratio"] < 1 else "worse"
            row["verdict"] = better if p < 0.05 else "within error"
    return rows


def make() -> None:
    """Write both tables from the runs that are kept, and print them."""
    runs = read()
    for name, rows in (("methods", method_rows(runs)), ("pairs", pair_rows(runs))):
        methods_table.write(rows, TABLES[name])
        show(rows)
        print()


def main() -> None:
    given = asked(__doc__, runs=([Path], "keep these runs first"))
    if given.runs:
        methods_table.write(kept(given.runs), RUNS)
    make()
