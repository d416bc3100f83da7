"""Tables and sentences on standard output: one style for every command."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from marl_common import engineering, printable
from marl_runs.table_layout import ALWAYS, GAP, Extent, TableLayout, fit, split

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 100_000
"""Columns a line may take where there is no terminal."""

FOLD = 16
"""Least width of a folded text."""

WORTH_FOLDING = 5
"""Columns of this `keep` and above leave only after names have folded."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Args:
        key: Key of its values in a row.
        title: What stands above it; by default the key.
        unit: Unit of its values, which are shown in engineering units (``""``: counted things
            without a unit); None shows them as they are.
        keep: Where the terminal is too narrow, columns of the least `keep` leave first; those with
            `ALWAYS` (names and ids) never do.
        fold: Whether its texts may take several lines.
        fold_keep: Its texts fold before columns of this `keep` leave; by default before it leaves.
        digits: Significant digits of values with a unit.
        right: Whether it stands right; None: where it holds numbers.
        blank: What stands where a row has no value.
    """

    key: str
    title: str = ""
    unit: str | None = None
    keep: int = 1
    fold: bool = False
    fold_keep: int | None = None
    digits: int = 3
    right: bool | None = None
    blank: str = "-"

    @classmethod
    def name(cls, key: str, title: str = "") -> Column:
        """A column of names: it never leaves, and folds before what is `WORTH_FOLDING` leaves."""
        return cls(key, title, keep=ALWAYS, fold=True, fold_keep=WORTH_FOLDING)

    @classmethod
    def lasting(cls, key: str, title: str = "", *, right: bool | None = None) -> Column:
        """A column that never leaves nor folds, such as an id."""
        return cls(key, title, keep=ALWAYS, right=right)

    @property
    def head(self) -> str:
        """What stands above it."""
        return printable(self.title or self.key)

    def text(self, row: Row) -> str:
        """The column's cell in a row."""
        value = row.get(self.key)
        if value is None:
            return self.blank
        if self.unit is None or isinstance(value, str):
            return shown(value)
        return engineering(value, self.unit, self.digits)


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error): colours on a terminal, plain text elsewhere."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def untrained(rows: Sequence[Row], cure: str) -> str:
    """A note on runs that ended without having learnt anything; empty where there is none.

    Args:
        rows: Rows with ``run`` and ``updates``.
        cure: What to change.
    """
    idle = [str(row["run"]) for row in rows if row.get("updates") == 0]
    return f"no update was made in run {', '.join(idle)}: {cure}" if idle else ""


def print_rows(
    title: str,
    rows: Sequence[Row],
    note: str = "",
    columns: Sequence[Column] = (),
    *,
    total: Row | None = None,
    below: bool = False,
    out: Console | None = None,
) -> None:
    """Print rows as a table that fits the terminal; elsewhere every column on one line.

    Numbers stand right and are never cut. Columns that a terminal has no room for leave by their
    `keep`, and a line below says which.

    Args:
        title: What stands above the table.
        rows: One mapping a row.
        note: What stands below it.
        columns: The columns; by default the keys of the first row, of which the first text never
            leaves, and of the others the last leaves first.
        total: A last row that sums the others up.
        below: Instead of leaving, columns go on in further tables below the first.
        out: Where to; standard output by default.
    """
    out = out or console()
    columns = columns or _undeclared(rows)
    whole = [*rows, total] if total is not None else list(rows)
    cells = [[column.text(row) for column in columns] for row in whole]
    room = out.width if out.is_terminal else PLAIN_WIDTH
    columns = [_kept(column, rows) for column in columns]
    extents = [_extent(column, [row[i] for row in cells]) for i, column in enumerate(columns)]
    layouts = split(extents, room) if below else [fit(extents, room)]
    right = [_right(column, whole) for column in columns]
    say(title, out)
    for number, layout in enumerate(layouts if columns else []):
        if number:
            say("", out)
        _draw(out, [column.head for column in columns], cells, right, layout, total is not None)
    left_out = set(range(len(columns))).difference(*(layout.columns for layout in layouts))
    if left_out:
        say(_absence([columns[place] for place in sorted(left_out)], rows), out)
    if note:
        say(note, out)


