"""``python -m benchmarks optima --out FOLDER``: build the data set; the same command goes on.

    python -m benchmarks optima --out optima                # all problems, then the tables
    python -m benchmarks optima --out optima --part 0/2     # a share of the problems, no tables
    python -m benchmarks optima --out optima --quick        # the first 20 problems
    python -m benchmarks optima --out optima --values docs/data/optima

Every certificate is checked as `mapper validate --certificate` does before its row is kept.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from benchmarks.frame import asked, share_of
from benchmarks.optima.problems import problems
from benchmarks.optima.solving import VALUES, solved, write_tables

QUICK = 20


def main() -> None:
    """Solve what is open, and write tables, schema and data card."""
    given = asked(
        __doc__,
        out=(Path("optima"), "folder of the data set"),
        part=(share_of, "which share of the problems, of how many"),
        quick=(False, f"the first {QUICK} problems alone"),
        values=(Path, "folder for a table of values alone"),
    )
    share, shares = given.part or (0, 1)
    rows = []
    for problem in islice(problems(), share, QUICK if given.quick else None, shares):
        rows.append(solved(problem, given.out))
        print(f"{len(rows):5} {problem.id}: {rows[-1]['status']}", flush=True)
    if shares == 1:
        write_tables(given.out, rows)
        if given.values is not None:
            write_tables(given.values, rows, VALUES)
        proven = sum(row["status"] == "optimal" for row in rows)
        print(f"{len(rows):,} problems, {proven:,} proven; see {given.out / 'README.md'}")
