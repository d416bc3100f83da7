"""``python -m benchmarks optima --out FOLDER``: build the data set; the same command goes on.

    python -m benchmarks optima --out optima                # all problems, then the tables
    python -m benchmarks optima --out optima --part 0/2     # a share of the problems, no tables
    python -m benchmarks optima --out optima --quick        # the first 20 problems
    python -m benchmarks optima --out optima --values docs/data/optima

Every certificate is checked as `mapper validate --certificate` does before its row is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.optima.card import VALUES
from benchmarks.optima.problems import problems
from benchmarks.optima.solving import solved
from benchmarks.optima.tables import write_tables

QUICK = 20


def main(words: list[str]) -> None:
    """Solve what is open, and write tables, schema and data card."""
    parser = argparse.ArgumentParser("python -m benchmarks optima", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the data set")
    parser.add_argument("--part", default="0/1", help="which share of the problems, of how many")
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK} problems alone")
    parser.add_argument("--values", type=Path, help="folder for a table of values alone")
    args = parser.parse_args(words)
    share, shares = map(int, args.part.split("/"))
    rows = []
    for problem in problems()[: QUICK if args.quick else None][share::shares]:
        rows.append(solved(problem, args.out))
        print(f"{len(rows):5} {problem.id}: {rows[-1]['status']}", flush=True)
    if shares == 1:
        write_tables(args.out, rows)
        if args.values is not None:
            write_tables(args.values, rows, VALUES)
        proven = sum(row["status"] == "optimal" for row in rows)
        print(f"{len(rows):,} problems, {proven:,} proven; see {args.out / 'README.md'}")
