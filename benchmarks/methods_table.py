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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import case_optima, frame, marl_cases
from benchmarks.frame import asked, known, rounded, show
from marl_runs import best_so_far, first_below, geometric_mean

Run = dict[str, Any]
GAP = ("above the best known [%]", "gap to optimum [%]")
"""What a column is called where optima are not known, and where they are."""
ROUNDED = 1e-9
"""Values that differ by less are equal to a proof."""


@dataclass(frozen=True)
class CaseFigures:
    """One method on one case.

    Args:
        value: Median of the final values over the reference.
        arrival: Median samples to the target; inf where most runs never reached it.
        anytime: Mean of log(best so far / reference) over samples on a log axis.
        seeds: How many runs.
    """

    value: float
    arrival: float
    anytime: float
    seeds: int


def read(paths: Iterable[Path], cost_model: str, budget: int) -> list[Run]:
    """All runs of a cost model with a budget; of equal ones the first."""
    found: dict[tuple[Any, ...], Run] = {}
    for path in paths:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            for line in file.read_text().splitlines():
                run = json.loads(line)
                if (run["cost_model"], run["budget"]) == (cost_model, budget):
                    found.setdefault(marl_cases.key(run), run)
    return list(found.values())


def of_cases(runs: list[Run], kind: str) -> list[Run]:
    """Those on the cases of `kind`."""
    asked = {(chip, layer) for chip, all_ in marl_cases.CASES[kind].items() for layer in all_}
    objectives = ("latency", "edp") if kind == "table3" else marl_cases.OBJECTIVES
    return [
        run
        for run in runs
        if (run["accelerator"], run["layer"]) in asked and run["objective"] in objectives
    ]


def references(runs: list[Run], cost_model: str) -> dict[tuple[Any, ...], float]:
    """What each case's values are divided by."""
    best: dict[tuple[Any, ...], float] = {}
    for run in runs:
        best[marl_cases.case(run)] = min(best.get(marl_cases.case(run), np.inf), run["best"])
    if cost_model != "exact":
        return best
    optima = case_optima.read()
    for name, value in best.items():
        if name[1:] not in optima:
            continue
        optimum, bound = optima[name[1:]]
        if value < bound * (1 - ROUNDED):
            raise SystemExit(f"{name}: a run found {value!r}, below the proven bound {bound!r}")
        best[name] = min(optimum, value)
    return best


def proven(names: Iterable[tuple[Any, ...]]) -> int:
    """How many cases have a proven optimum."""
    optima = case_optima.read()
    pairs = [optima.get(name[1:]) for name in names]
    return sum(pair is not None and pair[0] <= pair[1] * (1 + ROUNDED) for pair in pairs)


def figures_of(
    runs: list[Run], reference: dict[tuple[Any, ...], float], target: float
) -> dict[str, dict[tuple[Any, ...], CaseFigures]]:
    """Each method on each case it was run on."""
    groups: dict[tuple[str, tuple[Any, ...]], list[Run]] = {}
    for run in runs:
        groups.setdefault((run["method"], marl_cases.case(run)), []).append(run)
    found: dict[str, dict[tuple[Any, ...], CaseFigures]] = {}
    for (method, name), alike in groups.items():
        base, budget = reference[name], alike[0]["budget"]
        places = np.unique(np.geomspace(marl_cases.FIRST, budget, 200).astype(int))
        arrivals = [first_below(run["curve"], target * base) or np.inf for run in alike]
        logs = [
            np.log(np.minimum(best_so_far(run["curve"], places), 1e3 * base) / base).mean()
            for run in alike
        ]
        found.setdefault(method, {})[name] = CaseFigures(
            float(np.median([min(run["best"] / base, 1e3) for run in alike])),
            float(np.median(arrivals)),
            float(np.median(logs)),
            len(alike),
        )
    return found


