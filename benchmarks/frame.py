"""What benchmarks share: options as a list, tables as files, and a table that is gone on with."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from marl_common import atomic_write

DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
Row = dict[str, Any]
Name = TypeVar("Name")
OneRow = TypeVar("OneRow", bound=Mapping[str, Any])
FEW = 2
"""Rows of a table under `--quick`."""


def asked(doc: str | None, **options: Any) -> argparse.Namespace:
    """Read the command line.

    Args:
        doc: Docstring of the benchmark.
        options: Of each option the default, or ``(default, help)`` or ``(default, help, choices)``.
            A type stands for no default, False for a flag, a list for several values, and a name
            that ends in ``_`` for words without a name; ``--csv`` is ``--out``, too.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, option in options.items():
        default, *more = option if isinstance(option, tuple) else (option,)
        how: dict[str, Any] = dict(zip(("help", "choices"), more, strict=False))
        one = (default or [str])[0] if isinstance(default, list) else default
        if default is False:
            how["action"] = "store_true"
        elif callable(one):
            how |= {"type": one, "default": [] if isinstance(default, list) else None}
        else:
            how |= {"type": type(one), "default": default}
        if isinstance(default, list):
            how["nargs"] = "*"
        flags = ["--" + name.replace("_", "-")] + ["--csv"] * (name == "out")
        parser.add_argument(*([name[:-1]] if name.endswith("_") else flags), **how)
    return parser.parse_args()


def share_of(text: str) -> tuple[int, int]:
    """``I/N``, every N-th of some rows from the I-th on, as numbers.

    Raises:
        argparse.ArgumentTypeError: It is something else.
    """
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and int(part) < int(parts)):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected I/N, 0 <= I < N, as 0/2")
    return int(part), int(parts)


def refuse(text: str) -> NoReturn:
    """End with one line, as a wrong option does.

    Raises:
        SystemExit: Always (2).
    """
    print(text, file=sys.stderr)
    raise SystemExit(2)


