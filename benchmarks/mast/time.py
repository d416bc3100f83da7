"""Processor time of whole runs, dense against compiled: to the end, and to 90 points.

    python -m benchmarks mast.time --store mast-runs.db

One thread; evaluations are not counted. 90 points are of the mean of the last evaluations of the
dense team of 256 units, which the others are held against; one of 64 units stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.frame import grouped
from benchmarks.mast.plan import WIDE, Cell, Row, runs_table
from marl_runs import print_rows
from mast.comparing import random_scores

TEAMS = (("dense+", 0.0, WIDE), ("mast", 0.9, WIDE), ("mast", 0.95, WIDE), ("dense+", 0.0, ()))
CELLS = [Cell("tag-3", arm, s, seed, options=width) for arm, s, width in TEAMS for seed in range(3)]


def table(rows: Sequence[Row]) -> Sequence[Row]:
    """Print medians over seeds, and how many times less the sparse runs take."""
    random = random_scores(["tag-3"])["tag-3"]
    full = np.mean([row["return"] for row in rows if row["arm"] == CELLS[0].label])
    aim = random + 0.9 * (full - random)
    found: list[Row] = []
    for arm, mine in grouped(rows, "arm").items():
        reached = [to_reach(row, aim) for row in mine]
        found.append(
            {
                "arm": arm, "seeds": len(mine),
                "return": float(np.mean([row["return"] for row in mine])),
                "end_s": float(np.median([row["train_cpu_s"][-1] for row in mine])),
                "to_90_s": float(np.median(reached)),
                "reached": int(np.isfinite(reached).sum()),
            }
        )  # fmt: skip
    for row in found:
        row["end_times"] = found[0]["end_s"] / row["end_s"]
        row["to_90_times"] = found[0]["to_90_s"] / row["to_90_s"]
    print_rows("Processor time [s]", found)
    return found


def to_reach(row: Row, aim: float) -> float:
    """Processor time at the first evaluation that reached a return [s]; inf: none did."""
    pairs = zip(row["returns"], row["train_cpu_s"], strict=True)
    return next((seconds for value, seconds in pairs if value >= aim), float("inf"))


TABLE = runs_table(__doc__, CELLS, table)
