"""Table III in one table: each method's geometric mean over the eight layers, a column a problem.

    python -m benchmarks table3_summary   # writes docs/data/table3-summary.csv

From docs/data/table3-exact.csv and table3-maestro.csv, which ``methods_table --layers`` makes.
"""

from __future__ import annotations

from typing import Any

from benchmarks import methods_table
from benchmarks.frame import DATA, known, show

COLUMNS = [(model, objective) for model in ("exact", "maestro") for objective in ("edp", "latency")]


def rows() -> list[dict[str, Any]]:
    """A row a method, in the order of its EDP under `exact`; empty where it was not run."""
    found: dict[str, dict[str, Any]] = {}
    for model in ("exact", "maestro"):
        for row in known(DATA / f"table3-{model}.csv"):
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
    show(rows())
