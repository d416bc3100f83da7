"""Reading the data files of this package."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a data file by column; lines that begin with # are its source."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def column(rows: tuple[dict[str, str], ...], name: str) -> list[float]:
    """A column as numbers."""
    return [float(row[name]) for row in rows]
