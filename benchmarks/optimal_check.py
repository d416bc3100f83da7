"""Compare proofs with brute force and with exhaustive search, and bounds with random mappings.

    python benchmarks/optimal_check.py

Three parts, each of which fails the script where it finds a difference: proofs of random small
problems (all kinds of layers, tight and open buffers, all objectives, limits and options) against
brute force over every mapping; proofs of six zoo layers in narrowed spaces against `exhaustive`;
and bounds of random boxes against random mappings in them.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import baselines
from baselines import prove
from maestro_env import Problem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.optimum_gap import CASES
from tests.baselines.proofs import brute_force, narrowed, random_problem, size_of, worst_bound

PARTS = ("brute", "exhaustive", "bounds")
SAME = 1e-9


def same(a: float, b: float) -> bool:
    """Whether two values differ by rounding at most; both may be inf."""
    return a == b or abs(a / b - 1) <= SAME


def against_brute_force(problems: int, most: int) -> bool:
    """Proofs of random problems; returns whether all agree."""
    wrong = mappings = empty = done = 0
    seed = 0
    while done < problems:
        rng = np.random.default_rng([150, seed])
        seed += 1
        problem = narrowed(random_problem(rng, moving=int(rng.integers(2, 5))), rng, most)
        if size_of(problem) > 8 * most:
            continue
        done += 1
        best, count = brute_force(problem)
        proof = prove(problem)
        mappings += count
        empty += not np.isfinite(best)
        if not proof.proven or not same(proof.value, best):
            wrong += 1
            print(f"seed {seed - 1}: brute force {best!r}, proof {proof.value!r} {proof.status}")
            print(problem.describe())
    print(
        f"brute force: {problems} problems of {mappings} mappings in all, {empty} without a "
        f"feasible one: {wrong} proofs differ"
    )
    return wrong == 0


def against_exhaustive() -> bool:
    """Proofs of zoo layers in narrowed spaces; returns whether all agree."""
    good = True
    for layer, space in CASES.items():
        problem = Problem(layer, "edge", "edp", "exact", space)
        start = time.process_time()
        found = baselines.load("exhaustive").search(problem.fork(), 10**9, 0)
        middle = time.process_time()
        proof = prove(problem)
        good &= proof.proven and same(proof.value, found.best_value)
        print(
            f"{layer}: exhaustive {found.best_value!r} in {middle - start:.2f} s, "
            f"proof {proof.value!r} in {proof.seconds:.2f} s of processor time",
            flush=True,
        )
    return good


def bounds_hold(mappings: int) -> bool:
    """Bounds of random boxes; returns whether none exceeds the value of a mapping in it."""
    tried = problems = wrong = 0
    worst = 0.0
    while tried < mappings:
        rng = np.random.default_rng([151, problems])
        problem = random_problem(
            rng, most=int(rng.choice([8, 24, 60])), moving=int(rng.choice([3, 4, 8]))
        )
        ratio, count = worst_bound(problem, rng, 1000)
        worst = max(worst, ratio)
        if ratio > 1 + SAME:
            wrong += 1
            print(f"seed {problems}: bound / value {ratio!r}", problem.describe())
        problems += 1
        tried += count
    print(
        f"bounds: {tried} mappings of {problems} problems: {wrong} problems with a bound above a "
        f"value; largest bound / value {worst:.12f}"
    )
    return wrong == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="*", default=PARTS)
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--most", type=int, default=30_000, help="mappings of a problem, about")
    parser.add_argument("--mappings", type=int, default=1_000_000, help="for the bounds")
    args = parser.parse_args()
    good = True
    if "brute" in args.part:
        good &= against_brute_force(args.problems, args.most)
    if "exhaustive" in args.part:
        good &= against_exhaustive()
    if "bounds" in args.part:
        good &= bounds_hold(args.mappings)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
