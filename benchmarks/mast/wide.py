"""Are wide teams sparse at no loss? Arms at H = 256 against dense and tiny teams of that width.

    python -m benchmarks mast.rates --store mast-rates.db --hidden 256 --csv rates.csv
    python -m benchmarks mast.wide --store mast-runs.db --rates rates.csv

A score of 100 is `dense+` of the same width; returns stand beside it, as widths have one scale.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.mast import table1
from benchmarks.mast.plan import SEEDS, WIDE, Cell, Row, of_width, runs_table

ARMS = (
    ("dense+", 0.0), ("mast", 0.9), ("tiny+", 0.9), ("mast", 0.95), ("tiny+", 0.95), ("dense", 0.0),
    ("rigl", 0.95), ("rlx2", 0.95), ("static+", 0.95), ("set+", 0.95), ("block4+", 0.95),
)  # fmt: skip
CELLS = [
    Cell(task, arm, s, seed, options=WIDE)
    for task in table1.TASKS[:2]
    for arm, s in ARMS
    for seed in SEEDS
]


def table(rows: Sequence[Row]) -> Sequence[Row]:
    """Print a row a task and arm."""
    return table1.table(of_width(rows, wide=True))


TABLE = runs_table(__doc__, CELLS, table)