def say(text: str, out: Console | None = None) -> None:
    """Print sentences, broken between words where a terminal ends; see :func:`printable`."""
    from rich.text import Text

    out = out or console()
    lines = Text("\n".join(map(printable, text.split("\n"))))
    out.print(lines, soft_wrap=not out.is_terminal)


def tell(text: str) -> None:
    """Print sentences on standard error, as :func:`say` does on standard output."""
    say(text, console(stderr=True))


def shown(value: Any) -> str:
    """A value as text: thousands apart, six digits where it is no whole number."""
    if value is None:
        return "-"
    if not _is_number(value):
        return printable(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if abs(value) < 1e15 and float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if 1e3 <= abs(value) < 1e9 else f"{value:.6g}"


def _undeclared(rows: Sequence[Row]) -> list[Column]:
    """Columns of the rows' own keys: the first text stays, of the others the last leaves first."""
    keys = list(rows[0]) if rows else []
    texts = [key for key in keys if not all(_is_number(row.get(key)) for row in rows)]
    columns = []
    for place, key in enumerate(keys):
        if texts and key == texts[0]:
            columns.append(Column.name(key))
        else:
            fold = any(isinstance(row.get(key), str) for row in rows)
            columns.append(Column(key, keep=len(keys) - place, fold=fold))
    return columns


def _right(column: Column, rows: Sequence[Row]) -> bool:
    if column.right is not None:
        return column.right
    return any(_is_number(row.get(column.key)) for row in rows)


def _kept(column: Column, rows: Sequence[Row]) -> Column:
    """The column as it is kept: one that is all alike leaves first, for a line can say it."""
    alike = len(rows) > 1 and len({column.text(row) for row in rows}) == 1
    return replace(column, keep=column.keep - ALWAYS) if alike and column.keep < ALWAYS else column


def _extent(column: Column, cells: Sequence[str]) -> Extent:
    from rich.cells import cell_len

    return Extent(
        cell=max(map(cell_len, cells), default=0),
        head=cell_len(column.head),
        word=max(map(cell_len, column.head.split()), default=0),
        keep=column.keep,
        fold=FOLD if column.fold else None,
        fold_keep=column.fold_keep,
    )


def _draw(
    out: Console,
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    right: Sequence[bool],
    layout: TableLayout,
    total: bool,
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    plain = None if out.is_terminal else _plain([heads, *cells], right, layout)
    if plain is not None:
        say(plain, out)
        return
    rule = box.SIMPLE_HEAD if out.is_terminal else None  # it is one of the blank columns
    gap = GAP - (rule is not None)
    table = Table(box=rule, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
    for place, width in zip(layout.columns, layout.widths, strict=True):
        table.add_column(
            Text(heads[place]),
            justify="right" if right[place] else "left",
            width=width,
            overflow="fold",
        )
    for number, row in enumerate(cells):
        style = "bold" if total and number == len(cells) - 1 else ""
        table.add_row(*(Text(row[place]) for place in layout.columns), style=style)
    out.print(table, width=max(out.width, sum(layout.widths) + GAP * len(layout.widths)))


def _plain(rows: Sequence[Sequence[str]], right: Sequence[bool], layout: TableLayout) -> str | None:
    """Rows as lines, many times faster than `rich` draws them; None where a cell is folded."""
    from rich.cells import cell_len

    lines = []
    for row in rows:
        cells = []
        for place, width in zip(layout.columns, layout.widths, strict=True):
            cell = row[place]
            blank = " " * (width - cell_len(cell))
            if cell_len(cell) > width or not cell.isprintable():
                return None
            cells.append(blank + cell if right[place] else cell + blank)
        lines.append((" " * GAP).join(cells))
    return "\n".join(lines)


def _absence(gone: Sequence[Column], rows: Sequence[Row]) -> str:
    """Which columns the terminal has no room for; those that are all alike with their value."""
    texts = []
    for column in gone:
        values = {column.text(row) for row in rows}
        alike = f" ({values.pop()} everywhere)" if len(values) == 1 else ""
        texts.append(f"{column.head}{alike}")
    return f"no room for {', '.join(texts)}; a wider terminal or --json shows them"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
