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

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import DATA, Summary, grouped, known, rounded, show, write
from benchmarks.marl_cases import CASE, OBJECTIVES, case, key
from benchmarks.methods_table import ROUNDED, Run, of_cases, reached, read, references
from marl_runs import first_below, geometric_mean, holm, two_level_ratio

RUNS = DATA / "marl-controls-runs.csv"
TARGET, BUDGET = 1.05, 20_000
OFF, ON = "marl:pretrained=none", "marl:pretrained=none:policy=true"
ONE = f"{ON}:agents=1"
SCREENED = "ga:screened=true"
METHODS = ("marl", OFF, ON, ONE, "ga", SCREENED, "annealing")
PAIRS = (
    *((ON, OFF), (ONE, ON), (SCREENED, "ga"), (OFF, SCREENED), (OFF, "ga")),
    *(("marl", other) for other in (OFF, ON, ONE, "ga", SCREENED, "annealing")),
)


def kept(paths: list[Path]) -> Iterator[Run]:
    """A row a run of these methods, under both cost models."""
    for cost_model in ("exact", "maestro"):
        runs = of_cases(read(paths, cost_model, BUDGET), "compared")
        reference = references(runs, cost_model)
        for run in sorted(runs, key=lambda run: tuple(map(str, key(run)))):
            if run["method"] in METHODS:
                near = first_below(run["curve"], TARGET * reference[case(run)])
                told = {name: run[name] for name in (*CASE, "method", "seed")}
                told |= {"best": repr(run["best"]), "samples to 5 %": near}
                yield told | {"cpu_s": round(run["cpu_s"], 2)}


def by_case(runs: list[Run], method: str, column: str = "best") -> dict[Any, np.ndarray]:
    """A column of a method's runs, a case."""
    own = grouped((run for run in runs if run["method"] == method), *CASE)
    return {name: np.array([run[column] for run in some]) for name, some in own.items()}


def ratio(runs: list[Run], first: str, second: str) -> Run:
    """How the first method's values stand to the second's, and on how many cases which is lower."""
    mine, other = by_case(runs, first), by_case(runs, second)
    both = [name for name in mine if name in other]
    found = two_level_ratio([mine[name] for name in both], [other[name] for name in both])
    logs = np.log([np.median(mine[name]) / np.median(other[name]) for name in both])
    told: Run = {"ratio": found.value, "from": found.low, "to": found.high, "p": found.p}
    alike = np.abs(logs) < ROUNDED
    counts = {"tie": alike, "better": (logs < 0) & ~alike, "worse": (logs > 0) & ~alike}
    return {**told, **{name: int(some.sum()) for name, some in counts.items()}}


def groups(runs: list[Run]) -> list[tuple[dict[str, str], list[Run]]]:
    """The runs of each cost model and objective, and of all objectives together."""
    return [
        (
            {"cost model": cost_model, "objective": objective},
            [run for run in mine if objective in ("all", run["objective"])],
        )
        for cost_model, mine in grouped(runs, "cost_model").items()
        for objective in ("all", *OBJECTIVES)
    ]


def method_rows(runs: list[Run]) -> Iterator[Run]:
    """A row a cost model, objective and method."""
    for told, alike in groups(runs):
        reference = references(alike, told["cost model"])
        for method in METHODS:
            values = by_case(alike, method)
            near = by_case(alike, method, "samples to 5 %").values()
            arrived = [float(np.median(some)) for some in near]
            seeds, over = [*map(len, near)], ratio(alike, method, OFF)
            yield {
                **told,
                "method": method,
                "cases": len(arrived),
                "seeds": "-".join(map(str, sorted({min(seeds), max(seeds)}))),
                "value / best": geometric_mean(
                    [float(np.median(some)) / reference[name] for name, some in values.items()]
                ),
                "over policy off": over["ratio"],
                "from": over["from"],
                "to": over["to"],
                "within 5 %": int(np.isfinite(arrived).sum()),
                "samples to 5 %": reached(arrived),
                "CPU s": float(np.mean([r["cpu_s"] for r in alike if r["method"] == method])),
            }


def pair_rows(runs: list[Run]) -> list[Run]:
    """A row a cost model, objective and pair of methods."""
    rows: list[Run] = [
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


def made(given: Any) -> Iterator[Run]:
    """A row a method, of the runs that are kept; ``--runs`` are kept first."""
    if given.runs:
        rows = list(kept(given.runs))
        write(RUNS, rows[0], rows)
    numbers = ("best", "cpu_s", "samples to 5 %")
    given.kept = [row | {n: float(row[n] or "inf") for n in numbers} for row in known(RUNS)]
    return method_rows(given.kept)


def told(rows: Any, given: Any) -> None:
    """Print the table, and that of pairs, which is written beside it."""
    pairs = pair_rows(given.kept)
    if given.out is not None:
        path = given.out.with_stem(f"{given.out.stem}-pairs")
        write(path, pairs[0], map(rounded, pairs))
    show(rows)
    print()
    show(pairs)


TABLE = Summary(
    __doc__, made, "marl-controls.csv", {"runs": ([Path], "keep these runs first")}, told=told
)
