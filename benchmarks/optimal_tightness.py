"""How near the bounds come to the optimum, and how many boxes each rule saves.

    python benchmarks/optimal_tightness.py --objective edp

For every distinct shape of five networks the optimum is proven; bounds are then asked for the whole
space, for the best mapping's allocation of PEs, for its outer tiles, and for its structure. Some
layers are then proven again from their optimum, with one rule of the bounds left out at a time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from baselines import Proof, StructureSpace, prove
from baselines.optimal.solver import Solver
from cost_models.exact.bounds import ExactBounds
from cost_models.exact.bounds.bound_problem import (
    BANDWIDTH,
    DRAM_IN,
    FILLS,
    NOC_IN,
    PHASES,
    SLOTS,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.optimal_speed import MODELS, NETWORKS, shapes
from cost_models import Mapping, MappingBatch
from layers import DIMS
from maestro_env import Problem

LEVELS = ("space", "allocation", "outer tiles", "structure")

LAYERS = ("mobilenetv2.2", "mobilenetv2.32", "resnet18.0", "vgg16.4", "vgg16.8", "bert_base.1")
RULES = ("all rules", "no capacities", "no DRAM bandwidth", "no NoC bandwidth", "no steps in order")
SECONDS = 30.0


def bounds_of(problem: Problem, space: StructureSpace) -> ExactBounds:
    """The bounds of a problem."""
    bounds = problem.lower_bounds_of(space.structures)
    assert isinstance(bounds, ExactBounds)
    return bounds


def boxes_without(rule: str, problem: Problem, proof: Proof) -> str:
    """Boxes that a proof from the optimum needs where the bounds leave a rule out."""
    space = StructureSpace(problem.space)
    bounds = bounds_of(problem, space)
    facts, flags = bounds.problem.facts, bounds.problem.flags
    if rule == "no capacities":
        flags[:, SLOTS : SLOTS + 2] = 0
    elif rule == "no DRAM bandwidth":
        facts[:, BANDWIDTH + DRAM_IN : BANDWIDTH + DRAM_IN + 2] = np.inf
    elif rule == "no NoC bandwidth":
        facts[:, BANDWIDTH + NOC_IN : BANDWIDTH + NOC_IN + 2] = np.inf
    elif rule == "no steps in order":
        flags[:, [FILLS, PHASES]] = 0
    solver = Solver(problem, bounds, space, deadline=time.perf_counter() + SECONDS)
    solver.value, solver.mapping = proof.value, proof.mapping
    stop = solver.run()
    return f"{solver.counts.boxes:,}" + ("" if stop == "done" else " (not done)")


def ratios(problem: Problem, mapping: Mapping, value: float) -> list[float]:
    """Bound over optimum by `LEVELS`."""
    space = StructureSpace(problem.space)
    found = space.structures
    bounds = bounds_of(problem, space)
    which, boxes = space.roots()
    roots = bounds.bounds(which, boxes)
    one = MappingBatch.from_mappings([mapping], problem.layer.extents)
    row = int(space.allocation_of(one)[0])
    box = np.repeat(boxes[row][None], 3, axis=0)
    for d, dim in enumerate(DIMS):
        outer = int(np.searchsorted(found.outer_tiles[d], mapping.tiles[0][dim]))
        inner = int(np.searchsorted(found.inner_tiles[d], mapping.tiles[1][dim]))
        box[1:, :2, d] = outer
        box[2, 2:, d] = min(inner, len(found.inner_tiles[d]) - 1)
    own = bounds.bounds(np.full(3, row), box)
    return [float(bound) / value for bound in (roots.min(), *own)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--model", choices=list(MODELS), default="default")
    args = parser.parse_args()
    rows = []
    for layer in shapes(list(NETWORKS)):
        problem = Problem(layer, args.accelerator, args.objective, MODELS[args.model])
        proof = prove(problem)
        if proof.mapping is not None:
            rows.append(ratios(problem, proof.mapping, proof.value))
    print("| bound over optimum | least | median | most |\n|---|---|---|---|")
    for name, column in zip(LEVELS, np.array(rows).T, strict=True):
        print(f"| {name} | {column.min():.3f} | {np.median(column):.3f} | {column.max():.6f} |")
    print(f"| boxes | {' | '.join(RULES)} |\n|{'---|' * (len(RULES) + 1)}", flush=True)
    for layer in LAYERS:
        problem = Problem(layer, args.accelerator, args.objective, MODELS[args.model])
        proof = prove(problem)
        cells = [boxes_without(rule, problem, proof) for rule in RULES]
        print(f"| {layer} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
