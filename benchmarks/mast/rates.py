"""The learning rate of every arm: doubled from 1e-3 as long as the mean return of two seeds rises.

    python benchmarks/mast/rates.py --folder mast-rates --task tag-3 --arm "mast 0.95"
    python benchmarks/mast/rates.py --folder mast-rates --task tag-3 --arm dense+ --hidden 256
    python benchmarks/mast/rates.py --folder mast-rates --task tag-3 --arm dense+ --algo ow-qmix
    python benchmarks/mast/rates.py --folder mast-rates --csv docs/data/mast-rates.csv

Where 2e-3 is worse than 1e-3, it is halved as long as the mean return rises.

Seeds 100 and 101, which no table of results uses. The file that it writes is what the runs of
`table1.py` and `ablation.py` take their learning rates from.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from plan import WIDTH, Cell, Row, collected, do, write_csv
from table1 import ARMS, TASKS

from marl_runs import print_rows

SEEDS = (100, 101)
FIRST, MOST = 1e-3, 6
"""The first rate, and how many are tried at most."""
STEPS = 300_000


def tried(cell: Cell, folder: Path, run: bool) -> Iterator[Row]:
    """A row a rate, up to the first that is worse than the best on either side of it.

    Args:
        cell: A run of the arm; its seed does not matter.
        folder: Files of the runs.
        run: Do runs that are missing; otherwise the first that is ends the rows.
    """
    found: dict[float, float] = {}
    while (rate := next_rate(found)) is not None:
        options = (*cell.options, "--lr", f"{rate:g}")
        cells = [replace(cell, seed=seed, options=options) for seed in SEEDS]
        for one in cells:
            if run:
                do(one, folder, one.words(folder, STEPS))
        returns = [row["return"] for row in collected(cells, folder)]
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


def with_choice(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows of one arm, the best of which is chosen if the search for it has ended."""
    found = {row["lr"]: row["return"] for row in rows}
    best = max(found.values())
    ended = next_rate(found) is None
    return [{**row, "chosen": int(ended and row["return"] == best)} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("mast-rates"), help="files of the runs")
    parser.add_argument("--task", action="append", help="only this task; repeatable")
    parser.add_argument("--arm", action="append", help="only this one, as 'mast 0.95'; repeatable")
    parser.add_argument("--algo", action="append", help="qmix, or others; repeatable")
    parser.add_argument("--hidden", type=int, help="the agents' width, if not the default's")
    parser.add_argument("--collect", action="store_true", help="do no run, print what is there")
    parser.add_argument("--csv", type=Path, help="also write the table to this file")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    width = (WIDTH, str(args.hidden)) if args.hidden else ()
    for algorithm, task, arm in product(args.algo or ["qmix"], args.task or TASKS, ARMS):
        cell = Cell(task, *arm, SEEDS[0], algorithm, width)
        if args.arm and cell.whole_arm not in args.arm:
            continue
        if rows := list(tried(cell, args.folder, not args.collect)):
            found += with_choice(rows)
    print_rows("Mean return of two seeds by learning rate", found)
    write_csv(args.csv, found)


if __name__ == "__main__":
    main()
