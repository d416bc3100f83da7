"""The figures of docs/results.md's first table, from the files of docs/data that have every case.

python -m benchmarks findings   # writes docs/data/findings.csv
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.frame import DATA, Summary, grouped, known
from maestro_env import DATAFLOWS
from marl_runs import geometric_mean

FIELDS = ("what", "where", "cases", "figure", "unit")
Row = tuple[str, str, int, float, str]


def proofs() -> Iterator[Row]:
    """How long proofs of the optimum take, where a whole set of shapes was proven."""
    every = grouped(known(DATA / "optimal-speed.csv"), "model", "accelerator", "objective")
    for objective in ("edp", "latency", "energy"):
        rows, where = every["default", "edge", objective], f"edge, {objective}"
        proven = sum(row["status"] == "optimal" for row in rows)
        seconds = [float(row["cpu_s"]) for row in rows]
        yield "shapes whose optimum is proven", where, len(rows), proven, "of the cases"
        yield "a proof, median", where, len(rows), float(np.median(seconds)), "CPU s"
        yield "a proof, longest", where, len(rows), max(seconds), "CPU s"


def hand_mappings() -> Iterator[Row]:
    """How far hand mappings are above the optimum (where a proof was stopped, at least)."""
    for chip, rows in grouped(known(DATA / "dataflows.csv"), "chip").items():
        best = geometric_mean([min(float(row[name]) for name in DATAFLOWS) for row in rows])
        yield "best of seven hand mappings", f"{chip}, edp", len(rows), best, "x optimum"


def proposals() -> Iterator[Row]:
    """How far what trained agents propose for unseen layers is above the proven optimum."""
    for name in ("in-range", "out-of-range"):
        rows = [r for r in known(DATA / f"pretrained-{name}.csv") if r["reference"] == "optimal"]
        for count in (1, 64):
            values = [float(r[f"best_of_{count}"]) for r in rows if r[f"best_of_{count}"]]
            what = f"best of {count} sample{'s' * (count > 1)} of zero-shot, median"
            where = f"{name.replace('-', ' ')} of training"
            yield what, where, len(values), float(np.median(values)), "x optimum"


def rows(_: Any) -> list[dict[str, Any]]:
    """All rows as the file has them."""
    found = (*proofs(), *hand_mappings(), *proposals())
    return [dict(zip(FIELDS, (*told, f"{n:.4g}", unit), strict=True)) for *told, n, unit in found]


TABLE = Summary(__doc__, rows, "findings.csv")
