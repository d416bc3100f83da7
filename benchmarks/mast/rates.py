"""The learning rate of every arm: doubled from 1e-3 as long as the mean return of two seeds rises.

    python benchmarks/mast/rates.py --folder mast-rates --task tag-3 --arm "mast 0.95"
    python benchmarks/mast/rates.py --folder mast-rates --csv docs/data/mast-rates.csv

Seeds 100 and 101, which no table of results uses. The file that it writes is what the runs of
`table1.py` and `ablation.py` take their learning rates from.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from plan import Cell, Row, collected, do, write_csv
from table1 import ARMS, TASKS

from runs import print_rows

SEEDS = (100, 101)
FIRST, MOST = 1e-3, 6
"""The first rate, and how many are tried at most."""
STEPS = 300_000


def tried(task: str, arm: str, sparsity: float, folder: Path, run: bool) -> Iterator[Row]:
    """A row a rate, up to the first that is worse than the one before it.

    Args:
        task: The task.
        arm: The arm.
        sparsity: Its sparsity.
        folder: Files of the runs.
        run: Do runs that are missing; otherwise the first that is ends the rows.
    """
    before = -np.inf
    for step in range(MOST):
        rate = FIRST * 2**step
        options = ("--set", f"lr={rate:g}")
        cells = [Cell(task, arm, sparsity, seed, options=options) for seed in SEEDS]
        for cell in cells:
            if run:
                do(cell, folder, cell.words(folder, STEPS))
        found = [row["return"] for row in collected(cells, folder)]
        if len(found) < len(cells):
            return
        mean = float(np.mean(found))
        yield {
            "task": task, "arm": cells[0].whole_arm, "lr": rate, "seeds": len(found),
            "return": mean, "lowest": min(found), "highest": max(found),
        }  # fmt: skip
        if mean < before:
            return
        before = mean


def with_choice(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows of one arm, the best of which is chosen if the search for it has ended."""
    best = max(row["return"] for row in rows)
    ended = len(rows) == MOST or rows[-1]["return"] < best
    return [{**row, "chosen": int(ended and row["return"] == best)} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("mast-rates"), help="files of the runs")
    parser.add_argument("--task", action="append", help="only this task; repeatable")
    parser.add_argument("--arm", action="append", help="only this one, as 'mast 0.95'; repeatable")
    parser.add_argument("--collect", action="store_true", help="do no run, print what is there")
    parser.add_argument("--csv", type=Path, help="also write the table to this file")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    for task in args.task or TASKS:
        for arm, sparsity in ARMS:
            if args.arm and Cell(task, arm, sparsity, 0).whole_arm not in args.arm:
                continue
            if rows := list(tried(task, arm, sparsity, args.folder, not args.collect)):
                found += with_choice(rows)
    print_rows("Mean return of two seeds by learning rate", found)
    write_csv(args.csv, found)


if __name__ == "__main__":
    main()
