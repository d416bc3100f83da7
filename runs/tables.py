"""Tables and JSON on standard output."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runs.json_values import plain

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 1000
"""Columns a table may take where there is no terminal."""


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error): colours on a terminal, plain text elsewhere."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False)


def print_rows(title: str, rows: Sequence[Mapping[str, Any]], note: str = "") -> None:
    """Print rows that share their keys as a table; numbers stand right, with thousands apart."""
    from rich import box
    from rich.table import Table

    out = console()
    terminal = out.is_terminal
    table = Table(
        box=box.SIMPLE if terminal else None, pad_edge=False, padding=(0, 2, 0, 0), expand=False
    )
    for key in rows[0] if rows else ():
        numeric = any(_is_number(row[key]) for row in rows)
        table.add_column(key, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(shown(value) for value in row.values()))
    out.print(title, markup=False)
    out.print(table)
    if note:
        out.print(note, markup=False)


def shown(value: Any) -> str:
    """A value as text: thousands apart, six digits where it is no whole number."""
    if value is None:
        return "-"
    if not _is_number(value):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if abs(value) < 1e15 and float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if 1e3 <= abs(value) < 1e9 else f"{value:.6g}"


def print_json(value: Any) -> None:
    """Print a value as JSON, alone on standard output."""
    print(json_text(value))


def json_text(value: Any) -> str:
    """The value as JSON, indented; a list of plain values stays on one line."""
    text = json.dumps(plain(value), indent=2, allow_nan=False)
    return re.sub(r"\[\n([^\[\]{}\"]*?)\n\s*\]", _on_one_line, text)


def _on_one_line(match: re.Match[str]) -> str:
    return f"[{' '.join(match[1].split())}]"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
