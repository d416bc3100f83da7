"""The table of docs/field.md, made from its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

HEAD = (
    "tool", "chip", "layer", "theirs, its model", "theirs, ours", "our default space", "bound",
    "ours over theirs", "ours whole, its model", "CPU s: theirs", "ours", "least space",
    "why",
)  # fmt: skip
FIELDS = (
    "tool", "chip", "layer", "tool_nj", "tool_by_ours_nj", "ours_nj", "ours_bound_nj", "ratio",
    "whole_by_tool_nj", "tool_cpu_s", "ours_cpu_s", "space", "why",
)  # fmt: skip


def table_text(rows: Iterable[Mapping[str, str]]) -> str:
    """The table in Markdown; energies in uJ."""
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for row in rows:
        why = row["why"]
        if row["full_nj"]:
            found = [_short(name, row[name]) for name in ("uneven_nj", "full_nj")]
            why += "; ours: {} `uneven`, {} `full`".format(*found)
        lines.append(_line([*(_short(name, row[name]) for name in FIELDS[:-1]), why]))
    return "\n".join(lines) + "\n"


def _short(name: str, text: str) -> str:
    if name.endswith("_nj") and text:
        return f"{float(text) / 1000:,.2f}"
    return f"{float(text):.4f}" if name == "ratio" and text else text


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
