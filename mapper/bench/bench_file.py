"""The result file of ``mapper bench``: every search of one searcher, as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from maestro_env import bench_digest
from mapper.bench.bench_run import BenchError
from marl_common import (
    Count,
    Positive,
    Text,
    brief,
    expected,
    parse_record,
    read_fields,
    read_text,
    write_text,
)
from marl_runs import made_with, plain

FORMAT = "marl-mapper bench"
VERSION = 1
SAMPLES = (100, 1_000, 10_000)
"""Budgets, the same for all searchers."""
Task = Literal["100", "1000", "10000", "1 s"]
TASKS: tuple[Task, ...] = ("100", "1000", "10000", "1 s")
TIMED: Task = "1 s"
"""Where a searcher has the samples that it takes in a second of processor time."""
SECONDS = 1.0
MOST_TIMED = 10_000_000
Option = Annotated[bool | int | float | Text, expected("true, false, a number or a text")]


class _BenchFields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SearcherFields(_BenchFields):
    """The searcher."""

    name: Text
    options: dict[Text, Option] = {}
    label: Text


class BenchRow(_BenchFields):
    """One search; no value and no action where it found no mapping."""

    problem: Annotated[int, Field(ge=1, le=30)]
    task: Annotated[Task, expected(f"one of {', '.join(TASKS)}")]
    seed: Count
    budget: Count
    samples: Count
    cpu_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    value: Positive | None
    action: Annotated[list[Count], expected("whole numbers of at least 0")] | None


class BenchFile(_BenchFields):
    """A result file; `sha256` is of all that stands in it besides."""

    format: Text
    version: Count
    problems: Text
    searcher: SearcherFields
    seeds: Annotated[int, Field(ge=1, le=10_000), expected("a whole number of at least 1")]
    rows: Sequence[BenchRow]
    versions: dict[Text, Text]
    command: Text
    sha256: Text

    def of(self, task: str, problem: int) -> list[BenchRow]:
        """The searches of a problem by one task, a seed each."""
        return [row for row in self.rows if (row.task, row.problem) == (task, problem)]


def timed_budget(rows: Sequence[BenchRow]) -> int:
    """Samples that a searcher takes in `SECONDS`, by its searches of the largest budget."""
    samples, seconds = sum(row.samples for row in rows), sum(row.cpu_s for row in rows)
    if not samples or not seconds:
        return max(SAMPLES)
    return max(1, min(MOST_TIMED, round(SECONDS * samples / seconds)))


def make_file(searcher: SearcherFields, seeds: int, rows: Sequence[BenchRow]) -> BenchFile:
    """A result file of finished searches."""
    made = made_with()
    data = {
        "format": FORMAT,
        "version": VERSION,
        "problems": bench_digest(),
        "searcher": searcher.model_dump(),
        "seeds": seeds,
        "rows": [row.model_dump() for row in rows],
        "versions": {str(name): str(version) for name, version in made.versions.items()},
        "command": made.command,
    }
    return BenchFile.model_validate(plain(data) | {"sha256": digest(plain(data))})


def digest(data: dict[str, Any]) -> str:
    """The digest of a file's members but for itself."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def write_file(path: Path, found: BenchFile) -> None:
    """Write a result file, whole or not at all; a line a search."""
    data = found.model_dump()
    rows = ",\n".join(json.dumps(row) for row in data.pop("rows"))
    head = json.dumps(data, indent=1).removesuffix("\n}")
    write_text(path, f'{head},\n "rows": [\n{rows}\n]}}\n')


def read_file(path: Path) -> BenchFile:
    """Read a result file; that it is as it was written is checked, not that it holds.

    Raises:
        BenchError: It is missing, damaged, edited, of another version, or no result file.
    """
    data = parse_record(read_text(path, BenchError, "a result file"), str(path), BenchError)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BenchError(f"{path}: expected the format {FORMAT!r}; write it with mapper bench")
    for name, known in (("version", VERSION), ("problems", bench_digest())):
        if data.get(name) != known or type(data[name]) is not type(known):
            raise BenchError(
                f"{path}: {name} is {brief(data.get(name))}, expected {known!r}; use the program "
                "that wrote it, or run mapper bench again"
            )
    found = read_fields(BenchFile, data, str(path), BenchError)
    if digest(data) != found.sha256:
        raise BenchError(
            f"{path}: edited: its sha256 is not that of its members; run mapper bench again"
        )
    return found
