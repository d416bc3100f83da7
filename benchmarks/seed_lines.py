"""Tables with a row a seed, of which the sums say what came out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.frame import Row, Table

Sums = dict[str, float]


def seed_table(
    doc: str | None,
    fields: Sequence[str],
    run: Callable[[argparse.Namespace, int], Mapping[str, float]],
    told: Callable[[Sums, argparse.Namespace], bool],
    **more: Any,
) -> Table:
    """A table with a row a seed; ``--seeds`` and ``--start`` say which.

    Args:
        doc: Docstring of the benchmark.
        fields: Columns beside ``seed`` and ``cpu_s``.
        run: Gives the columns of a seed; those that it leaves out are 0.
        told: Prints what the sums of all rows show; true where something is wrong.
        more: Other fields of the table.
    """

    def row(given: argparse.Namespace, seed: int) -> Row:
        found = run(given, seed)
        return {name: f"{found.get(name, 0):.10g}" for name in fields}

    def summed(rows: list[Row], given: argparse.Namespace) -> bool:
        return told({n: sum(float(row[n]) for row in rows) for n in ("cpu_s", *fields)}, given)

    seeds = {"seeds": (1, "how many seeds"), "start": (0, "the first seed")}
    more["options"] = seeds | more.get("options", {})
    return Table(
        doc,
        ("seed", "cpu_s", *fields),
        lambda given: zip(range(given.start, given.start + given.seeds)),
        row,
        told=summed,
        **more,
    )


def print_sums(total: Sums, fields: Sequence[str], wrong: float, what: str) -> bool:
    """Print the sums, and how much is wrong; whether something is."""
    for name in fields:
        print(f"{total[name]:12,.0f}  {name}")
    print(f"{wrong:12,.0f}  {what} in all; {total['cpu_s']:.0f} s of processor time")
    return wrong > 0