def known(path: Path | None) -> list[Row]:
    """The rows of a file; none where there is no such file yet."""
    if path is None or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def write(path: Path | None, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table as CSV, whole or not at all; nothing where no file is named."""
    if path is None:
        return
    with atomic_write(path) as draft, draft.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def rounded(row: Mapping[str, Any], digits: int = 6) -> Row:
    """A row whose fractions have so many digits that count."""
    return {k: f"{v:.{digits}g}" if isinstance(v, float) else v for k, v in row.items()}


def grouped(rows: Iterable[OneRow], *names: str) -> dict[Any, list[OneRow]]:
    """Rows by what they have in some columns: a value of one column, a tuple of several."""
    key, found = itemgetter(*names), dict[Any, list[OneRow]]()
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def in_turns(
    works: Mapping[Name, Callable[[], object]],
    turns: int = 1,
    seconds: float = 0.0,
    clock: Callable[[], float] = time.process_time,
) -> dict[Name, list[float]]:
    """Times of pieces of work [s]; they take turns, so that another's load meets all alike.

    Args:
        works: The pieces.
        turns: How often each is done, at least.
        seconds: How long they are done, together and at least [s].
        clock: What tells the time.
    """
    found: dict[Name, list[float]] = {name: [] for name in works}
    begun = clock()
    while len(found[next(iter(works))]) < turns or clock() < begun + seconds:
        for name, work in works.items():
            start = clock()
            work()
            found[name].append(clock() - start)
    return found


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table, numbers with four digits."""
    cells = [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in r.values()] for r in rows]
    head, *lines = (f"| {' | '.join(line)} |" for line in [[*rows[0]], *cells])
    return "\n".join((head, "|" + "---|" * len(rows[0]), *lines))


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a Markdown table; nothing where there are none."""
    if rows:
        print(markdown(rows))


def filled(
    path: Path | None,
    columns: Sequence[str],
    keys: Iterable[Sequence[Any]],
    row: Callable[..., Row | Sequence[Row]],
) -> list[Row]:
    """All rows of a table: those of its file, and those of keys that are missing, added to it.

    Several processes may add to one file.

    Args:
        path: The file; None for none.
        columns: Those of the key, then those that `row` gives, and `cpu_s` where it is measured.
        keys: Keys of the rows.
        row: Gives the further columns of a key, or of its several rows.

    Raises:
        SystemExit: The file has other columns (2).
    """
    whole = path.read_bytes() if path is not None and path.exists() else b""
    if path is not None and whole and not whole.endswith(b"\n"):
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])  # a run was stopped within a line
    rows = known(path)
    if rows and set(rows[0]) != set(columns):
        refuse(f"{path}: has other columns; expected {', '.join(columns)}; name another file")
    order = list(rows[0] if rows else columns)
    for key in keys:
        named = dict(zip(columns, map(str, key), strict=False))
        if any(named.items() <= one.items() for one in rows):
            continue
        began = time.process_time()
        found = row(*key)
        if "cpu_s" in columns:
            named["cpu_s"] = f"{time.process_time() - began:.2f}"
        new = [
            {k: "" if v is None else str(v) for k, v in (named | one).items()}
            for one in ([found] if isinstance(found, dict) else found)
        ]
        rows += new
        if path is not None:
            with path.open("a", encoding="utf-8", newline="") as text:
                table = csv.DictWriter(text, order, lineterminator="\n")
                if not text.tell():
                    table.writeheader()
                table.writerows(new)
    return rows


def held(rows: Sequence[Row], given: argparse.Namespace) -> bool:
    """Print by part how many mappings a table holds of; true where some case does not."""
    for part, mine in grouped((row for row in rows if row["mappings"] != "0"), "part").items():
        total = sum(int(row["mappings"]) for row in mine)
        wrong = sum(row["holds"] != "True" for row in mine)
        print(f"{part}: {len(mine)} cases, {total:,} mappings, {wrong} wrong")
    return any(row["holds"] != "True" for row in rows)


def shown(rows: Sequence[Row], given: argparse.Namespace) -> None:
    """Print a table."""
    show(rows)


def given_to(table: Table | Summary, **more: Any) -> argparse.Namespace:
    """The options of a benchmark, those that all have, and more; little under ``--quick``."""
    more |= {"out": (Path, "the file"), "quick": (False, "little, in no file unless one is named")}
    given = asked(table.doc, **table.options, **more)
    if given.quick:
        vars(given).update(table.quick)
    elif given.out is None and table.file:
        given.out = DATA / table.file
    return given


@dataclass(frozen=True)
class Summary:
    """A benchmark whose rows are made together, and each time anew.

    Args:
        doc: Docstring of the benchmark.
        rows: Gives them by the options.
        file: Where they go by default, in docs/data; nowhere where it is empty.
        options: Options besides the common ones, as `asked` takes them.
        quick: Values of options under `--quick`.
        told: Prints the rows; true where something in them is wrong.
        digits: Digits that count of fractions in the file; all where it is None.
    """

    doc: str | None
    rows: Callable[[argparse.Namespace], Iterable[Row]]
    file: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    told: Callable[[Sequence[Row], argparse.Namespace], object] = shown
    digits: int | None = 6

    def run(self) -> bool:
        """Make, keep and tell all rows; whether something is wrong."""
        given = given_to(self)
        if rows := list(self.rows(given)):
            kept = rows if self.digits is None else [rounded(row, self.digits) for row in rows]
            write(given.out, rows[0], kept)
        return bool(self.told(rows, given))


@dataclass(frozen=True)
class Table:
    """A benchmark with a row a key; the same command goes on where it was stopped.

    Args:
        doc: Docstring of the benchmark.
        columns: Those of the key, then those that `row` gives, and `cpu_s` where it is measured;
            or what gives them by the options.
        keys: Keys of the rows that the options ask for.
        row: Of the options and a key its row, or a list of its rows: the further columns by name,
            or a tuple of what they hold but for `cpu_s`.
        file: Where rows go by default, in docs/data; nowhere where it is empty.
        options: Options besides the common ones, as `asked` takes them.
        quick: Values of options under `--quick`.
        told: Prints what all rows show; true where something in them is wrong.
        instead: What is done in place of the table where an option is given, by its name.
    """

    doc: str | None
    columns: Sequence[str] | Callable[[argparse.Namespace], Sequence[str]]
    keys: Callable[[argparse.Namespace], Iterable[Sequence[Any]]]
    row: Callable[..., Any]
    file: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    told: Callable[[list[Row], argparse.Namespace], object] = lambda rows, given: None
    instead: Mapping[str, Callable[[argparse.Namespace], object]] = field(default_factory=dict)

    def run(self) -> bool:
        """Make the rows that are missing; whether something is wrong."""
        given = given_to(self, share=(share_of, "I/N: every N-th row from the I-th on"))
        for name, work in self.instead.items():
            if getattr(given, name):
                return bool(work(given))
        columns = self.columns(given) if callable(self.columns) else self.columns
        part, parts = given.share or (0, 1)
        keys = islice(self.keys(given), part, None, parts)

        def row(*key: Any) -> Sequence[Row]:
            found = self.row(given, *key)
            names = [name for name in columns[len(key) :] if name != "cpu_s"]
            some = [
                dict(zip(names, one, strict=True)) if isinstance(one, tuple) else one
                for one in (found if isinstance(found, list) else [found])
            ]
            for one in some:
                print(*key, *one.values(), flush=True)
            return some

        few = islice(keys, FEW if given.quick else None)
        return bool(self.told(filled(given.out, columns, few, row), given))
