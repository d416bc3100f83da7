"""Prove the problems of `mapper bench` and write them: maestro_env/bench.csv.

    python -m benchmarks bench_problems            # what the file has and holds is kept
    python -m benchmarks bench_problems --check    # prove all of them again

The list is fixed, and stands in the file: a problem's number, layer, chip and objective never
change. Where the model or a chip's prices change, so do optima, and result files of before are
refused.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import maestro_env
from baselines import prove
from benchmarks.frame import Row, asked, known, write
from cost_models import mapping_from
from maestro_env import Problem

FILE = Path(maestro_env.__file__).parent / "bench.csv"


def proven(row: Row) -> Row:
    """The row of a problem with its optimum.

    Raises:
        RuntimeError: It is not proven.
    """
    proof = prove(Problem(row["layer"], row["accelerator"], row["objective"]))
    print(*list(row.values())[:4], proof.status, f"{proof.seconds:.2f} s")
    if proof.status != "optimal" or proof.mapping is None:
        raise RuntimeError(f"{row['layer']} on {row['accelerator']}: expected an optimum")
    mapping = json.dumps(proof.mapping.to_dict(), separators=(",", ":"))
    return row | {"optimum": repr(float(proof.value)), "mapping": mapping}


def holds(row: Row) -> bool:
    """Whether today's model gives the mapping its value."""
    problem = Problem(row["layer"], row["accelerator"], row["objective"])
    mapping = mapping_from(json.loads(row["mapping"]))
    cost = problem.cost_model.evaluate(problem.layer, problem.accelerator, mapping)
    value = math.prod(getattr(cost, figure) for figure in problem.objective.figures)
    return math.isclose(value, float(row["optimum"]), rel_tol=1e-9)


def main() -> bool:
    """Prove what is missing or stale; true where ``--check`` finds other optima."""
    check = asked(__doc__, check=(False, "prove all of them again")).check
    kept = known(FILE)
    rows = [proven(row) if check or not holds(row) else row for row in kept]
    if not check:
        write(FILE, kept[0], rows)
        return False
    same = [float(row["optimum"]) for row in rows] == [float(row["optimum"]) for row in kept]
    print("the optima are the same" if same else "the file has other optima")
    return not same
