"""The tables of docs/field.md, made from their file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
LOWER_HEAD = (
    "tool", "chip", "layer", "objective", "ours over theirs", "in a larger space", "its name",
    "least space of theirs", "their mapping",
)  # fmt: skip


def table_text(rows: Sequence[Row]) -> str:
    """Both tables in Markdown: a line a tool and objective, and a line a case with theirs lower."""
    groups = groupby(rows, key=itemgetter("tool", "objective"))
    summed = [_summed(*key, list(group)) for key, group in groups]
    lower = [_lower(row) for row in rows if row["ratio"] and least_ratio(row) > SAME]
    return _table(HEAD, summed) + "\n" + _table(LOWER_HEAD, lower)


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


def _lower(row: Row) -> list[str]:
    names = ("tool", "chip", "layer", "objective", "ratio")
    wide = f"{float(row['wide']) / float(row['theirs']):.4f}"
    return [*(row[name] for name in names), wide, row["wide_space"], row["space"], row["why"]]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"
