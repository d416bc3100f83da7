"""The proven optima of the cases of marl_cases.py under `exact`, as docs/data/case-optima.csv.

    python -m benchmarks case_optima --timeout 120

What the library of optima has is taken from it; the rest is proven here. Where a proof was stopped,
`bound` is below `value`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import baselines
from benchmarks import marl_cases
from benchmarks.frame import DATA, Table, known
from maestro_env import Problem

FILE = "case-optima.csv"
Case = tuple[str, str, str]


def cases() -> Iterator[Case]:
    """Accelerator, layer and objective of every case, those of Table III included."""
    seen = set()
    for kind in ("compared", "table3"):
        for accelerator, layers in marl_cases.CASES[kind].items():
            for layer in layers:
                for objective in marl_cases.OBJECTIVES:
                    case = (accelerator, layer, objective)
                    if case not in seen and not (kind == "table3" and objective == "energy"):
                        seen.add(case)
                        yield case


def read() -> dict[Case, tuple[float, float]]:
    """Value and bound of each case of the file."""
    return {
        (row["accelerator"], row["layer"], row["objective"]): (
            float(row["value"]),
            float(row["bound"]),
        )
        for row in known(DATA / FILE)
    }


def proven(given: Any, accelerator: str, layer: str, objective: str) -> dict[str, str]:
    """Value and bound of a case, equal where the optimum is proven."""
    problem = Problem(layer, accelerator, objective)
    entry = baselines.known_optimum(problem)
    if entry is not None and entry.proven:
        return {"value": repr(entry.value), "bound": repr(entry.value)}
    start = None if entry is None else entry.mapping
    proof = baselines.prove(problem, start=start, timeout=given.timeout)
    least = proof.value if proof.status == "optimal" else proof.bound
    return {"value": repr(proof.value), "bound": repr(least)}


TABLE = Table(
    __doc__,
    ("accelerator", "layer", "objective", "value", "bound"),
    lambda _: cases(),
    proven,
    FILE,
    {"timeout": (120.0, "seconds of one proof")},
)
