"""``python -m benchmarks field``: other tools' mappers beside ours, on the same problems.

    python -m benchmarks field --make                   # environments of all tools, once
    python -m benchmarks field --out docs/data/field.csv
    python -m benchmarks field --tools accelforge --cases edge/bert_base.0/edp
    python -m benchmarks field --table --out docs/data/field.csv

A row a tool and case is both answers' energy [nJ], latency
[cycles] or their product, by both models, and processor times [s] of one core.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.export_rules import Node
from benchmarks.field.accelforge import AccelForge
from benchmarks.field.answer import MappingTool, Tool, ToolError
from benchmarks.field.cases import CASES, OBJECTIVES, FieldCase
from benchmarks.field.factorflow import FactorFlow
from benchmarks.field.gamma import Gamma, gamma_row
from benchmarks.field.row import COLUMNS, row_of, table_text
from benchmarks.field.timeloop import Timeloop
from benchmarks.field.zigzag import ZigZag
from benchmarks.frame import Row, Table, known, refuse, write

HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "marl-mapper-field"
SAID = "said.json"


def python_of(tool: Tool, home: Path, make: bool = True) -> str:
    """The Python of a tool's environment, made where there is none.

    Args:
        tool: The tool.
        home: Folder of all environments.
        make: Whether to make one; without it, no package is asked for.

    Raises:
        ToolError: There is no such Python, or a package can't be installed.
    """
    folder = home / "-".join((*tool.packages, tool.python)).replace("=", "")
    python = folder / "bin" / "python"
    if python.exists() or not make:
        return str(python)
    base = shutil.which(f"python{tool.python}")
    if base is None:
        raise ToolError(f"{tool.name}: needs Python {tool.python} on the path, which is not there")
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    said = _run([base, "-m", "venv", str(draft)]) or _run(
        [str(draft / "bin" / "python"), "-m", "pip", "install", "--quiet", *tool.packages]
    )
    if said:
        shutil.rmtree(draft, ignore_errors=True)
        raise ToolError(f"{tool.name}: its environment can't be made: {said}")
    draft.rename(folder)
    return str(python)


def _run(words: list[str]) -> str:
    """What a command that fails says last; nothing where it succeeds."""
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else (run.stderr.strip().splitlines() or ["it failed"])[-1]


def asked(tool: Tool, case: FieldCase, python: str, folder: Path, limit_s: int) -> Node:
    """What a mapper says of a case; taken from the folder where it has been asked before.

    Args:
        tool: The tool.
        case: The case.
        python: The Python of its environment.
        folder: Where its files go.
        limit_s: Processor time after which it is stopped [s].

    Raises:
        ToolError: It gave no answer.
    """
    kept = folder / SAID
    if kept.is_file():
        said: Node = json.loads(kept.read_text(encoding="utf-8"))
        return said
    folder.mkdir(parents=True, exist_ok=True)
    tool.state(case, folder)

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))

    try:
        run = subprocess.run(
            tool.command(python, folder, *tool.words(case.objective)),
            capture_output=True,
            text=True,
            cwd=folder,
            preexec_fn=bounded,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{tool.name}: {error}") from None
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode or not lines:
        if run.returncode < 0:
            raise ToolError(f"no answer in {limit_s} s of processor time")
        raise ToolError((run.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    kept.write_text(lines[-1] + "\n", encoding="utf-8")
    answered: Node = json.loads(lines[-1])
    return answered


TOOLS: dict[str, Callable[[Any], Tool]] = {
    "accelforge": lambda given: AccelForge(),
    "zigzag-loma": lambda given: ZigZag("loma"),
    "zigzag-salsa": lambda given: ZigZag("salsa"),
    "factorflow": lambda given: FactorFlow(given.factorflow),
    "timeloop": lambda given: Timeloop(given.timeloop),
    "gamma": lambda given: Gamma(given.gamma, given.maestro),
}
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
        if isinstance(tool, MappingTool):
            return row_of(tool, case, said, python)
        return gamma_row(case, said)
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
