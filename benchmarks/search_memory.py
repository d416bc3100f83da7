"""Memory of long searches: the most that a process of its own holds, by method and samples.

python -m benchmarks search_memory --methods ga random --samples 10000000 --out memory.csv
"""

from __future__ import annotations

import resource
from typing import Any

import baselines
from benchmarks.frame import Table
from maestro_env import Problem
from marl_runs import in_fresh_process

METHODS = {
    **dict.fromkeys(("random", "ga", "gamma", "annealing", "local", "cross-entropy"), 10_000_000),
    **dict.fromkeys(("cma-es", "ppo", "marl"), 100_000),
    **dict.fromkeys(("bo", "tpe"), 3_000),
}
"""Samples of each method."""


def searched(method: str, layer: str, accelerator: str, samples: int) -> tuple[float, ...]:
    """One search in this process, and what the process took."""
    problem = Problem(layer, accelerator)
    baselines.load(method).search(problem, samples, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    megabytes = round(used.ru_maxrss * 1024 / 1e6)
    return problem.samples, megabytes, round(used.ru_utime + used.ru_stime, 1)


def row_of(given: Any, method: str, layer: str, accelerator: str) -> tuple[float, ...]:
    """One search in a process of its own."""
    samples = given.samples or METHODS[method]
    return in_fresh_process(searched, method, layer, accelerator, samples)


TABLE = Table(
    __doc__,
    ("method", "layer", "accelerator", "samples", "megabytes", "cpu_seconds"),
    lambda given: ((method, "mobilenetv2.2", "edge") for method in given.methods),
    row_of,
    options={
        "methods": (list(METHODS), None, METHODS),
        "samples": (int, "of each; the method's own otherwise"),
    },
    quick={"samples": 1_000},
)
