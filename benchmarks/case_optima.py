"""The proven optima of the cases of marl_cases.py under `exact`, as docs/data/case-optima.csv.

    python -m benchmarks case_optima --timeout 120

What the library of optima has is taken from it; the rest is proven here. Where a proof was stopped,
`bound` is below `value`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import baselines
from benchmarks import marl_cases
from benchmarks.frame import DATA, Table, grouped, known
from maestro_env import Problem

FILE = "case-optima.csv"
Case = tuple[str, str, str]


def cases() -> dict[Case, None]:
    """Accelerator, layer and objective of every case, those of Table III included."""
    return dict.fromkeys(
        (accelerator, layer, objective)
        for kind in ("compared", "table3")
        for accelerator, layers in marl_cases.CASES[kind].items()
        for layer, objective in product(layers, marl_cases.OBJECTIVES)
        if (kind, objective) != ("table3", "energy")
    )


def read() -> dict[Case, tuple[float, float]]:
    """Value and bound of each case of the file."""
    rows = grouped(known(DATA / FILE), "accelerator", "layer", "objective")
    return {case: (float(row["value"]), float(row["bound"])) for case, (row,) in rows.items()}


def proven(given: Any, accelerator: str, layer: str, objective: str) -> tuple[str, str]:
    """Value and bound of a case, equal where the optimum is proven."""
    problem = Problem(layer, accelerator, objective)
    entry = baselines.known_optimum(problem)
    if entry is not None and entry.proven:
        return repr(entry.value), repr(entry.value)
    start = None if entry is None else entry.mapping
    proof = baselines.prove(problem, start=start, timeout=given.timeout)
    least = proof.value if proof.status == "optimal" else proof.bound
    return repr(proof.value), repr(least)


TABLE = Table(
    __doc__,
    ("accelerator", "layer", "objective", "value", "bound"),
    lambda _: cases(),
    proven,
    FILE,
    {"timeout": (120.0, "seconds of one proof")},
)
