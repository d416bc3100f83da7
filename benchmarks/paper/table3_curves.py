"""What docs/figures/table3-edp.png is drawn from: best EDP so far over the proven optimum.

    python -m benchmarks paper.table3_curves RUNS

RUNS are results files of ``marl_cases.py --cases table3``, or folders of them; curves are medians
over seeds. Writes docs/data/table3-curves.csv, where methods that have no runs here keep their
curves, and draws it; without RUNS it is drawn alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import DATA, Row, Summary, grouped, refuse
from benchmarks.marl_cases import CASES, FIRST, case
from benchmarks.methods_table import layer_rows, of_cases, read, references
from benchmarks.paper.curves import FIGURES, read_curves, redraw, rows_of
from marl_runs import best_so_far

FIGURE, POINTS, BUDGET = "table3-edp", 40, 20_000


def rows(given: Any) -> list[Row]:
    """A row a point of the curves."""
    curves = read_curves(DATA / FIGURES[FIGURE][0])
    if not given.runs:
        return rows_of(curves)
    runs = of_cases(read(given.runs, "exact", BUDGET), "table3")
    runs = [run for run in runs if run["objective"] == "edp"]
    if not runs:
        refuse("no such runs in these files")
    reference = references(runs, "exact")
    places = np.unique(np.geomspace(FIRST, BUDGET, POINTS).astype(int))
    methods = [row["method"] for row in layer_rows(runs, "exact", 1.05)]
    by_layer = grouped(runs, "layer", "method")
    for layer in CASES["table3"]["edge"]:
        for method in methods:
            alike = by_layer[layer, method]
            base = reference[case(alike[0])]
            found = np.median([best_so_far(run["curve"], places) for run in alike], axis=0) / base
            seen = np.isfinite(found)
            curves.setdefault(layer, {})[method] = (places[seen], found[seen])
    return rows_of(curves)


def told(_: Any, given: Any) -> None:
    """Draw what the file has."""
    if given.out == DATA / FIGURES[FIGURE][0]:
        redraw(FIGURE, DATA, DATA.with_name("figures"))


TABLE = Summary(__doc__, rows, FIGURES[FIGURE][0], {"runs_": [Path]}, told=told)
