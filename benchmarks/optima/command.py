"""``python -m benchmarks optima --out FOLDER``: build the data set; the same command goes on.

    python -m benchmarks optima --out optima                # all problems, then the tables
    python -m benchmarks optima --out optima --part 0/2     # a share of the problems alone
    python -m benchmarks optima --out optima --values docs/data/optima.csv

Every certificate is checked as `mapper validate --certificate` does before its row is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.optima.problems import problems
from benchmarks.optima.solving import solved


def main(words: list[str]) -> None:
    """Solve what is open, and write tables, schema and data card."""
    parser = argparse.ArgumentParser("python -m benchmarks optima", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the data set")
    parser.add_argument("--part", default="0/1", help="which share of the problems, of how many")
    parser.add_argument("--values", type=Path, help="also write the values alone, as CSV")
    args = parser.parse_args(words)
    share, shares = map(int, args.part.split("/"))
    rows = []
    for number, problem in enumerate(problems()):
        if number % shares == share:
            row = solved(problem, args.out)
            rows.append(row)
            print(f"{len(rows):5} {problem.id}: {row['status']} {row['value']}", flush=True)
