"""Prove the problems of `mapper bench` and write them: maestro_env/bench.csv.

    python -m benchmarks bench_problems            # what the file has and holds is kept
    python -m benchmarks bench_problems --check    # prove all of them again

The list is fixed: a problem's number, layer, chip and objective never change. Where the model or a
chip's prices change, so do optima, and result files of before are refused.
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
FIELDS = ("number", "layer", "accelerator", "objective", "optimum", "mapping")
CASES = (
    *(("mobilenetv2.2", "edge", "edp"), ("mobilenetv2.7", "edge", "edp")),
    *(("mobilenetv2.32", "edge", "edp"), ("resnet18.0", "edge", "edp")),
    *(("resnet50.12", "edge", "edp"), ("resnet50.45", "edge", "edp")),
    *(("vgg16.1", "edge", "edp"), ("vgg16.4", "edge", "edp"), ("vgg16.8", "edge", "edp")),
    *(("bert_base.6", "edge", "edp"), ("llama-3-8b.6", "edge", "edp")),
    *(("deepseek-v3.38", "edge", "edp"), ("mobilenetv2.2", "cloud", "edp")),
    *(("alexnet.0", "cloud", "edp"), ("resnet18.11", "cloud", "edp")),
    *(("resnet50.14", "cloud", "edp"), ("vgg16.4", "cloud", "edp"), ("gpt2.1", "cloud", "edp")),
    *(("qwen3-8b.8", "cloud", "edp"), ("vgg16.11", "edge", "energy")),
    *(("mobilenetv2.46", "edge", "energy"), ("resnet18.5", "edge", "latency")),
    *(("gpt2.2", "cloud", "latency"), ("resnet50.16", "eyeriss", "edp")),
    *(("bert_base.3", "eyeriss", "edp"), ("mixtral-8x7b.6", "tpu-v1", "edp")),
    *(("gpt2.4", "gemmini-16", "edp"), ("resnet18.16", "simba", "edp")),
    *(("bert_base.0", "simba", "edp"), ("resnet18.11", "eyeriss-rs", "edp")),
)
"""Layer, chip and objective; three chips have more than two levels."""


def proven(number: int, layer: str, chip: str, objective: str) -> Row:
    """The row of a problem.

    Raises:
        RuntimeError: Its optimum is not proven.
    """
    proof = prove(Problem(layer, chip, objective))
    print(f"{number:2} {layer} on {chip}, {objective}: {proof.status}, {proof.seconds:.2f} s")
    if proof.status != "optimal" or proof.mapping is None:
        raise RuntimeError(f"{layer} on {chip}, {objective}: {proof.status}, expected optimal")
    mapping = json.dumps(proof.mapping.to_dict(), separators=(",", ":"))
    values = (number, layer, chip, objective, repr(float(proof.value)), mapping)
    return dict(zip(FIELDS, values, strict=True))


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
    kept = {row["number"]: row for row in known(FILE)}
    rows = []
    for number, case in enumerate(CASES, 1):
        row = kept.get(str(number))
        if check or row is None or not holds(row):
            row = proven(number, *case)
        rows.append(row)
    if not check:
        write(FILE, FIELDS, rows)
        return False
    both = ([float(row["optimum"]) for row in some] for some in (rows, kept.values()))
    same = next(both) == next(both)
    print("the optima are the same" if same else "the file has other optima")
    return not same
