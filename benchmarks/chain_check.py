"""Hold proofs on chips of any depth against brute force over every mapping of small spaces.

    python -m benchmarks chain_check --problems 500 --out docs/data/chain-check.csv
    python -m benchmarks chain_check --uneven --problems 60 --out docs/data/chain-check-uneven.csv

Chips, layers, objectives and options of the exact model are drawn at random; spaces hold 10^3 to
10^5 mappings; uneven ones are of one or two memories. Half of the fan-outs have prices of wires.
Exits with 1 where a proof is not the optimum.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from baselines import prove
from benchmarks.chain_problems import random_problem
from benchmarks.chain_searchers import write
from maestro_env import Problem

FIELDS = ("seed", "memories", "objective", "model", "mappings", "optimum", "proven", "agrees")
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
        "seed": seed,
        "memories": len(problem.accelerator.memories),
        "objective": problem.objective.name,
        "model": ":".join(f"{n}={options[n]}" for n in ("halo_time", "latency", "double_buffer")),
        "mappings": int(problem.space.size),
        "optimum": repr(best),
        "proven": repr(proof.value),
        "agrees": proof.proven and same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    parser.add_argument("--uneven", action="store_true", help="memories stand as several entries")
    parser.add_argument("--out", type=Path, default=Path("docs/data/chain-check.csv"))
    args = parser.parse_args()
    rows = [row_of(args.seed + i, args.uneven) for i in range(args.problems)]
    write(args.out, FIELDS, rows)
    right = sum(row["agrees"] for row in rows)
    mappings = sum(row["mappings"] for row in rows)
    print(f"{right} of {len(rows)} proofs agree with brute force over {mappings:,} mappings")
    sys.exit(right < len(rows))


if __name__ == "__main__":
    main()
