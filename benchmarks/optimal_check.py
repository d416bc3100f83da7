"""Compare proofs with brute force and with exhaustive search, and bounds with random mappings.

    python benchmarks/optimal_check.py --out docs/data/optimal-check.csv

A row of the file is a problem: random small ones (all kinds of layers, tight and open buffers, all
objectives, limits and options; "wide": chips whose tensors differ, full spaces, free padding, box
windows) proven and searched by brute force over every mapping; six zoo layers in narrowed spaces
proven and searched by `exhaustive`; and random mappings of random problems beside the bounds of
boxes that hold them. Problems that are in the file already are left out, so that an interrupted run
goes on where it stopped. It fails where anything differs.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from baselines import prove
from maestro_env import Problem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.baselines.proofs import (
    brute_force,
    narrowed,
    random_problem,
    random_wide_problem,
    size_of,
    worst_bound,
)

CLUSTERS = {"cluster_size": [8, 12, 14, 21]}
CASES: dict[str, dict[str, Any]] = {
    "mlp.2": {},
    "mobilenetv2.52": {"tiles": "divisors"},
    "mobilenetv2.1": {"tiles": "divisors"},
    "mobilenetv2.2": {
        "tiles": "divisors",
        "only": {**CLUSTERS, "outer_parallel": ["K", "C"], "inner_parallel": ["Y"]},
    },
    "bert_base.1": {"tiles": "divisors", "only": CLUSTERS},
    "resnet18.1": {
        "tiles": "divisors",
        "only": {"cluster_size": [14], "outer_parallel": ["K", "Y"], "inner_parallel": ["C", "X"]},
    },
}
"""Spaces that are cut so that exhaustive search ends in minutes."""
PARTS = ("brute", "wide brute", "exhaustive", "bounds", "wide bounds")
FIELDS = ("part", "problem", "mappings", "expected", "found", "holds", "cpu_s")
SAME = 1e-9
EACH = 1000
"""Random mappings drawn for a problem's bounds."""
Row = tuple[int, float, float, bool]
"""Mappings, what was expected, what was found, and whether that is right."""


def same(a: float, b: float) -> bool:
    """Whether two values differ by rounding at most; both may be inf."""
    return a == b or abs(a / b - 1) <= SAME


def against_brute_force(seed: int, most: int, wide: bool) -> Row | None:
    """A proof of a random problem beside every mapping; None where there are too many."""
    rng = np.random.default_rng([150, seed])
    draw = random_wide_problem if wide else random_problem
    problem = narrowed(draw(rng, moving=int(rng.integers(2, 5))), rng, most)
    if size_of(problem) > 8 * most:
        return None
    best, count = brute_force(problem)
    proof = prove(problem)
    return count, best, proof.value, proof.proven and same(proof.value, best)


def against_exhaustive(number: int) -> Row:
    """A proof of a zoo layer in a narrowed space beside `exhaustive`."""
    layer, space = list(CASES.items())[number]
    problem = Problem(layer, "edge", "edp", "exact", space)
    found = baselines.load("exhaustive").search(problem.fork(), 10**9, 0)
    proof = prove(problem)
    right = proof.proven and same(proof.value, found.best_value)
    return problem.space.size, found.best_value, proof.value, right


def beside_bounds(seed: int, wide: bool) -> Row:
    """Random mappings beside bounds of boxes that hold them: the largest ratio of both."""
    rng = np.random.default_rng([151, seed])
    draw = random_wide_problem if wide else random_problem
    most, moving = int(rng.choice([8, 24, 60])), int(rng.choice([3, 4, 8]))
    if wide:
        moving = min(moving, 4)  # a full space of eight dimensions has millions of allocations
    ratio, count = worst_bound(draw(rng, most=most, moving=moving), rng, EACH)
    return count, 1.0, ratio, ratio <= 1 + SAME


class CheckedProblems:
    """The file of problems that were looked at.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: list[dict[str, str]] = []
        if path.exists():
            with path.open(newline="") as file:
                self.rows = list(csv.DictReader(file))

    def of(self, part: str) -> list[dict[str, str]]:
        """The rows of a part."""
        return [row for row in self.rows if row["part"] == part]

    def add(self, part: str, problem: int, row: Row | None, seconds: float) -> None:
        """Write a row; one of no mappings where a problem was left out."""
        mappings, expected, found, holds = row or (0, np.nan, np.nan, True)
        values = (part, problem, mappings, expected, found, holds, f"{seconds:.2f}")
        new = not self._path.exists()
        with self._path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(FIELDS)
            writer.writerow(values)
        self.rows.append(dict(zip(FIELDS, map(str, values), strict=True)))

    def summary(self) -> str:
        """A line for each part."""
        lines = []
        for part in PARTS:
            mine = [row for row in self.of(part) if row["mappings"] != "0"]
            total = sum(int(row["mappings"]) for row in mine)
            wrong = sum(row["holds"] != "True" for row in mine)
            lines.append(f"{part}: {len(mine)} problems, {total:,} mappings, {wrong} wrong")
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/data/optimal-check.csv"))
    parser.add_argument("--part", choices=PARTS, nargs="*", default=PARTS)
    parser.add_argument("--problems", type=int, default=500, help="for brute force")
    parser.add_argument("--most", type=int, default=30_000, help="mappings of a problem, about")
    parser.add_argument("--mappings", type=int, default=1_000_000, help="for the bounds")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    args = parser.parse_args()
    table = CheckedProblems(args.out)
    end = time.perf_counter() + args.seconds

    def checked(part: str) -> int:
        return sum(row["mappings"] != "0" for row in table.of(part))

    def mappings(part: str) -> int:
        return sum(int(row["mappings"]) for row in table.of(part))

    def run(
        part: str, look: Callable[[int], Row | None], done: Callable[[str], int], n: int
    ) -> None:
        problem = len(table.of(part))
        while part in args.part and done(part) < n and time.perf_counter() < end:
            began = time.process_time()
            row = look(problem)
            table.add(part, problem, row, time.process_time() - began)
            problem += 1

    for wide in (False, True):
        part = "wide bounds" if wide else "bounds"
        run(part, partial(beside_bounds, wide=wide), mappings, args.mappings)
    for wide in (False, True):
        part = "wide brute" if wide else "brute"
        look = partial(against_brute_force, most=args.most, wide=wide)
        run(part, look, checked, args.problems)
    run("exhaustive", against_exhaustive, checked, len(CASES))
    print(table.summary())
    return 0 if all(row["holds"] == "True" for row in table.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
