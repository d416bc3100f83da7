"""Hold proofs on chips of any depth against brute force over every mapping of small spaces.

    python -m benchmarks chain_check --problems 500 --out docs/data/chain-check.csv
    python -m benchmarks chain_check --uneven --problems 60 --out docs/data/chain-check-uneven.csv
    python -m benchmarks chain_check --parts --problems 500 --out docs/data/chain-check-parts.csv
    python -m benchmarks chain_check --axis-dims 2 --problems 100 --out chain-check-axes.csv
    python -m benchmarks chain_check --parts --resident --problems 100 --out chain-resident.csv

Chips, layers, objectives and options of the exact model are drawn at random; spaces hold 10^3 to
10^5 mappings; uneven ones, and those with several dimensions on an axis, are of one or two
memories. Half of the fan-outs have prices of wires.
Parts are those of larger spaces, and have no first value: bounds alone decide what is looked at.
With ``--resident`` some tensors are whole in the first memory.
``one_dim`` is the optimum with one dimension an axis.
Exits with 1 where a proof is not the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines import prove
from baselines.optimal.chain_solver import ChainSolver
from benchmarks.chain_problems import random_part, random_problem, structures_of, with_residents
from benchmarks.frame import Row, Table
from maestro_env import Problem
from marl_common import IntArray

COLUMNS = ("seed", "memories", "objective", "model", "mappings", "optimum", "proven", "agrees")
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


def row_of(seed: int, uneven: bool, axis_dims: int, resident: bool) -> list[Row]:
    """One problem, by both; no row where there is none."""
    drawn = random_problem(seed, 1_000, 100_000, uneven, axis_dims)
    problem = with_residents(drawn, seed) if resident else drawn
    if problem is None:
        return []
    proof = prove(problem)
    row = _compared(problem, proof.proven, proof.value)
    if axis_dims > 1:
        model, objective = problem.cost_model, problem.objective.name
        options = {"uneven": uneven}
        plain = Problem(problem.layer, problem.accelerator, objective, model, options)
        row["one_dim"] = repr(brute_force(plain))
    return [row]


class ColdSolver(ChainSolver):
    """A proof that does not better what it finds."""

    def better(self, action: IntArray) -> None:
        """Evaluate a mapping alone."""
        self.look(action[None])


def part_rows(
    seed: int, axis_dims: int = 1, most: int = 20_000, resident: bool = False
) -> list[Row]:
    """A part of a larger problem, by both; no row where there is none."""
    problem = random_part(seed, most, axis_dims)
    if problem is not None and resident:
        problem = with_residents(problem, seed)
    if problem is None:
        return []
    solver = ColdSolver(problem, [structures_of(problem)])
    return [_compared(problem, solver.run() == "optimal", solver.value)]


def _compared(problem: Problem, ended: bool, value: float) -> Row:
    best = brute_force(problem)
    same = value == best or abs(value / best - 1) < 1e-9
    options = getattr(problem.cost_model, "options", {})
    return {
        "memories": len(problem.accelerator.memories),
        "objective": problem.objective.name,
        "model": ":".join(f"{n}={options[n]}" for n in ("halo_time", "latency", "double_buffer")),
        "mappings": int(problem.space.size),
        "optimum": repr(best),
        "proven": repr(value),
        "agrees": ended and same,
    }


def rows_of(given: Any, seed: int) -> Any:
    """The rows of a seed."""
    if given.parts:
        return part_rows(seed, given.axis_dims, resident=given.resident)
    return row_of(seed, given.uneven, given.axis_dims, given.resident)


def told(rows: list[Row], _: Any) -> bool:
    """Print how many proofs are right; true where one is not."""
    right = sum(row["agrees"] == "True" for row in rows)
    mappings = sum(int(row["mappings"]) for row in rows)
    print(f"{right} of {len(rows)} proofs agree with brute force over {mappings:,} mappings")
    alone = [row for row in rows if row.get("one_dim")]
    if alone:
        lower = sum(float(row["optimum"]) < float(row["one_dim"]) * (1 - 1e-9) for row in alone)
        print(f"{lower} of {len(alone)} optima have several dimensions on an axis")
    return right < len(rows)


TABLE = Table(
    __doc__,
    lambda given: COLUMNS + ("one_dim",) * (given.axis_dims > 1),
    lambda given: ((given.seed + i,) for i in range(given.problems)),
    rows_of,
    "chain-check.csv",
    {
        "problems": 500,
        "seed": (0, "of the first problem"),
        "uneven": (False, "memories stand as several entries"),
        "axis_dims": (1, "dimensions that may share an axis"),
        "parts": (False, "parts of larger spaces, without a first value"),
        "resident": (False, "some tensors are whole in the first memory"),
    },
    told=told,
)
