"""``python -m benchmarks field``: other tools' mappers beside ours, on the same problems.

    python -m benchmarks field --make                   # environments of all tools, once
    python -m benchmarks field --out docs/data/field.csv
    python -m benchmarks field --tools accelforge --cases edge/bert_base.0/edp
    python -m benchmarks field --table --out docs/data/field.csv

A row a tool and case is both answers' energy [nJ], latency
[cycles] or their product, by both models, and processor times [s] of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.field.accelforge import AccelForge
from benchmarks.field.answer import Tool, ToolError
from benchmarks.field.cases import CASES, OBJECTIVES, FieldCase
from benchmarks.field.environments import HOME, asked, python_of
from benchmarks.field.factorflow import FactorFlow
from benchmarks.field.gamma import Gamma, gamma_row
from benchmarks.field.row import COLUMNS, row_of, table_text
from benchmarks.field.timeloop import Timeloop
from benchmarks.field.zigzag import ZigZag
from benchmarks.frame import Row, Table, known, refuse, write

TOOLS: dict[str, Callable[[Any], Tool]] = {
    "accelforge": lambda given: AccelForge(),
    "zigzag-loma": lambda given: ZigZag("loma"),
    "zigzag-salsa": lambda given: ZigZag("salsa"),
    "factorflow": lambda given: FactorFlow(given.factorflow),
    "timeloop": lambda given: Timeloop(given.timeloop),
    "gamma": lambda given: Gamma(given.gamma, given.maestro),
}
JUDGES: dict[str, Callable[..., Row]] = {"gamma": gamma_row}
"""What makes a row of an answer, where the exact model does not price it."""
NAMES = tuple(case.name for case in CASES)


def pythons(given: Any) -> dict[str, str]:
    """The Python of each tool's environment."""
    try:
        return {
            name: python_of(TOOLS[name](given), given.home, make=given.make) for name in given.tools
        }
    except ToolError as error:
        refuse(str(error))


def keys(given: Any) -> Iterator[tuple[str, ...]]:
    """Every tool on every case, case by case."""
    given.pythons = pythons(given)
    for case, name in product((one for one in CASES if one.name in given.cases), given.tools):
        tool = TOOLS[name](given)
        if case.objective in tool.objectives:
            yield name, tool.version, *case.name.split("/")


def asked_row(given: Any, name: str, _: str, chip: str, layer: str, objective: str) -> Row:
    """The row of a tool on a case."""
    tool, python, case = TOOLS[name](given), given.pythons[name], FieldCase(layer, chip, objective)
    folder = given.home / "cases" / name / case.name.replace("/", "-")
    try:
        said = asked(tool, case, python, folder, given.limit)
        return JUDGES.get(name, row_of)(tool, case, said, python)
    except ToolError as error:
        return {"why": str(error)}


def place(row: Row) -> tuple[int, int, int]:
    """Where a row stands in the table: by tool, objective and case."""
    case = FieldCase(row["layer"], row["chip"], row["objective"])
    objective = OBJECTIVES.index(case.objective)
    return [*TOOLS].index(row["tool"]), objective, NAMES.index(case.name)


TABLE = Table(
    __doc__,
    COLUMNS,
    keys,
    asked_row,
    options={
        "tools": ([*TOOLS], None, TOOLS),
        "cases": (list(NAMES), "as edge/bert_base.0/edp"),
        "make": (False, "make the environments, no rows"),
        "table": (False, "print the table of docs/field.md"),
        "home": (HOME, "folder of environments and files"),
        "limit": (300, "processor time of a mapper [s]"),
        "factorflow": (Path("FactorFlow"), "its checkout"),
        "gamma": (Path("gamma"), "its checkout"),
        "maestro": (Path("maestro"), "its program"),
        "timeloop": (Path("timeloop/build"), "folder of its programs"),
    },
    told=lambda rows, given: write(given.out, COLUMNS, sorted(rows, key=place)),
    instead={
        "make": lambda given: not pythons(given),
        "table": lambda given: print(table_text(sorted(known(given.out), key=place)), end=""),
    },
)
