"""RLlib's agents beside ours and the controls: two layers, as a run on RLlib takes minutes.

    python -m benchmarks marl_controls_rllib RUNS --csv docs/data/marl-controls-rllib.csv

RUNS are results files of ``marl_cases.py --cases two --budget 5000``. A run is judged by its case's
proven optimum (docs/data/case-optima.csv, of `exact`), else by the best value of any of these runs.
`value / best` is the geometric mean over all runs of a method, `from` and `to` its 95 % interval
(Student's t), `samples to 5 %` the median.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import marl_cases, marl_controls, methods_table
from benchmarks.frame import asked, show
from marl_runs import first_below, geometric_mean

BUDGET = 5_000
METHODS = (
    *("marl:mode=paper", "marl-rllib:mode=paper", "marl-rllib"),
    *marl_controls.METHODS,
)


def rows_of(runs: list[marl_controls.Run], cost_model: str) -> list[dict[str, Any]]:
    """A row a method."""
    reference = methods_table.references(runs, cost_model)
    rows = []
    for method in METHODS:
        mine = [run for run in runs if run["method"] == method]
        ratios = [run["best"] / reference[marl_cases.case(run)] for run in mine]
        low, high = marl_cases.interval(np.log(ratios))
        arrivals = [
            first_below(run["curve"], marl_controls.TARGET * reference[marl_cases.case(run)])
            or np.inf
            for run in mine
        ]
        middle = float(np.median(arrivals))
        rows.append(
            {
                "cost model": cost_model,
                "method": method,
                "runs": len(mine),
                "value / best": geometric_mean(ratios),
                "from": float(np.exp(low)),
                "to": float(np.exp(high)),
                "samples to 5 %": middle if np.isfinite(middle) else "not reached",
                "CPU s": float(np.mean([run["cpu_s"] for run in mine])),
            }
        )
    return rows


def main() -> None:
    given = asked(__doc__, runs_=[Path], csv=Path)
    rows = []
    for cost_model in ("exact", "maestro"):
        runs = methods_table.read(given.runs, cost_model, BUDGET)
        rows += rows_of(methods_table.of_cases(runs, "two"), cost_model)
    show(rows)
    methods_table.write(rows, given.csv)
