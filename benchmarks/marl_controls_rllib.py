"""RLlib's agents beside ours and the controls: two layers, as a run on RLlib takes minutes.

    python benchmarks/marl_controls_rllib.py RUNS --csv docs/data/marl-controls-rllib.csv

RUNS are results files of ``marl_cases.py --cases two --budget 5000``. A run is judged by its case's
proven optimum (docs/data/case-optima.csv, of `exact`), else by the best value of any of these runs.
`value / best` is the geometric mean over all runs of a method, `from` and `to` its 95 % interval
(Student's t), `samples to 5 %` the median.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import marl_cases
import marl_controls
import methods_table
import numpy as np

from marl_runs import geometric_mean

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
            marl_controls.arrival(run, reference[marl_cases.case(run)]) or np.inf for run in mine
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    rows = []
    for cost_model in ("exact", "maestro"):
        runs = methods_table.read(arguments.runs, cost_model, BUDGET)
        rows += rows_of(methods_table.of_cases(runs, "two"), cost_model)
    marl_cases.show(rows)
    if arguments.csv:
        methods_table.write(rows, arguments.csv)


if __name__ == "__main__":
    main()
