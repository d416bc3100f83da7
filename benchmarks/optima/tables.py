"""The tables of the data set, its schema and its card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.frame import write
from benchmarks.optima.card import FIELDS, Row, card, croissant
from benchmarks.optima.statement import StatedProblem
from marl_common import atomic_write

ALL = tuple(FIELDS)
EMPTY = "empty"
"""Status of a problem that has no mapping: it has no row."""


def write_tables(folder: Path, found: Sequence[Row], columns: Sequence[str] = ALL) -> None:
    """Write table, schema and data card.

    Args:
        folder: Where to.
        found: Rows of all problems, those without a mapping too.
        columns: The columns of the table; all of them are also written as Parquet.
    """
    rows = [row for row in found if row["status"] != EMPTY]
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "optima.csv"
    write(table, columns, ({name: row.get(name, "") for name in columns} for row in rows))
    if columns == ALL:
        write_parquet(folder / "optima.parquet", rows)
    schema = json.dumps(StatedProblem.model_json_schema(), indent=1)
    write_text(folder / "problem.schema.json", schema + "\n")
    write_text(folder / "croissant.json", json.dumps(croissant(table, columns), indent=1) + "\n")
    write_text(folder / "README.md", card(rows, len(found) - len(rows)))


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write all columns, typed as the data card says."""
    import pyarrow
    import pyarrow.parquet

    kinds: dict[str, Any] = {
        "sc:Text": pyarrow.string(),
        "sc:Float": pyarrow.float64(),
        "sc:Integer": pyarrow.int64(),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, (kind, _) in FIELDS.items()])
    lists = {name: [row.get(name) for row in rows] for name in FIELDS}
    with atomic_write(path) as draft:
        pyarrow.parquet.write_table(pyarrow.table(lists, schema=schema), draft)


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    with atomic_write(path) as draft:
        Path(draft).write_text(text, encoding="utf-8")
