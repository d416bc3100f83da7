"""Table III in one table: each method's geometric mean over the eight layers, a column a problem.

    python benchmarks/table3_summary.py   # writes docs/data/table3-summary.csv

From docs/data/table3-exact.csv and table3-maestro.csv, which ``methods_table.py --layers`` makes.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import marl_cases
import methods_table

DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
COLUMNS = [(model, objective) for model in ("exact", "maestro") for objective in ("edp", "latency")]


def rows() -> list[dict[str, Any]]:
    """A row a method, in the order of its EDP under `exact`; empty where it was not run."""
    found: dict[str, dict[str, Any]] = {}
    for model in ("exact", "maestro"):
        with (DATA / f"table3-{model}.csv").open(newline="") as stream:
            for row in csv.DictReader(stream):
                mean = row["geometric mean"]
                column = f"{model}, {row['objective']}"
                found.setdefault(row["method"], {})[column] = float(mean) if mean else ""
    names = [f"{model}, {objective}" for model, objective in COLUMNS]
    summary = [
        {"method": method, **{name: means.get(name, "") for name in names}}
        for method, means in found.items()
    ]
    return sorted(summary, key=lambda row: row[names[0]] or float("inf"))


def main() -> None:
    methods_table.write(rows(), DATA / "table3-summary.csv")
    marl_cases.show(rows())


if __name__ == "__main__":
    main()
