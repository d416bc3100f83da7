"""Table III in one table: each method's geometric mean over the eight layers, a column a problem.

    python -m benchmarks table3_summary   # writes docs/data/table3-summary.csv

From docs/data/table3-exact.csv and table3-maestro.csv, which ``methods_table --layers`` makes.
"""

from __future__ import annotations

from typing import Any

from benchmarks.frame import DATA, Row, Summary, known

COLUMNS = [f"{model}, {what}" for model in ("exact", "maestro") for what in ("edp", "latency")]


def rows(_: Any) -> list[Row]:
    """A row a method, in the order of its EDP under `exact`; empty where it was not run."""
    found: dict[str, Row] = {}
    for model in ("exact", "maestro"):
        for row in known(DATA / f"table3-{model}.csv"):
            own = found.setdefault(
                row["method"], {"method": row["method"], **dict.fromkeys(COLUMNS)}
            )
            own[f"{model}, {row['objective']}"] = float(row["geometric mean"] or "nan")
    return sorted(found.values(), key=lambda row: row[COLUMNS[0]] or float("inf"))


TABLE = Summary(__doc__, rows, "table3-summary.csv")
