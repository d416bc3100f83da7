"""The table of docs/field.md, made from its file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import median

Row = Mapping[str, str]
SAME = 1.0001
"""Ours over theirs up to which ours is as low."""
HEAD = (
    "tool", "objective", "cases", "none", "ours as low or lower", "in a larger space too", "proven",
    "ours over theirs: least", "median", "most", "CPU s: theirs", "ours",
)  # fmt: skip


def table_text(rows: Sequence[Row]) -> str:
    """The table in Markdown, a line a tool and objective."""
    groups = groupby(rows, key=itemgetter("tool", "objective"))
    lines = (HEAD, ["---"] * len(HEAD), *(_summed(*key, list(group)) for key, group in groups))
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def least_ratio(row: Row) -> float:
    """Ours over theirs, in the larger spaces where they were searched."""
    wide = float(row["wide"]) / float(row["theirs"]) if row["wide"] else math.inf
    return min(float(row["ratio"]), wide)


def _summed(tool: str, objective: str, rows: Sequence[Row]) -> list[str]:
    answered = [row for row in rows if row["ratio"]]
    ratios = [float(row["ratio"]) for row in answered]
    as_low = (sum(one <= SAME for one in found) for found in (ratios, map(least_ratio, answered)))
    proven = sum(row["bound"] == row["ours"] != "" for row in rows)
    found = [tool, objective, *map(str, (len(rows), len(rows) - len(ratios), *as_low, proven))]
    if not ratios:
        return [*found, *[""] * 5]
    times = [
        f"{median(float(row[name]) for row in answered):.1f}"
        for name in ("theirs_cpu_s", "ours_cpu_s")
    ]
    return [*found, *(f"{one(ratios):.3f}" for one in (min, median, max)), *times]
