"""A file with a line for each seed of a run, so that the run can be stopped and gone on with."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


class SeedLines:
    """What is counted of each seed that is done, in a file or in memory.

    Args:
        path: The file; None for none.
        fields: Names of the columns, ``seed`` the first. All are numbers.

    Raises:
        ValueError: The file has other columns.
    """

    def __init__(self, path: Path | None, fields: tuple[str, ...]) -> None:
        self.path, self.fields = path, fields
        self.rows: list[dict[str, float]] = []
        if path is None or not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:  # a run was stopped while it wrote a line
            path.write_text(whole, encoding="utf-8")
        rows = list(csv.DictReader(whole.splitlines()))
        if rows and set(rows[0]) != set(fields):
            raise ValueError(f"{path}: has other columns than this benchmark; give another file")
        self.fields = tuple(rows[0]) if rows else fields
        self.rows = [{name: float(row[name]) for name in fields} for row in rows]

    def add(self, row: Mapping[str, float]) -> None:
        """Note a seed that is done."""
        self.rows.append({name: float(row[name]) for name in self.fields})
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                if file.tell() == 0:
                    file.write(",".join(self.fields) + "\n")
                file.write(",".join(f"{row[name]:.10g}" for name in self.fields) + "\n")

    def total(self) -> dict[str, float]:
        """Sums of all columns but the seed."""
        return {name: sum(row[name] for row in self.rows) for name in self.fields[1:]}


def seed_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options that say which seeds are done, and where that is written."""
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--share", default="0/1", help="I/N: every N-th seed from the I-th on")
    parser.add_argument("--out", type=Path, help="a file with a line a seed, gone on with")


def run_seeds(
    args: argparse.Namespace,
    fields: tuple[str, ...],
    run: Callable[[int], Mapping[str, float]],
) -> dict[str, float]:
    """Run all seeds that the options name and that no line has yet; the sums of all lines.

    Args:
        args: With the options of `seed_options`.
        fields: Columns beside ``seed`` and ``cpu_s``, which are added.
        run: Gives the columns of a seed; those that it leaves out are 0.
    """
    try:
        lines = SeedLines(args.out, ("seed", "cpu_s", *fields))
    except ValueError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    part, parts = (int(n) for n in args.share.split("/"))
    done = {int(row["seed"]) for row in lines.rows}
    for seed in range(args.start + part, args.start + args.seeds, parts):
        if seed not in done:
            began = time.process_time()
            found = run(seed)
            seconds = round(time.process_time() - began, 2)
            lines.add({"seed": seed, "cpu_s": seconds} | {f: found.get(f, 0) for f in fields})
    return lines.total()
