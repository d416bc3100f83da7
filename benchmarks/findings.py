"""The figures of docs/results.md's first table, from the files of docs/data that have every case.

python -m benchmarks findings   # writes docs/data/findings.csv
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frame import DATA, known, show, write
from marl_runs import geometric_mean

DATAFLOWS = ("ws", "os", "is", "nvdla", "eyeriss-rs", "shidiannao", "tpu")
FIELDS = ("what", "where", "cases", "figure", "unit")
Row = tuple[str, str, int, float, str]


def proofs() -> list[Row]:
    """How long proofs of the optimum take, where a whole set of shapes was proven."""
    found: list[Row] = []
    every = known(DATA / "optimal-speed.csv")
    for chip, objective in (("edge", "edp"), ("edge", "latency"), ("edge", "energy")):
        asked = ("default", chip, objective)
        rows = [r for r in every if (r["model"], r["accelerator"], r["objective"]) == asked]
        proven = sum(row["status"] == "optimal" for row in rows)
        seconds = [float(row["cpu_s"]) for row in rows]
        where = f"{chip}, {objective}"
        found.append(("shapes whose optimum is proven", where, len(rows), proven, "of the cases"))
        found.append(("a proof, median", where, len(rows), float(np.median(seconds)), "CPU s"))
        found.append(("a proof, longest", where, len(rows), max(seconds), "CPU s"))
    return found


def hand_mappings() -> list[Row]:
    """How far hand mappings are above the optimum (where a proof was stopped, at least)."""
    found: list[Row] = []
    every = known(DATA / "dataflows.csv")
    for chip in ("edge", "cloud", "archgym"):
        rows = [row for row in every if row["chip"] == chip]
        best = geometric_mean([min(float(row[name]) for name in DATAFLOWS) for row in rows])
        found.append(("best of seven hand mappings", f"{chip}, edp", len(rows), best, "x optimum"))
    return found


def proposals() -> list[Row]:
    """How far what trained agents propose for unseen layers is above the proven optimum."""
    found: list[Row] = []
    for name in ("in-range", "out-of-range"):
        rows = [r for r in known(DATA / f"pretrained-{name}.csv") if r["reference"] == "optimal"]
        for count in (1, 64):
            values = [float(r[f"best_of_{count}"]) for r in rows if r[f"best_of_{count}"]]
            what = f"best of {count} sample{'s' * (count > 1)} of zero-shot, median"
            where = f"{name.replace('-', ' ')} of training"
            found.append((what, where, len(values), float(np.median(values)), "x optimum"))
    return found


def rows() -> list[dict[str, Any]]:
    """All rows as the file has them."""
    found = proofs() + hand_mappings() + proposals()
    return [dict(zip(FIELDS, (*told, f"{n:.4g}", unit), strict=True)) for *told, n, unit in found]


def main() -> None:
    write(DATA / "findings.csv", FIELDS, rows())
    show(rows())
