"""The runs of a store: all in a table, or one with everything that is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from common import printable
from runs import ALWAYS, Column, print_rows


def print_runs(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per run, oldest first; `rows` hold the fields of ``runs list --json``."""
    columns = [
        Column("id", keep=ALWAYS),
        Column.name("name"),
        Column("status", keep=9),
        Column("best_value", "best", keep=8),
        Column("samples", keep=7),
        Column("budget", keep=3),
        Column("cpu_s", "CPU", "s", keep=4),
        Column("started", keep=2),
    ]
    short = [{**row, "started": _minute(row["started"])} for row in rows]
    print_rows(f"{len(rows)} {'run' if len(rows) == 1 else 'runs'}", short, "", columns)


def print_run(details: Mapping[str, Any]) -> None:
    """Print one line per field; what is nested as JSON."""
    for name, value in details.items():
        text = json.dumps(value) if isinstance(value, dict | list) else value
        print(f"{name:<13} {'-' if text is None else printable(text)}")


def _minute(time: str | None) -> str | None:
    """Such as ``2026-05-17 09:30`` of a time with seconds and zone."""
    return None if time is None else time[:16].replace("T", " ")
