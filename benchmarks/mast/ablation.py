"""Do sparse networks need MAST's parts, and which network pays for being sparse?

    python -m benchmarks mast.ablation --store mast-runs.db

Each part left out, omega and q changed, agents or mixer left dense, and the Q gap.
The interaction (MAST - RigL) - (dense+ - dense) stands below the table, with its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.mast.plan import SEEDS, Cell, Row, runs_table
from marl_runs import Column, print_rows
from mast.comparing import interaction, random_scores, summary
from mast.show import print_comparison

TASKS = ("tag-3", "spread-6")
WHOLE = (("dense+", 0.0), ("mast", 0.95), ("rigl", 0.95), ("dense", 0.0))
WHOLE_ARM = "mast 0.95"
CHANGES = ("--without sm", "--without hybrid", "--without dual", "--omega 5", "--q 0")
CELLS = [
    Cell(task, arm, s, seed, options=tuple(change.split()))
    for task in TASKS
    for arm, s, change in (
        *((arm, s, "") for arm, s in WHOLE),
        *((arm, s, change) for arm, s in (WHOLE[1], WHOLE[0]) for change in CHANGES),
        *(("mast", 0.95, f"--left-dense {left}") for left in ("agents", "mixer")),
    )
    for seed in SEEDS
]


GAPS = [*map(Column, ("task", "arm", "seeds")), Column("q_gap", "Q gap [s.d. of rewards]", "")]


def table(rows: Sequence[Row]) -> Sequence[Row]:
    """Print a row a task and arm, its Q gap, and the interaction of each task."""
    random = random_scores([row["task"] for row in rows])
    found = summary(rows, random, rival=WHOLE_ARM)
    print_rows("Median joint value minus discounted return", found, "", GAPS)
    print_comparison(found, WHOLE_ARM)
    print_rows("\n(MAST - RigL) - (dense+ - dense)", interaction(rows, random, "0.95"))
    return found


TABLE = runs_table(__doc__, CELLS, table)
