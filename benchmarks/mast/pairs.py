"""Sparse teams of a sweep beside dense ones: differences of returns, paired by seed, and time.

    mast sweep benchmarks/mast/plans/wider.yaml --csv docs/data/mast-wider.csv
    python -m benchmarks mast.pairs

A row for `mast` at each width and sparsity and each rival: `dense+` and `dense` of every width, and
`tiny+` of its width, whose updates cost as much. The interval is of the mean difference (95 %,
Student's t, not corrected for the number of rows); the rival's time is in units of the sparse
team's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.frame import DATA, Row, Summary, grouped, known
from marl_runs import mean_interval


def _width(row: Row) -> str:
    """What is said of the agents' width, nothing of the default's."""
    return "".join(re.findall(r"hidden \d+", row["settings"]))


def rows(given: Any) -> Iterator[Row]:
    """A row a task, sparse team and rival."""
    for task, mine in grouped(known(given.sweep), "task").items():
        for one in (row for row in mine if row["arm"].startswith("mast ")):
            equal = one["arm"].replace("mast", "tiny+"), _width(one)
            for other in mine:
                if other["arm"].startswith("dense") or (other["arm"], _width(other)) == equal:
                    yield {"task": task} | _pair(one, other)


def _pair(one: Row, other: Row) -> Row:
    ours, theirs = (np.array(row["returns"].split(), float) for row in (one, other))
    mean, half = mean_interval(ours - theirs)
    return {
        "arm": one["arm"], "settings": one["settings"], "rival": other["arm"],
        "rival's settings": other["settings"], "difference": float(mean), "low": float(mean - half),
        "high": float(mean + half), "claim": "" if abs(mean) <= half else "<>"[int(mean > 0)],
        "rival's time": float(other["cpu_s"]) / float(one["cpu_s"]),
    }  # fmt: skip


TABLE = Summary(__doc__, rows, "mast-pairs.csv", {"sweep": DATA / "mast-wider.csv"})
