"""Level-based foraging and SMAX on the long schedule: 2 million steps.

    python benchmarks/mast/long.py --folder mast-long --task lbf-8x8-2p-2f-coop
    python benchmarks/mast/long.py --folder mast-long --steps 500000 --task smax-3m

Three seeds of each arm at the default learning rate. SMAX needs the extra `smax`.
"""

from __future__ import annotations

import table1
from plan import Cell, run_table

ARMS = (("dense+", 0.0), ("mast", 0.95), ("tiny+", 0.95), ("dense", 0.0))
TASKS = ("lbf-8x8-2p-2f-coop", "smax-3m", "smax-2s3z")
CELLS = [Cell(task, arm, s, seed) for seed in range(3) for task in TASKS for arm, s in ARMS]

if __name__ == "__main__":
    run_table(__doc__, CELLS, table1.table, steps=2_000_000)
