"""What docs/figures/table3-edp.png is drawn from: best EDP so far over the proven optimum.

    python -m benchmarks paper.table3_curves RUNS

RUNS are results files of ``marl_cases.py --cases table3``, or folders of them; curves are medians
over seeds. Writes docs/data/table3-curves.csv, where methods that have no runs here keep their
curves; `python -m benchmarks paper --redraw` draws it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.frame import DATA, grouped
from benchmarks.marl_cases import CASES, FIRST, case
from benchmarks.methods_table import layer_rows, of_cases, read, references
from benchmarks.paper.curves import FIGURES, keep_curves, read_curves
from marl_runs import best_so_far

POINTS = 40


def main() -> None:
    budget = 20_000
    runs = read([Path(word) for word in sys.argv[1:]], "exact", budget)
    runs = [run for run in of_cases(runs, "table3") if run["objective"] == "edp"]
    if not runs:
        sys.exit("no such runs in these files")
    reference = references(runs, "exact")
    path = DATA / FIGURES["table3-edp"][0]
    curves = read_curves(path) if path.exists() else {}
    places = np.unique(np.geomspace(FIRST, budget, POINTS).astype(int))
    methods = [row["method"] for row in layer_rows(runs, "exact", 1.05)]
    by_layer = grouped(runs, "layer", "method")
    for layer in CASES["table3"]["edge"]:
        for method in methods:
            alike = by_layer[layer, method]
            base = reference[case(alike[0])]
            found = np.median([best_so_far(run["curve"], places) for run in alike], axis=0) / base
            seen = np.isfinite(found)
            curves.setdefault(layer, {})[method] = (places[seen], found[seen])
    keep_curves(curves, path)
