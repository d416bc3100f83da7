"""How near the bounds come to the optimum, and how many boxes each rule saves.

    python -m benchmarks optimal_tightness --objective edp

For every distinct shape of five networks the optimum is proven; bounds are then asked for the whole
space, for the best mapping's allocation of PEs, for its outer tiles, and for its structure. Some
layers are then proven again from their optimum, with one rule of the bounds left out at a time.
A row is a ratio of bound to optimum by layer and level, or boxes by layer and rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import layers
from baselines import Proof, StructureSpace, prove
from baselines.optimal.solver import Solver
from benchmarks.frame import Row, Table, grouped, show
from benchmarks.optimal_speed import MODELS, NETWORKS, shapes
from cost_models import Mapping, MappingBatch
from cost_models.exact.bounds import ExactBounds
from cost_models.exact.bounds.box_records import INNER, OUTER
from layers import DIMS
from maestro_env import Problem
from tests.baselines.proofs import bounds_of

LEVELS = ("space", "allocation", "outer tiles", "structure")

LAYERS = ("mobilenetv2.2", "mobilenetv2.32", "resnet18.0", "vgg16.4", "vgg16.8", "bert_base.1")
RULES = ("all rules", "no capacities", "no DRAM bandwidth", "no NoC bandwidth", "no steps in order")
RULE, RATIO = "level or rule", "ratio or boxes"


class EnoughBoxesError(Exception):
    """A proof has looked at as many boxes as it may."""


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
    assert isinstance(bounds, ExactBounds)
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


def told(rows: list[Row], given: Any) -> None:
    """Print two tables of the problems that the options name."""
    asked = (given.model, given.accelerator, given.objective)
    mine = grouped(rows, "model", "accelerator", "objective").get(asked, [])
    table: list[Row] = []
    for level in LEVELS:
        found = np.array([float(row[RATIO]) for row in mine if row[RULE] == level])
        if len(found):
            middle = f"{np.median(found):.3f}"
            least, most = f"{found.min():.3f}", f"{found.max():.6f}"
            shown = {"least": least, "median": middle, "most": most}
            table.append({"bound over optimum": level} | shown)
    show(table)
    ruled = grouped((row for row in mine if row[RULE] in RULES), "layer")
    show(
        [
            {"boxes": layer}
            | {r[RULE]: f"{int(r[RATIO]):,}" + " (not done)" * (r["done"] != "True") for r in own}
            for layer, own in ruled.items()
        ]
    )


def row_of(
    given: Any, model: str, accelerator: str, objective: str, layer: str
) -> list[tuple[str, float, bool]]:
    """Ratios by level of a shape, and boxes by rule where its rules are asked for."""
    problem = Problem(layers.parse(layer), accelerator, objective, MODELS[model])
    proof = prove(problem)
    rows: list[tuple[str, float, bool]] = []
    if proof.mapping is not None:
        levels = zip(LEVELS, ratios(problem, proof.mapping, proof.value), strict=True)
        rows += [(level, ratio, proof.proven) for level, ratio in levels]
    if layer in given.layers:
        rows += [(rule, *boxes_without(rule, problem, proof, given.boxes)) for rule in RULES]
    return rows


def keys(given: Any) -> Iterator[tuple[str, ...]]:
    """All shapes, and the layers whose rules are left out."""
    for name in dict.fromkeys([*(layer.name for layer in shapes(NETWORKS)), *given.layers]):
        yield given.model, given.accelerator, given.objective, name


TABLE = Table(
    __doc__,
    ("model", "accelerator", "objective", "layer", RULE, RATIO, "done"),
    keys,
    row_of,
    "optimal-tightness.csv",
    {
        "objective": "edp",
        "accelerator": "edge",
        "model": ("default", None, MODELS),
        "layers": (list(LAYERS), "proven again without rules"),
        "boxes": (4_000_000, "of a proof without a rule"),
    },
    {"boxes": 10_000},
    told,
)
