"""How near the bounds come to the optimum, and how many boxes each rule saves.

    python benchmarks/optimal_tightness.py --objective edp --out docs/data/optimal-tightness.csv

For every distinct shape of five networks the optimum is proven; bounds are then asked for the whole
space, for the best mapping's allocation of PEs, for its outer tiles, and for its structure. Some
layers are then proven again from their optimum, with one rule of the bounds left out at a time.
Rows are added to the file: a ratio of bound to optimum by layer and level, boxes by layer and rule.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from baselines import Proof, StructureSpace, prove
from baselines.optimal.solver import Solver
from cost_models.exact.bounds import ExactBounds
from cost_models.exact.bounds.box_records import INNER, OUTER

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.optimal_speed import MODELS, NETWORKS, shapes
from cost_models import Mapping, MappingBatch
from layers import DIMS, Layer
from maestro_env import Problem

LEVELS = ("space", "allocation", "outer tiles", "structure")

LAYERS = ("mobilenetv2.2", "mobilenetv2.32", "resnet18.0", "vgg16.4", "vgg16.8", "bert_base.1")
RULES = ("all rules", "no capacities", "no DRAM bandwidth", "no NoC bandwidth", "no steps in order")
FIELDS = ("model", "accelerator", "objective", "layer", "level or rule", "ratio or boxes", "done")
Row = tuple[str, str, str, str, str, float | int, bool]


class EnoughBoxesError(Exception):
    """A proof has looked at as many boxes as it may."""


def bounds_of(problem: Problem, space: StructureSpace) -> ExactBounds:
    """The bounds of a problem."""
    bounds = problem.lower_bounds_of(space.structures)
    assert isinstance(bounds, ExactBounds)
    return bounds


def boxes_without(rule: str, problem: Problem, proof: Proof, most: int) -> tuple[int, bool]:
    """Boxes that a proof from the optimum needs where the bounds leave a rule out, and if it ends.

    Args:
        rule: One of `RULES`.
        problem: The problem.
        proof: Its proof.
        most: Boxes after which it is stopped.
    """
    space = StructureSpace(problem.space)
    bounds = bounds_of(problem, space)
    numbers = bounds.problem
    if rule == "no capacities":
        numbers["slots"] = 0
    elif rule == "no DRAM bandwidth":
        numbers["into"][:, OUTER] = numbers["out"][:, OUTER] = np.inf
    elif rule == "no NoC bandwidth":
        numbers["into"][:, INNER] = numbers["out"][:, INNER] = np.inf
    elif rule == "no steps in order":
        numbers["fills"] = numbers["phases"] = 0
    solver = Solver(problem, bounds, space)
    solver.value, solver.mapping = proof.value, proof.mapping

    def look() -> None:
        if solver.counts.boxes >= most:
            raise EnoughBoxesError

    solver.on_step = look
    try:
        done = solver.run() == "done"
    except EnoughBoxesError:
        done = False
    return solver.counts.boxes, done


def ratios(problem: Problem, mapping: Mapping, value: float) -> list[float]:
    """Bound over optimum by `LEVELS`."""
    space = StructureSpace(problem.space)
    found = space.structures
    bounds = bounds_of(problem, space)
    least = min(float(bounds.bounds(*roots).min()) for roots in space.roots())
    one = MappingBatch.from_mappings([mapping], problem.layer.extents)
    row = int(space.allocation_of(one)[0])
    _, everything = space.some_roots(1)
    box = np.repeat(everything[:1], 3, axis=0)
    for d, dim in enumerate(DIMS):
        outer = int(np.searchsorted(found.outer_tiles[d], mapping.tiles[0][dim]))
        inner = int(np.searchsorted(found.inner_tiles[d], mapping.tiles[1][dim]))
        box[1:, :2, d] = outer
        box[2, 2:, d] = min(inner, len(found.inner_tiles[d]) - 1)
    own = bounds.bounds(np.full(3, row), box)
    return [float(bound) / value for bound in (least, *own)]


def tables(rows: list[Row]) -> str:
    """The rows as two tables."""
    lines = ["| bound over optimum | least | median | most |", "|---|---|---|---|"]
    for level in LEVELS:
        found = np.array([float(row[5]) for row in rows if row[4] == level])
        if not len(found):
            continue
        lines.append(
            f"| {level} | {found.min():.3f} | {np.median(found):.3f} | {found.max():.6f} |"
        )
    lines += [f"| boxes | {' | '.join(RULES)} |", "|---" * (len(RULES) + 1) + "|"]
    for layer in dict.fromkeys(row[3] for row in rows if row[4] in RULES):
        cells = [
            f"{row[5]:,}" + ("" if row[6] else " (not done)")
            for row in rows
            if row[3] == layer and row[4] in RULES
        ]
        lines.append(f"| {layer} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--model", choices=list(MODELS), default="default")
    parser.add_argument("--layers", nargs="*", default=LAYERS, help="proven again without rules")
    parser.add_argument("--boxes", type=int, default=4_000_000, help="of a proof without a rule")
    parser.add_argument("--only-rules", action="store_true", help="no ratios of all the shapes")
    parser.add_argument("--out", type=Path, help="file that rows are added to")
    args = parser.parse_args()
    case = (args.model, args.accelerator, args.objective)

    def proven(layer: Layer | str) -> tuple[Problem, Proof]:
        problem = Problem(layer, args.accelerator, args.objective, MODELS[args.model])
        return problem, prove(problem)

    rows: list[Row] = []
    for layer in [] if args.only_rules else shapes(list(NETWORKS)):
        problem, proof = proven(layer)
        if proof.mapping is not None:
            found = ratios(problem, proof.mapping, proof.value)
            rows += [
                (*case, layer.name, level, ratio, proof.proven)
                for level, ratio in zip(LEVELS, found, strict=True)
            ]
    for name in args.layers:
        problem, proof = proven(name)
        rows += [
            (*case, name, rule, *boxes_without(rule, problem, proof, args.boxes)) for rule in RULES
        ]
    print(tables(rows))
    if args.out is not None:
        new = not args.out.exists()
        with args.out.open("a", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows] if new else rows)


if __name__ == "__main__":
    main()
