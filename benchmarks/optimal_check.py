"""Compare proofs with brute force and with exhaustive search, and bounds with random mappings.

    python -m benchmarks optimal_check

A row of the file is a problem: random small ones (all kinds of layers, tight and open buffers, all
objectives, limits and options; "wide": chips whose tensors differ, full spaces, free padding, box
windows) proven and searched by brute force over every mapping; six zoo layers in narrowed spaces
proven and searched by `exhaustive`; and random mappings of random problems beside the bounds of
boxes that hold them. It fails where anything differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import baselines
from baselines import prove
from benchmarks.frame import Table, held
from maestro_env import Problem
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
PARTS = ("bounds", "wide bounds", "brute", "wide brute", "exhaustive")
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


def beside_bounds(seed: int, _: int, wide: bool) -> Row:
    """Random mappings beside bounds of boxes that hold them: the largest ratio of both."""
    rng = np.random.default_rng([151, seed])
    draw = random_wide_problem if wide else random_problem
    most, moving = int(rng.choice([8, 24, 60])), int(rng.choice([3, 4, 8]))
    if wide:
        moving = min(moving, 4)  # a full space of eight dimensions has millions of allocations
    ratio, count = worst_bound(draw(rng, most=most, moving=moving), rng, EACH)
    return count, 1.0, ratio, ratio <= 1 + SAME


def row_of(given: Any, part: str, problem: int) -> Row:
    """A problem; of no mappings where it was left out."""
    if part == "exhaustive":
        return against_exhaustive(problem)
    look = beside_bounds if part.endswith("bounds") else against_brute_force
    return look(problem, given.most, part.startswith("wide")) or (0, np.nan, np.nan, True)


TABLE = Table(
    __doc__,
    ("part", "problem", "mappings", "expected", "found", "holds", "cpu_s"),
    lambda given: (
        (part, problem)
        for part in given.part
        for problem in range(len(CASES) if part == "exhaustive" else given.problems)
    ),
    row_of,
    "optimal-check.csv",
    {
        "part": (list(PARTS), None, PARTS),
        "problems": (500, "of each part"),
        "most": (30_000, "mappings of a problem, about"),
    },
    {"most": 1_000},
    held,
)
