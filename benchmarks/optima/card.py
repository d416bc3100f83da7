"""The data card: README.md for people, croissant.json (Croissant 1.0, JSON-LD) for programs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from benchmarks.optima.problems import DATA_VERSION

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
    lines = ["| chip | problems | proven | split |", "|---|---|---|---|"]
    solved = Counter(row["chip"] for row in proven)
    for chip, count in Counter(row["chip"] for row in rows).items():
        split = next(row["split_chip"] for row in rows if row["chip"] == chip)
        lines.append(f"| {chip} | {count} | {solved[chip]} | {split} |")
    return CARD.read_text(encoding="utf-8").format(
        version=DATA_VERSION,
        count=len(rows),
        proven=len(proven),
        open=len(rows) - len(proven),
        by_chip="\n".join(lines),
        empty=empty,
    )
