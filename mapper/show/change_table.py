"""What differs between two mappings, as a table."""

from __future__ import annotations

import math
from typing import Any

from maestro_env import Objective
from mapper.explaining.mapping_changes import Changes
from marl_common import engineering
from marl_runs import Column, print_rows, say

FIGURES = (("latency_cycles", "cycles"), ("energy_nj", "nJ"))


def print_changes(names: tuple[str, str], found: Changes, objective: str) -> None:
    """Print what each mapping costs, and a row for each part in which they differ.

    Args:
        names: What the mappings are called.
        found: What differs.
        objective: By which parts were priced.
    """
    minimised = Objective.parse(objective)
    first, second = found.values
    for name, value, cost in zip(names, found.values, found.costs, strict=True):
        if cost.infeasible is not None:
            say(f"{name}: {cost.infeasible}")
            continue
        figures = ", ".join(engineering(getattr(cost, f), unit, 4) for f, unit in FIGURES)
        say(f"{name}: {minimised.name} {engineering(value, minimised.unit, 4)}; {figures}")
    if not found.changes:
        say("the two mappings are the same")
        return
    if math.isfinite(first) and math.isfinite(second):
        say(f"second beside first: {_change(second, first)}")
    say("")
    rows = [
        {
            "part": change.part,
            "first": _cell(change.first),
            "second": _cell(change.second),
            "alone": _change(change.value, first) if not change.why else "does not fit",
        }
        for change in found.changes
    ]
    columns = [
        Column.name("part"),
        Column("first", right=True),
        Column("second", right=True),
        Column("alone", f"{minimised.name} of the first with it", right=True),
    ]
    print_rows(f"{len(rows)} differences", rows, "", columns)
    for change in found.changes:
        if change.why:
            say(f"{change.part}: {change.why}")


def _change(value: float, base: float) -> str:
    return f"{100 * (value / base - 1):+,.1f} %" if math.isfinite(base) else "-"


def _cell(value: Any) -> str:
    """A part as its file has it."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return " ".join(f"{name}={_cell(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value)) or "none"
    return str(value)
