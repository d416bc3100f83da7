"""``python -m benchmarks field``: other tools' mappers beside ours, on the same problems.

    python -m benchmarks field --make                   # environments of all tools, once
    python -m benchmarks field --out docs/data/field.csv
    python -m benchmarks field --tools accelforge --cases edge/bert_base.0

A row a tool and case; a row that the file has is kept. Rows are least energies [nJ], both answers
by both models, and processor times [s] of one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.chain_searchers import known, write
from benchmarks.field import accelforge
from benchmarks.field.answer import Tool
from benchmarks.field.cases import CASES
from benchmarks.field.environments import HOME, ToolError, asked, python_of
from benchmarks.field.row import COLUMNS, row_of, unanswered
from benchmarks.field.zigzag import ZigZag

TOOLS: dict[str, Tool] = {
    one.name: one for one in (accelforge.AccelForge(), ZigZag("loma"), ZigZag("salsa"))
}
NAMES = tuple(case.name for case in CASES)


def main(words: list[str]) -> None:
    """Ask the mappers what is not yet in the table."""
    parser = argparse.ArgumentParser("python -m benchmarks field", description=__doc__)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=[*TOOLS], metavar="TOOL")
    parser.add_argument("--cases", nargs="+", choices=NAMES, default=NAMES, metavar="CASE")
    parser.add_argument("--make", action="store_true", help="make the environments, no rows")
    parser.add_argument("--home", type=Path, default=HOME, help="folder of environments and files")
    parser.add_argument("--limit", type=int, default=300, help="processor time of a mapper [s]")
    parser.add_argument("--out", type=Path, help="the table; its rows are kept")
    args = parser.parse_args(words)
    rows = known(args.out)
    done = {(row["tool"], f"{row['chip']}/{row['layer']}") for row in rows}
    for tool in (TOOLS[name] for name in args.tools):
        try:
            python = python_of(tool, args.home, make=args.make)
        except ToolError as error:
            parser.exit(1, f"{error}\n")
        for case in CASES:
            if args.make or case.name not in args.cases or (tool.name, case.name) in done:
                continue
            folder = args.home / "cases" / tool.name / case.name.replace("/", "-")
            try:
                answer = tool.read(case, asked(tool, case, python, folder, args.limit))
                row = row_of(tool, case, answer, python)
            except ToolError as error:
                row = unanswered(tool, case, str(error))
            rows.append(row)
            print(" ".join(f"{row[name]}" for name in COLUMNS), flush=True)
            if args.out is not None:
                write(args.out, COLUMNS, rows)
