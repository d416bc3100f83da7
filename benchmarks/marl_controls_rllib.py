"""RLlib's agents beside ours and the controls: two layers, as a run on RLlib takes minutes.

    python -m benchmarks marl_controls_rllib RUNS

RUNS are results files of ``marl_cases.py --cases two --budget 5000``. A run is judged by its case's
proven optimum (docs/data/case-optima.csv, of `exact`), else by the best value of any of these runs.
`value / best` is the geometric mean over all runs of a method, `from` and `to` its 95 % interval
(Student's t), `samples to 5 %` the median.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import marl_controls
from benchmarks.frame import Summary
from benchmarks.marl_cases import case, interval
from benchmarks.methods_table import Run, of_cases, reached, read, references
from marl_runs import first_below, geometric_mean

BUDGET = 5_000
METHODS = (*("marl:mode=paper", "marl-rllib:mode=paper", "marl-rllib"), *marl_controls.METHODS)


def rows(given: Any) -> Iterator[Run]:
    """A row a cost model and method."""
    for cost_model in ("exact", "maestro"):
        runs = of_cases(read(given.runs, cost_model, BUDGET), "two")
        reference = references(runs, cost_model)
        for method in METHODS:
            mine = [run for run in runs if run["method"] == method]
            ratios = [run["best"] / reference[case(run)] for run in mine]
            arrived = [
                first_below(run["curve"], marl_controls.TARGET * reference[case(run)]) or np.inf
                for run in mine
            ]
            yield {
                "cost model": cost_model,
                "method": method,
                "runs": len(mine),
                "value / best": geometric_mean(ratios),
                **interval(ratios),
                "samples to 5 %": reached(arrived),
                "CPU s": float(np.mean([run["cpu_s"] for run in mine])),
            }


TABLE = Summary(__doc__, rows, "marl-controls-rllib.csv", {"runs_": [Path]})
