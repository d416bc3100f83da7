"""The tables of docs/field.md, made from their file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import median

Row = Mapping[str, str]
SAME = 1.0001
"""Ours over theirs up to which ours is as low."""
HEAD = (
    "tool", "objective", "cases", "none", "ours as low or lower", "proven",
    "ours over theirs: least", "median", "most", "CPU s: theirs", "ours",
)  # fmt: skip
LOWER_HEAD = (
    "tool", "chip", "layer", "objective", "ours over theirs", "least space", "`uneven`", "`full`",
    "their mapping",
)  # fmt: skip


def table_text(rows: Sequence[Row]) -> str:
    """Both tables in Markdown: a line a tool and objective, and a line a case with theirs lower."""
    groups = groupby(rows, key=itemgetter("tool", "objective"))
    summed = [_summed(*key, list(group)) for key, group in groups]
    lower = [_lower(row) for row in rows if row["ratio"] and float(row["ratio"]) > SAME]
    return _table(HEAD, summed) + "\n" + _table(LOWER_HEAD, lower)


def _summed(tool: str, objective: str, rows: Sequence[Row]) -> list[str]:
    ratios = [float(row["ratio"]) for row in rows if row["ratio"]]
    proven = sum(row["bound"] == row["ours"] != "" for row in rows)
    counts = len(rows), len(rows) - len(ratios), sum(one <= SAME for one in ratios), proven
    found = [tool, objective, *map(str, counts)]
    if not ratios:
        return [*found, *[""] * 5]
    times = [
        f"{median(float(row[name]) for row in rows if row['ratio']):.1f}"
        for name in ("theirs_cpu_s", "ours_cpu_s")
    ]
    return [*found, *(f"{one(ratios):.3f}" for one in (min, median, max)), *times]


def _lower(row: Row) -> list[str]:
    named = [row[name] for name in ("tool", "chip", "layer", "objective", "ratio", "space")]
    others = [f"{float(row[name]) / float(row['theirs']):.4f}" for name in ("uneven", "full")]
    return [*named, *others, row["why"]]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"
