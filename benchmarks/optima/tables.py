"""The tables of the data set, its schema and its card."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from benchmarks.frame import grouped, markdown, write
from benchmarks.optima.problems import DATA_VERSION, StatedProblem
from marl_common import atomic_write

Row = Mapping[str, Any]
CROISSANT: dict[str, Any] = json.loads(Path(__file__).with_name("croissant.json").read_text())
"""The data card with all columns; the table's digest and the version are filled in."""
_COLUMNS = CROISSANT["recordSet"][0]["field"]
FIELDS = {one["name"]: (one["dataType"], one["description"]) for one in _COLUMNS}
"""Columns of the table: type and meaning."""
VALUES = tuple(FIELDS)[:16]
"""Columns that are kept in the repository; the others are built."""


def croissant(table: Path, names: Sequence[str]) -> dict[str, Any]:
    """The data card in Croissant's terms, of a table with some of the columns."""
    found = deepcopy(CROISSANT) | {"version": DATA_VERSION}
    found["distribution"][0]["sha256"] = hashlib.sha256(table.read_bytes()).hexdigest()
    found["recordSet"][0]["field"] = [one for one in _COLUMNS if one["name"] in names]
    return found


CARD = Path(__file__).with_name("card.md")


def card(rows: Sequence[Row], empty: int) -> str:
    """The data card for people."""
    proven = [row for row in rows if row["status"] == "optimal"]
    solved = Counter(row["chip"] for row in proven)
    chips = [
        {"chip": chip, "problems": len(own), "proven": solved[chip], "split": own[0]["split_chip"]}
        for chip, own in grouped(rows, "chip").items()
    ]
    return CARD.read_text(encoding="utf-8").format(
        version=DATA_VERSION,
        count=len(rows),
        proven=len(proven),
        open=len(rows) - len(proven),
        by_chip=markdown(chips),
        empty=empty,
    )


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
