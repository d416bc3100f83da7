"""The learning rate of every arm: doubled from 1e-3 as long as the mean return of two seeds rises.

    python -m benchmarks mast.rates --store mast-rates.db --task tag-3 --arm "mast 0.95"
    python -m benchmarks mast.rates --store mast-rates.db --task tag-3 --arm dense+ --hidden 256
    python -m benchmarks mast.rates --store mast-rates.db --task tag-3 --arm dense+ --algo ow-qmix
    python -m benchmarks mast.rates --store mast-rates.db --csv docs/data/mast-rates.csv

Where 2e-3 is worse than 1e-3, it is halved as long as the mean return rises.

Seeds 100 and 101, which no table of results uses. The file that it writes is what the runs of
`table1.py` and `ablation.py` take their learning rates from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from benchmarks.frame import Summary
from benchmarks.mast.plan import WIDTH, Cell, Row, collected
from benchmarks.mast.table1 import ARMS, TASKS
from benchmarks.pool import finished
from marl_runs import Store, print_rows

SEEDS = (100, 101)
FIRST, MOST = 1e-3, 6
"""The first rate, and how many are tried at most."""
STEPS = 300_000


def tried(cell: Cell, store: Store, run: bool) -> Iterator[Row]:
    """A row a rate, up to the first that is worse than the best on either side of it.

    Args:
        cell: A run of the arm; its seed does not matter.
        store: The runs.
        run: Do runs that are missing; otherwise the first that is ends the rows.
    """
    found: dict[float, float] = {}
    while (rate := next_rate(found)) is not None:
        options = (*cell.options, "--lr", f"{rate:g}")
        cells = [replace(cell, seed=seed, options=options) for seed in SEEDS]
        runs = [one.training(STEPS) for one in cells]
        finished(store, runs if run else [])
        returns = [row["return"] for row in collected(store, cells, runs)]
        if len(returns) < len(cells):
            return
        found[rate] = float(np.mean(returns))
        yield {
            "algorithm": cell.algorithm, "task": cell.task, "arm": cell.label, "lr": rate,
            "seeds": len(returns), "return": found[rate],
            "lowest": min(returns), "highest": max(returns),
        }  # fmt: skip


def next_rate(found: Mapping[float, float]) -> float | None:
    """The rate that is to be tried next; None: the best one lies between two that are worse."""
    if len(found) == MOST:
        return None
    best = max(found, key=found.__getitem__, default=FIRST)
    return next((rate for rate in (best, 2 * best, best / 2) if rate not in found), None)


def with_choice(rows: list[Row]) -> list[Row]:
    """The rows of one arm, the best of which is chosen if the search for it has ended."""
    found = {row["lr"]: row["return"] for row in rows}
    best = max(found.values())
    ended = next_rate(found) is None
    return [{**row, "chosen": int(ended and row["return"] == best)} for row in rows]


def rows_of(given: Any) -> Iterator[Row]:
    """A row an arm and rate."""
    width = (WIDTH, str(given.hidden)) if given.hidden else ()
    with Store.open(given.store) as store:
        for algorithm, task, arm in product(given.algo, given.task, ARMS):
            cell = Cell(task, *arm, SEEDS[0], algorithm, width)
            if given.arm and cell.whole_arm not in given.arm:
                continue
            if rows := list(tried(cell, store, not given.collect)):
                yield from with_choice(rows)


TABLE = Summary(
    __doc__,
    rows_of,
    options={
        "store": ("mast-rates.db", "the runs"),
        "task": (list(TASKS), "only these tasks"),
        "arm": ([str], "only these, as 'mast 0.95'"),
        "algo": (["qmix"], "qmix, or others"),
        "hidden": (int, "the agents' width, if not the default's"),
        "collect": (False, "do no run, print what is there"),
    },
    told=lambda rows, _: print_rows("Mean return of two seeds by learning rate", rows),
)
