"""Which tasks separate: where a tiny network of the cost of .95 is 10 points below dense+.

    python benchmarks/mast/separates.py --folder mast-runs

Seeds 100 to 102, which no other table uses; it is run before any run of MAST.
"""

from __future__ import annotations

from typing import Any

from plan import Cell, run_table, write_csv

from mast.comparing import random_scores, summary
from mast.show import print_comparison

TASKS = ("tag-3", "spread-6", "spread-3")
CELLS = [
    Cell(task, arm, s, seed)
    for task in TASKS
    for arm, s in (("dense+", 0.0), ("tiny+", 0.95))
    for seed in range(100, 103)
]


def table(rows: list[dict[str, Any]], csv: Any) -> None:
    """Print a row a task and arm."""
    found = summary(rows, random_scores([row["task"] for row in rows]))
    print_comparison(found)
    for row in found:
        if row["arm"].startswith("tiny+"):
            print(f"{row['task']}: {verdict(row['mean_score'])}")
    write_csv(csv, found)


def verdict(score: float | None) -> str:
    """Whether a task separates, given the mean score of the tiny arm."""
    if score is None:
        return "no score: dense+ earns no more than random play"
    return f"{score:.0f}: {'separates' if score <= 90 else 'a control'}"


if __name__ == "__main__":
    run_table(__doc__, CELLS, table)
