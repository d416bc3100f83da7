"""Arms at .90, .95 and .98 against dense and tiny networks: scores, intervals, who wins, costs.

    python -m benchmarks mast.table1 --quick --workers 2    # all in miniature
    python -m benchmarks mast.table1 --schedule short --workers 2    # all
    python -m benchmarks mast.table1 --store mast-runs.db --share 0/8  # a share of them
    python -m benchmarks mast.table1 --store mast-runs.db --collect --csv docs/data/mast-table1.csv

14 arms, three tasks, 5 seeds, 300,000 steps each.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.frame import grouped
from benchmarks.mast.plan import SEEDS, Cell, Row, runs_table
from mast.comparing import random_scores, summary
from mast.show import print_comparison

ARMS = (
    ("dense+", 0.0), ("tiny+", 0.95), ("mast", 0.95), ("rigl", 0.95), ("dense", 0.0),
    ("mast", 0.9), ("tiny+", 0.9), ("block4+", 0.95), ("static+", 0.95), ("set+", 0.95),
    ("rlx2", 0.95), ("block4+", 0.9), ("tiny+", 0.98), ("mast", 0.98),
)  # fmt: skip
TASKS = ("tag-3", "spread-6", "spread-3")
CELLS = [Cell(task, arm, s, seed) for task in TASKS for arm, s in ARMS for seed in SEEDS]
OTHERS = [
    Cell(task, arm, s, seed, algorithm)
    for task in TASKS[:2]
    for algorithm in ("vdn", "cw-qmix", "ow-qmix", "res")
    for arm, s in (("dense+", 0.0), ("tiny+", 0.9), ("mast", 0.9))
    for seed in range(3)
]
"""The other algorithms, 3 seeds each."""


def table(rows: Sequence[Row]) -> Sequence[Row]:
    """Print a row a task, algorithm and arm."""
    found: list[Row] = []
    for algorithm, mine in grouped(rows, "algorithm").items():
        known = [r["task"] for r in mine if r["arm"] == "dense+"]
        mine = [row for row in mine if row["task"] in known]
        found += [{"algorithm": algorithm, **row} for row in summary(mine, random_scores(known))]
    print_comparison(found)
    return found


TABLE = runs_table(__doc__, [*CELLS, *OTHERS], table)
