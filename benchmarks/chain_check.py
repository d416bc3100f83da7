"""Hold proofs on chips of any depth against brute force over every mapping of small spaces.

    python -m benchmarks chain_check --problems 500 --out docs/data/chain-check.csv
    python -m benchmarks chain_check --uneven --problems 60 --out docs/data/chain-check-uneven.csv

Chips, layers, objectives and options of the exact model are drawn at random; spaces hold 10^3 to
10^5 mappings; uneven ones are of one or two memories. Half of the fan-outs have prices of wires.
Exits with 1 where a proof is not the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines import prove
from benchmarks.chain_problems import random_problem
from benchmarks.frame import Row, Table
from maestro_env import Problem

AT_ONCE = 20_000


def brute_force(problem: Problem) -> float:
    """The least value of all mappings; inf where none is feasible."""
    sizes = [len(parameter) for parameter in problem.space.parameters]
    total, best = int(np.prod(sizes)), np.inf
    for low in range(0, total, AT_ONCE):
        rows = np.arange(low, min(low + AT_ONCE, total))
        actions = np.stack(np.unravel_index(rows, sizes), axis=1)
        best = min(best, float(problem.look(actions).values.min()))
    return best


def row_of(
    seed: int, uneven: bool = False, least: int = 1_000, most: int = 100_000
) -> dict[str, Any]:
    """One problem, by both."""
    problem = random_problem(seed, least, most, uneven)
    best, proof = brute_force(problem), prove(problem)
    same = proof.value == best or abs(proof.value / best - 1) < 1e-9
    options = getattr(problem.cost_model, "options", {})
    return {
        "memories": len(problem.accelerator.memories),
        "objective": problem.objective.name,
        "model": ":".join(f"{n}={options[n]}" for n in ("halo_time", "latency", "double_buffer")),
        "mappings": int(problem.space.size),
        "optimum": repr(best),
        "proven": repr(proof.value),
        "agrees": proof.proven and same,
    }


def told(rows: list[Row], _: Any) -> bool:
    """Print how many proofs are right; true where one is not."""
    right = sum(row["agrees"] == "True" for row in rows)
    mappings = sum(int(row["mappings"]) for row in rows)
    print(f"{right} of {len(rows)} proofs agree with brute force over {mappings:,} mappings")
    return right < len(rows)


TABLE = Table(
    __doc__,
    ("seed", "memories", "objective", "model", "mappings", "optimum", "proven", "agrees"),
    lambda given: ((given.seed + i,) for i in range(given.problems)),
    lambda given, seed: row_of(seed, given.uneven),
    "chain-check.csv",
    {
        "problems": 500,
        "seed": (0, "of the first problem"),
        "uneven": (False, "memories stand as several entries"),
    },
    told=told,
)
