"""Tables with a row a seed, of which the sums say what came out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.frame import Row, Table


def seed_table(
    doc: str | None,
    fields: Sequence[str],
    run: Callable[[argparse.Namespace, int], Mapping[str, float]],
    wrong: Sequence[str],
    **more: Any,
) -> Table:
    """A table with a row a seed; ``--seeds`` and ``--start`` say which.

    The sums of all rows are printed, and their shares of the first.

    Args:
        doc: Docstring of the benchmark.
        fields: Columns beside ``seed`` and ``cpu_s``.
        run: Gives the columns of a seed; those that it leaves out are 0.
        wrong: Those of the fields that are 0 where nothing is wrong.
        more: Other fields of the table.
    """

    def row(given: argparse.Namespace, seed: int) -> Row:
        found = run(given, seed)
        return {name: f"{found.get(name, 0):.10g}" for name in fields}

    def told(rows: list[Row], _: argparse.Namespace) -> bool:
        total = {n: sum(float(row[n]) for row in rows) for n in ("cpu_s", *fields)}
        for name in (name for name in fields if name != "digest"):
            share = total[name] / max(total[fields[0]], 1)
            print(f"{total[name]:12,.0f} {share:7.1%}  {name}")
        bad = sum(total[name] for name in wrong)
        print(f"{bad:12,.0f}  wrong in all; {total['cpu_s']:.0f} s of processor time")
        return bad > 0

    seeds = {"seeds": (1, "how many seeds"), "start": (0, "the first seed")}
    more["options"] = seeds | more.get("options", {})
    return Table(
        doc,
        ("seed", "cpu_s", *fields),
        lambda given: zip(range(given.start, given.start + given.seeds)),
        row,
        told=told,
        **more,
    )
