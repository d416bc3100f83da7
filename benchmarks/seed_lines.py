"""A file with a line for each seed of a run, so that the run can be stopped and gone on with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.frame import filled, share_of


def seed_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options that say which seeds are done, and where that is written."""
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--share", type=share_of, default=(0, 1), help="I/N: every N-th seed from the I-th on"
    )
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

    def row(seed: int) -> dict[str, str]:
        found = run(seed)
        return {name: f"{found.get(name, 0):.10g}" for name in fields}

    part, parts = args.share
    seeds = zip(range(args.start + part, args.start + args.seeds, parts))
    columns = ("seed", "cpu_s", *fields)
    rows = filled(args.out, columns, seeds, row)
    return {name: sum(float(row[name]) for row in rows) for name in columns[1:]}
