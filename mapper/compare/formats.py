"""Tables as text for a terminal, Markdown, CSV, JSON and LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from mapper.compare.entry import ComparedRun
from mapper.compare.result_tables import TextTable, gap_tables, make_tables
from mapper.compare.summary import Summary

MORE = "Values, samples, effort, intervals: add --verbose"


def as_terminal(summaries: Sequence[Summary], every: bool = False) -> str:
    """Tables that fit the terminal: layers it has no room for go on below.

    Args:
        summaries: The boards.
        every: Whether the other tables follow those of the gaps.
    """
    from marl_runs import Column, console, print_rows

    tables = [table for summary in summaries for table in gap_tables(summary)]
    if every:
        gaps = {table.title for table in tables}
        tables += [table for table in _all_tables(summaries) if table.title not in gaps]
    out = console()
    with out.capture() as text:
        for table in tables:
            columns = [Column.name("0", table.header[0])]
            columns += [
                Column(str(place), name, right=True, fold=True)
                for place, name in enumerate(table.header[1:], 1)
            ]
            rows = [{str(place): cell for place, cell in enumerate(row)} for row in table.rows]
            notes = "\n".join((*table.notes, ""))
            print_rows(table.title, rows, notes, columns, below=True, out=out)
    return text.get().strip("\n") + ("" if every else f"\n\n{MORE}")


def as_markdown(summaries: Sequence[Summary]) -> str:
    """Tables as GitHub writes them."""
    blocks = []
    for table in _all_tables(summaries):
        lines = [f"**{table.title}**", "", _bar(table.header)]
        lines.append(_bar(["---", *["---:"] * (len(table.header) - 1)]))
        lines += [_bar(row) for row in table.rows]
        blocks.append("\n".join([*lines, *(f"\n{note}" for note in table.notes)]))
    return "\n\n".join(blocks)


def as_latex(summaries: Sequence[Summary]) -> str:
    """Tables for the package booktabs."""
    blocks = []
    for table in _all_tables(summaries):
        columns = "l" + "r" * (len(table.header) - 1)
        caption = " ".join([table.title + ".", *table.notes])
        lines = [
            r"\begin{table}",
            rf"  \caption{{{_tex(caption)}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            _tex_row(table.header),
            r"    \midrule",
            *(_tex_row(row) for row in table.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
        blocks.append("\n".join(lines))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(blocks)


def as_csv(summaries: Sequence[Summary]) -> str:
    """One line for each method on each case, with all its figures as numbers."""
    stream = io.StringIO()
    rows = [row for summary in summaries for row in cell_rows(summary)]
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().rstrip("\n")


def as_json(summaries: Sequence[Summary]) -> str:
    """One object for each finished search."""
    records = [
        record(summary, entry)
        for summary in summaries
        for entry in summary.entries
        if entry.finished
    ]
    return json.dumps(records, indent=1)


def record(summary: Summary, entry: ComparedRun) -> dict[str, Any]:
    """A finished search; `best` and `samples_to_target` are null where there is none."""
    return {
        "cost_model": entry.board.cost_model,
        "accelerator": entry.board.accelerator,
        "layer": entry.case.layer,
        "objective": entry.case.objective,
        "method": entry.method,
        "seed": entry.seed,
        "budget": entry.board.budget,
        "samples": entry.samples,
        "best": entry.best,
        "samples_to_target": summary.samples_to_target(entry),
        "cpu_s": entry.cpu_s,
        "curve": [list(point) for point in entry.curve],
    }


def cell_rows(summary: Summary) -> list[dict[str, Any]]:
    """The figures of every cell, by name; empty where there is none, ``inf`` where never."""
    rows = []
    for case in summary.cases:
        floor = summary.floor(case)
        for method in summary.methods:
            cell = summary.cell(case, method)
            rows.append(
                {
                    "cost_model": summary.board.cost_model,
                    "accelerator": summary.board.accelerator,
                    "objective": case.objective,
                    "layer": case.layer,
                    "method": method,
                    "budget": summary.board.budget,
                    "seeds": len(cell.entries),
                    "finished": len(cell.finished),
                    "median": cell.median,
                    "ratio": summary.ratio(case, method),
                    "reference": summary.reference,
                    "gap": summary.gap(case, method),
                    "gap_to": None if floor is None else floor[1],
                    "samples": cell.samples,
                    "samples_to_target": cell.to_target,
                    "reached_target": cell.reached,
                    "cpu_s": cell.cpu_s,
                    "lacking": cell.lack,
                }
            )
    return rows


FORMATS: dict[str, Callable[[Sequence[Summary]], str]] = {
    "table": as_terminal,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
    "latex": as_latex,
}
"""What ``--format`` takes."""


def _all_tables(summaries: Sequence[Summary]) -> list[TextTable]:
    return [table for summary in summaries for table in make_tables(summary)]


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _tex_row(cells: Sequence[str]) -> str:
    return "    " + " & ".join(_tex(cell) for cell in cells) + r" \\"


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    special |= {char: "\\" + char for char in "&%$#_{}"}
    return "".join(special.get(char, char) for char in text)
