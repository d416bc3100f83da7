"""Prove the problems of `mapper bench` and write them: maestro_env/bench.csv.

    python -m benchmarks bench_problems            # what the file has and holds is kept
    python -m benchmarks bench_problems --check    # prove all of them again

The list is fixed: a problem's number, layer, chip and objective never change. Where the model or a
chip's prices change, so do optima, and result files of before are refused.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from pathlib import Path
from typing import Any

import maestro_env
from baselines import prove
from cost_models import mapping_from
from maestro_env import Problem
from marl_common import atomic_write

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


def proven(number: int, layer: str, chip: str, objective: str) -> dict[str, Any]:
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


def holds(row: dict[str, Any]) -> bool:
    """Whether today's model gives the mapping its value."""
    problem = Problem(row["layer"], row["accelerator"], row["objective"])
    mapping = mapping_from(json.loads(row["mapping"]))
    cost = problem.cost_model.evaluate(problem.layer, problem.accelerator, mapping)
    value = math.prod(getattr(cost, figure) for figure in problem.objective.figures)
    return math.isclose(value, float(row["optimum"]), rel_tol=1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    kept = {row["number"]: row for row in csv.DictReader(FILE.open())} if FILE.is_file() else {}
    rows = []
    for number, case in enumerate(CASES, 1):
        row = kept.get(str(number))
        if args.check or row is None or not holds(row):
            row = proven(number, *case)
        rows.append(row)
    if args.check and [float(row["optimum"]) for row in rows] != [
        float(row["optimum"]) for row in kept.values()
    ]:
        raise SystemExit("the file has other optima; run python -m benchmarks bench_problems")
    if not args.check:
        with atomic_write(FILE) as draft, open(draft, "w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