def method_rows(runs: list[Run], cost_model: str, target: float) -> list[dict[str, Any]]:
    """A row a method: the table of README.md and docs/results.md."""
    reference = references(runs, cost_model)
    found = figures_of(runs, reference, target)
    ours = found.get("marl", {})
    above = GAP[cost_model == "exact"]
    rows = []
    for method, cases in found.items():
        edp = [one.value for name, one in cases.items() if name[3] == "edp"]
        both = [name for name in cases if name in ours]
        ratios = [ours[name].value / cases[name].value for name in both]
        low, high = marl_cases.interval(np.log(ratios))
        arrival = float(np.median([one.arrival for one in cases.values()]))
        cpu = [run["cpu_s"] for run in runs if run["method"] == method]
        rows.append(
            {
                "method": method,
                "cases": len(cases),
                "proven": proven(cases) if cost_model == "exact" else 0,
                "seeds": min(one.seeds for one in cases.values()),
                "EDP, geometric mean": geometric_mean(edp) if edp else "",
                "samples to 5 %": arrival if np.isfinite(arrival) else "not reached",
                "cases within 5 %": sum(np.isfinite(one.arrival) for one in cases.values()),
                above: 100 * (geometric_mean([one.value for one in cases.values()]) - 1),
                "marl / method": geometric_mean(ratios) if ratios else "",
                "from": float(np.exp(low)),
                "to": float(np.exp(high)),
                "anytime": float(np.mean([one.anytime for one in cases.values()])),
                "CPU s": float(np.mean(cpu)),
            }
        )
    return sorted(rows, key=lambda row: row[above])


def layer_rows(runs: list[Run], cost_model: str, target: float) -> list[dict[str, Any]]:
    """A row an objective and method, a column a layer: Table III, over each layer's reference."""
    reference = references(runs, cost_model)
    rows = []
    for objective in ("edp", "latency"):
        mine = [run for run in runs if run["objective"] == objective]
        found = figures_of(mine, reference, target)
        layers = [layer for all_ in marl_cases.CASES["table3"].values() for layer in all_]
        for method, cases in found.items():
            by_layer = {name[2]: one for name, one in cases.items()}
            whole = len(by_layer) == len(layers)
            rows.append(
                {
                    "objective": objective,
                    "method": method,
                    "seeds": min(one.seeds for one in cases.values()),
                    **{name: by_layer[name].value if name in by_layer else "" for name in layers},
                    "geometric mean": geometric_mean([one.value for one in cases.values()])
                    if whole
                    else "",
                    "CPU s": float(np.mean([r["cpu_s"] for r in mine if r["method"] == method])),
                }
            )
    return sorted(rows, key=lambda row: (row["objective"], row["geometric mean"] or np.inf))


def joined(rows: list[dict[str, Any]], path: Path, anchor: str, order: str) -> list[dict[str, Any]]:
    """The rows, and those of `path` whose methods have no runs here, sorted by column `order`.

    Kept rows stand on the references of an earlier table: the row of the method `anchor` shows
    that they are today's.

    Raises:
        SystemExit: The anchor's row differs, but for its processor time.
    """
    today = [rounded(row) for row in rows]
    names = [(row.get("objective"), row["method"]) for row in today]
    kept = []
    for row in known(path):
        name = row.get("objective"), row["method"]
        if name not in names:
            kept.append(row)
        elif row["method"] == anchor:
            mine = {k: str(v) for k, v in today[names.index(name)].items()}
            if {**mine, "CPU s": ""} != {**row, "CPU s": ""}:
                raise SystemExit(f"{path}: {row} stands there, these runs give {mine}")
    both = [*today, *kept]
    return sorted(both, key=lambda r: (r.get("objective", ""), float(r[order] or "inf")))


def write(rows: list[Run], path: Path | None) -> None:
    """Write the table to a CSV file, whole or not at all."""
    frame.write(path, rows[0], map(rounded, rows))


def main() -> None:
    given = asked(
        __doc__,
        runs_=[Path],
        cost_model="exact",
        cases=("compared", None, ("compared", "table3")),
        layers=(False, "a row an objective and method"),
        methods=(str, "with commas; all of the files where nothing is said"),
        objectives=(str, "with commas; all of the cases where nothing is said"),
        budget=20_000,
        target=1.05,
        csv=Path,
        keep=(str, "a method: keep the rows of others; see `joined`"),
    )
    runs = of_cases(read(given.runs, given.cost_model, given.budget), given.cases)
    for name, wanted in (("method", given.methods), ("objective", given.objectives)):
        if wanted:
            runs = [run for run in runs if run[name] in wanted.split(",")]
    if not runs:
        raise SystemExit("no such runs in these files")
    make = layer_rows if given.layers else method_rows
    rows = make(runs, given.cost_model, given.target)
    if given.keep:
        order = "geometric mean" if given.layers else GAP[given.cost_model == "exact"]
        rows = joined(rows, given.csv, given.keep, order)
    write(rows, given.csv)
    show(rows)
