"""A table as HTML, as notebooks show it: everything escaped, the page's own colours kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_LINE = "1px solid color-mix(in srgb, currentColor 25%, transparent)"
_CELL = f"padding:2px 14px 2px 0;border-bottom:{_LINE};background:none"


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], text: str = "") -> str:
    """Write a table, and a preformatted text below it.

    Args:
        header: Names of the columns; empty for no such row.
        rows: Cells as text, first column left, the others right.
        text: What stands below, line by line; nothing where it is empty.

    Returns:
        HTML without scripts, links or colours of its own: readable on light and dark pages.
    """
    parts = [f'<div style="overflow-x:auto"><table style="{_TABLE}">']
    if header:
        parts.append(f"<thead>{_row('th', header)}</thead>")
    parts += ["<tbody>", *(_row("td", row) for row in rows), "</tbody></table>"]
    if text:
        parts.append(f'<pre style="background:none;color:inherit">{escape(text)}</pre>')
    return "".join([*parts, "</div>"])


def _row(tag: str, cells: Sequence[str]) -> str:
    aligned = ("left", *["right"] * (len(cells) - 1))
    written = (
        f'<{tag} style="{_CELL};text-align:{side}">{escape(cell)}</{tag}>'
        for cell, side in zip(cells, aligned, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"
