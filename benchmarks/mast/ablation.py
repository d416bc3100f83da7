"""Do sparse networks need MAST's parts, and which network pays for being sparse?

    python -m benchmarks mast.ablation --store mast-runs.db
    python -m benchmarks mast.ablation --store mast-runs.db --collect --metric qgap

Each part left out, omega and q changed, agents or mixer left dense, and the Q gap.
The interaction (MAST - RigL) - (dense+ - dense) stands below the table, with its interval.
"""

from __future__ import annotations

from typing import Any

from benchmarks.mast.plan import SEEDS, Cell, RunsTable, write_csv
from marl_runs import print_rows
from mast.comparing import interaction, random_scores, summary
from mast.show import print_comparison, print_gaps

TASKS = ("tag-3", "spread-6")
WHOLE = (("dense+", 0.0), ("mast", 0.95), ("rigl", 0.95), ("dense", 0.0))
WHOLE_ARM = "mast 0.95"
CHANGES = tuple(
    (arm, s, options)
    for arm, s in (("mast", 0.95), ("dense+", 0.0))
    for options in (
        ("--without", "sm"),
        ("--without", "hybrid"),
        ("--without", "dual"),
        ("--omega", "5"),
        ("--q", "0"),
    )
) + tuple(("mast", 0.95, ("--left-dense", left)) for left in ("agents", "mixer"))
CELLS = [
    Cell(task, arm, s, seed, options=options)
    for task in TASKS
    for arm, s, options in (*((arm, s, ()) for arm, s in WHOLE), *CHANGES)
    for seed in SEEDS
]


def table(rows: list[dict[str, Any]], csv: Any, metric: str = "score") -> None:
    """Print a row a task and arm, and the interaction of each task."""
    random = random_scores([row["task"] for row in rows])
    found = summary(rows, random, rival=WHOLE_ARM)
    if metric == "qgap":
        print_gaps(found)
    else:
        print_comparison(found, WHOLE_ARM)
        print_rows("\n(MAST - RigL) - (dense+ - dense)", interaction(rows, random, "0.95"))
    write_csv(csv, found)


TABLE = RunsTable(__doc__, CELLS, table, metrics=("score", "qgap"))
