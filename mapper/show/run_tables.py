"""The runs of a store: all in a table, or one with everything that is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marl_common import engineering, printable
from marl_runs import Column, print_rows

if TYPE_CHECKING:
    from marl_runs import StoredRun


def print_runs(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per run, oldest first.

    Args:
        rows: The fields of ``runs list --json``, and ``best``, the best value as a person reads it.
    """
    columns = [
        Column.lasting("id"),
        Column.name("name"),
        Column("status", keep=9),
        Column("best", keep=8, right=True),
        Column("samples", keep=4),
        Column("budget", keep=3),
        Column("cpu_s", "CPU", "s", keep=1),
        Column("started", keep=2),
    ]
    short = [  # such as 2026-05-17 09:30, of a time with seconds and zone
        {**row, "started": row["started"] and row["started"][:16].replace("T", " ")} for row in rows
    ]
    print_rows(f"{len(rows)} {'run' if len(rows) == 1 else 'runs'}", short, "", columns)


def print_run(details: Mapping[str, Any]) -> None:
    """Print one line per field; what is nested as JSON."""
    for name, value in details.items():
        text = json.dumps(value) if isinstance(value, dict | list) else value
        print(f"{name:<13} {'-' if text is None else printable(text)}")


def shown_best(run: StoredRun) -> str:
    """The best value with its unit; of training the mean reward, which is not minimised."""
    result = run.result or {}
    reward, unit = result.get("mean_reward"), result.get("unit")
    if isinstance(reward, int | float):
        return f"mean reward {engineering(reward)}"
    return engineering(run.best_value, unit if isinstance(unit, str) else "", digits=4)
