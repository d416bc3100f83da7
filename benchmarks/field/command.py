"""``python -m benchmarks field``: other tools' mappers beside ours, on the same problems.

    python -m benchmarks field --make                   # environments of all tools, once
    python -m benchmarks field --out docs/data/field.csv
    python -m benchmarks field --tools accelforge --cases edge/bert_base.0/edp
    python -m benchmarks field --table --out docs/data/field.csv

A row a tool and case; a row that the file has is kept. A row is both answers' energy [nJ], latency
[cycles] or their product, by both models, and processor times [s] of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.field.accelforge import AccelForge
from benchmarks.field.answer import Tool, ToolError
from benchmarks.field.cases import CASES, OBJECTIVES, FieldCase
from benchmarks.field.environments import HOME, asked, python_of
from benchmarks.field.factorflow import FactorFlow
from benchmarks.field.gamma import Gamma, gamma_row
from benchmarks.field.row import COLUMNS, named, row_of
from benchmarks.field.table import table_text
from benchmarks.field.zigzag import ZigZag
from benchmarks.frame import known, write

TOOLS: dict[str, Callable[[argparse.Namespace], Tool]] = {
    "accelforge": lambda args: AccelForge(),
    "zigzag-loma": lambda args: ZigZag("loma"),
    "zigzag-salsa": lambda args: ZigZag("salsa"),
    "factorflow": lambda args: FactorFlow(args.factorflow),
    "gamma": lambda args: Gamma(args.gamma, args.maestro),
}
JUDGES: dict[str, Callable[..., dict[str, Any]]] = {"gamma": gamma_row}
"""What makes a row of an answer, where the exact model does not price it."""
NAMES = tuple(case.name for case in CASES)


def main(words: list[str]) -> None:
    """Ask the mappers what is not yet in the table."""
    parser = argparse.ArgumentParser("python -m benchmarks field", description=__doc__)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=[*TOOLS], metavar="TOOL")
    parser.add_argument("--cases", nargs="+", choices=NAMES, default=NAMES, metavar="CASE")
    parser.add_argument("--make", action="store_true", help="make the environments, no rows")
    parser.add_argument("--table", action="store_true", help="print the table of docs/field.md")
    parser.add_argument("--home", type=Path, default=HOME, help="folder of environments and files")
    parser.add_argument("--limit", type=int, default=300, help="processor time of a mapper [s]")
    parser.add_argument("--factorflow", type=Path, default=Path("FactorFlow"), help="its checkout")
    parser.add_argument("--gamma", type=Path, default=Path("gamma"), help="its checkout")
    parser.add_argument("--maestro", type=Path, default=Path("maestro"), help="its program")
    parser.add_argument("--out", type=Path, help="the table; its rows are kept")
    args = parser.parse_args(words)
    rows = known(args.out)
    if args.table:
        print(table_text(rows), end="")
        return
    done = {(row["tool"], case_of(row)) for row in rows}
    tools = [TOOLS[name](args) for name in args.tools]
    try:
        pythons = [python_of(tool, args.home, make=args.make) for tool in tools]
    except ToolError as error:
        parser.exit(1, f"{error}\n")
    for case in () if args.make else CASES:
        for tool, python in zip(tools, pythons, strict=True):
            if case.name not in args.cases or (tool.name, case.name) in done:
                continue
            rows.append(asked_row(tool, case, python, args))
            print(" ".join(f"{rows[-1][name]}" for name in COLUMNS), flush=True)
            if args.out is not None:
                write(args.out, COLUMNS, sorted(rows, key=place))


def asked_row(tool: Tool, case: FieldCase, python: str, args: argparse.Namespace) -> dict[str, Any]:
    """The row of a tool on a case."""
    folder = args.home / "cases" / tool.name / case.name.replace("/", "-")
    try:
        said = asked(tool, case, python, folder, args.limit)
        judged = JUDGES.get(tool.name, row_of)(tool, case, said, python)
    except ToolError as error:
        judged = {"why": str(error)}
    return named(tool, case) | judged


def case_of(row: dict[str, Any]) -> str:
    """The case of a row, as ``--cases`` takes it."""
    return "/".join(row[name] for name in ("chip", "layer", "objective"))


def place(row: dict[str, Any]) -> tuple[int, int, int]:
    """Where a row stands in the table: by tool, objective and case."""
    objective = OBJECTIVES.index(row["objective"])
    return [*TOOLS].index(row["tool"]), objective, NAMES.index(case_of(row))
