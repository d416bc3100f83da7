"""Level-based foraging and SMAX on the long schedule: 2 million steps.

    python -m benchmarks mast.long --store mast-long.db --task lbf-8x8-2p-2f-coop
    python -m benchmarks mast.long --store mast-long.db --steps 500000 --task smax-3m

Three seeds of each arm at the default learning rate, 64 and 256 units wide; a score of 100 is
`dense+` of the same width. SMAX needs the extra `smax`.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.mast.plan import WIDE, Cell, Row, of_width, runs_table
from mast import MastConfig
from mast.comparing import random_scores, summary
from mast.show import print_comparison

ARMS = (("dense+", 0.0), ("mast", 0.95), ("tiny+", 0.95), ("dense", 0.0))
TASKS = ("lbf-8x8-2p-2f-coop", "smax-3m", "smax-2s3z")
CELLS = [
    Cell(task, arm, s, seed, options=width)
    for seed in range(3)
    for task in TASKS
    for width in ((), WIDE)
    for arm, s in ARMS
]


def table(rows: Sequence[Row]) -> Sequence[Row]:
    """Print a row a width, task and arm."""
    random, found = random_scores([row["task"] for row in rows]), []
    for hidden, wide in ((MastConfig().hidden, False), (int(WIDE[1]), True)):
        mine = summary(of_width(rows, wide=wide), random)
        found += [{**row, "hidden": hidden} for row in mine]
        print_comparison(mine)
    return found


TABLE = runs_table(__doc__, CELLS, table, schedule="long")
