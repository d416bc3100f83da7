"""The figures of docs/results.md's first table, from the files of docs/data that have every case.

python benchmarks/findings.py   # writes docs/data/findings.csv
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from marl_common import atomic_write
from marl_runs import geometric_mean

DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
DATAFLOWS = ("ws", "os", "is", "nvdla", "eyeriss-rs", "shidiannao", "tpu")
FIELDS = ("what", "where", "cases", "figure", "unit")
Row = tuple[str, str, int, float, str]


def read(name: str) -> list[dict[str, str]]:
    """The rows of a file of docs/data."""
    with (DATA / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def proofs() -> list[Row]:
    """How long proofs of the optimum take, where a whole set of shapes was proven."""
    found: list[Row] = []
    every = read("optimal-speed.csv")
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
    every = read("dataflows.csv")
    for chip in ("edge", "cloud", "archgym"):
        rows = [row for row in every if row["chip"] == chip]
        best = geometric_mean([min(float(row[name]) for name in DATAFLOWS) for row in rows])
        found.append(("best of seven hand mappings", f"{chip}, edp", len(rows), best, "x optimum"))
    return found


def proposals() -> list[Row]:
    """How far what trained agents propose for unseen layers is above the proven optimum."""
    found: list[Row] = []
    for name in ("in-range", "out-of-range"):
        rows = [r for r in read(f"pretrained-{name}.csv") if r["reference"] == "optimal"]
        for count in (1, 64):
            values = [float(r[f"best_of_{count}"]) for r in rows if r[f"best_of_{count}"]]
            what = f"best of {count} sample{'s' * (count > 1)} of zero-shot, median"
            where = f"{name.replace('-', ' ')} of training"
            found.append((what, where, len(values), float(np.median(values)), "x optimum"))
    return found


def text() -> str:
    """All rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for *told, figure, unit in proofs() + hand_mappings() + proposals():
        writer.writerow([*told, f"{figure:.4g}", unit])
    return out.getvalue()


def main() -> None:
    with atomic_write(DATA / "findings.csv") as draft:
        draft.write_text(text())
    print(text(), end="")


if __name__ == "__main__":
    main()
