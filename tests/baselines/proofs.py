"""Random small problems, brute force over all of their mappings, and boxes around mappings."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cost_models
from baselines.optimal import StructureSpace
from baselines.optimal.chain_structures import ChainStructures
from cost_models import (
    Accelerator,
    ChainBrancher,
    CostModel,
    CostsToGo,
    LowerBounds,
    MappingBatch,
    Wires,
)
from layers import DIMS, TENSORS, Layer
from maestro_env import Problem
from tests.cost_models.tiny import random_chip

KINDS = ("CONV", "CONV", "CONV", "DSCONV", "NGCONV", "GEMM")
WITHIN = {"CONV": "KCYXRSN", "DSCONV": "CYXRSN", "NGCONV": "KCYXRSNG", "GEMM": "KCYN"}
"""Dimensions that a kind of layer may have."""
OBJECTIVES = ("edp", "edp", "latency", "energy", "energy_total", "edp_total", "latency*edp")
WITH_AREA = ("area", "edp*area")


def _pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def random_layer(rng: np.random.Generator, most: int, moving: int = 8) -> Layer:
    """A layer of any kind with extents up to `most`: batch, groups, strides, dilations.

    Args:
        rng: Draws.
        most: Largest extent; taps are five at most.
        moving: How many extents may be above 1.
    """
    kind = _pick(rng, *KINDS)
    free = [d for d in "KCYXRSNG" if d in WITHIN[kind]]
    chosen = {str(d) for d in rng.permutation(free)[:moving]}

    def extent(d: str, largest: int) -> int:
        n = int(rng.integers(1, largest + 1))
        return n if d in chosen else 1

    k, c, p, q, r, s, n, groups = map(extent, "KCYXRSNG", [most] * 4 + [5, 5, 3, 3])
    strides = (_pick(rng, 1, 1, 1, 2, 3), _pick(rng, 1, 1, 2))
    dilations = (_pick(rng, 1, 1, 1, 1, 2, 3), _pick(rng, 1, 1, 1, 2))
    if kind == "GEMM":
        strides, dilations = (1, 1), (1, 1)
    y = (p - 1) * strides[0] + dilations[0] * (r - 1) + 1
    x = (q - 1) * strides[1] + dilations[1] * (s - 1) + 1
    return Layer("random", kind, k, c, y, x, r, s, strides, n, groups, dilations)


def random_accelerator(rng: np.random.Generator, closed: bool) -> Accelerator:
    """Few PEs, tight or open buffers (`closed`: none is open), narrow bandwidths."""

    def number(low: int, high: int) -> int | None:
        return int(rng.integers(low, high)) if closed or rng.random() < 0.7 else None

    bandwidths = [int(_pick(rng, 1, 2, 3, 8, 16)) if rng.random() < 0.8 else None for _ in "ab"]
    return Accelerator(
        int(rng.integers(1, 17)), number(12, 300), number(60, 3000), *bandwidths,
        int(_pick(rng, 1, 1, 2, 4)),
    )  # fmt: skip


def random_model(rng: np.random.Generator) -> CostModel:
    """The exact model with any options."""
    return cost_models.load(
        "exact",
        halo_time=_pick(rng, "retain", "retain", "none"),
        halo_space=_pick(rng, "union", "union", "tile"),
        latency=_pick(rng, "stepwise", "stepwise", "stepwise", "bound"),
        double_buffer=_pick(rng, True, False),
        energy=_pick(rng, "cacti", "cacti", "maestro", "eyeriss"),
        area=_pick(rng, "provisioned", "maestro"),
    )


def random_space(rng: np.random.Generator, layer: Layer) -> dict[str, Any]:
    """Options of a space."""
    dims = [d for d in DIMS if rng.random() < 0.7 and not (layer.depthwise and d == "K")]
    space = {
        "tiles": _pick(rng, "balanced", "divisors", "any"),
        "filters": _pick(rng, "whole", "whole", "free"),
        "parallel": "".join(dims) or "C",
        "orders": _pick(rng, "priority", "priority", "priority", "permutation"),
    }
    if rng.random() < 0.2:
        space["co_search"] = ("num_pes",)
    return space


def random_problem(rng: np.random.Generator, most: int = 8, moving: int = 8) -> Problem:
    """A problem with any options; some have limits that few mappings meet."""
    with_area = rng.random() < 0.1
    layer, model = random_layer(rng, most, moving), random_model(rng)
    problem = Problem(
        layer,
        random_accelerator(rng, with_area),
        _pick(rng, *(WITH_AREA if with_area else OBJECTIVES)),
        model,
        random_space(rng, layer),
    )
    if rng.random() < 0.25:
        costs = problem.look(problem.space.sample(64, rng)).costs
        for name in ("latency_cycles", "energy_nj"):
            figures = np.sort(getattr(costs, name)[costs.feasible])
            if len(figures) and rng.random() < 0.7:
                problem.limits[f"max_{name}"] = float(figures[len(figures) // 4])
    return problem


def random_wide_problem(rng: np.random.Generator, most: int = 8, moving: int = 8) -> Problem:
    """As `random_problem`, on chips whose tensors differ, with padding, boxes, and full spaces."""
    layer = random_layer(rng, most, moving)
    if rng.random() < 0.4 and layer.kind != "GEMM":
        low, high = (int(n) for n in rng.integers(0, 2, 2))
        layer = replace(layer, padding=(min(low, layer.Y), 0, 0, min(high, layer.X)))
    model = random_model(rng)
    options = dict(model.options)
    options |= {
        "padding": _pick(rng, "counted", "free", "free"),
        "window": _pick(rng, "touched", "touched", "box"),
    }
    chip = random_chip(rng) if rng.random() < 0.7 else random_accelerator(rng, closed=False)
    space = random_space(rng, layer)
    if rng.random() < 0.7:
        space["full"] = True
    model = cost_models.load("exact", **options)
    return Problem(layer, chip, _pick(rng, *OBJECTIVES), model, space)


def random_resident_problem(rng: np.random.Generator, most: int = 8, moving: int = 8) -> Problem:
    """As `random_problem`, with tensors in L2 before the layer begins and what they leave of it."""
    plain = random_problem(rng, most, moving)
    options = {**plain.cost_model.options, "resident": random_tensors(rng)}
    if rng.random() < 0.5:
        options["cycle_nj"] = float(_pick(rng, 1e-4, 0.01, 1.0))
    limits = dict(plain.limits)
    if rng.random() < 0.6:
        limits["max_l2_bytes"] = float(rng.integers(4, 400))
    model = cost_models.load("exact", **options)
    space = plain.space.options
    return Problem(plain.layer, plain.accelerator, plain.objective.name, model, space, limits)


def random_wired_problem(rng: np.random.Generator, most: int = 8, moving: int = 8) -> Problem:
    """As `random_problem`, of energy on chips whose wires are so dear that they decide."""
    plain = random_problem(rng, most, moving)
    dram, l2, l1 = plain.accelerator.levels
    l2 = replace(l2, network=Wires(2.0, 300.0, 40.0), port_um2_per_bit=60.0)
    chip = replace(plain.accelerator, levels=(dram, l2, l1))
    return Problem(plain.layer, chip, "energy", "exact", plain.space.options)


def random_tensors(rng: np.random.Generator) -> str:
    """One to three tensors, as the option `resident` names them."""
    chosen = int(rng.integers(1, 8))
    return "+".join(t for i, t in enumerate(TENSORS) if chosen >> i & 1)


def narrowed(problem: Problem, rng: np.random.Generator, most: int) -> Problem:
    """The problem with parameters narrowed until it has at most so many different mappings."""
    while True:
        space = problem.space
        if size_of(problem) <= most:
            return problem
        wide = [p for p in space.parameters if len(p) > 1 and p.kind not in ("priority", "order")]
        if not wide:
            return problem
        parameter = wide[int(rng.integers(len(wide)))]
        keep = rng.permutation(len(parameter))[: max(1, 2 * len(parameter) // 3)]
        options = dict(space.options)
        options["only"] = dict(options["only"])
        options["only"][parameter.name] = [parameter.choices[i] for i in sorted(keep)]
        problem = Problem(
            problem.layer, problem.accelerator, problem.objective.name, problem.cost_model, options,
            problem.limits,
        )  # fmt: skip


def _orders(problem: Problem, level: int) -> tuple[list[int], NDArray[np.int64]]:
    """Columns of a level's order, and the choices there that give different orders."""
    space = problem.space
    kinds = ("priority", "order")
    columns = [i for i, p in enumerate(space.parameters) if p.level == level and p.kind in kinds]
    choices = np.array(list(product(*(range(int(space.nvec[c])) for c in columns))))
    actions = np.zeros((len(choices), len(space.nvec)), np.int64)
    actions[:, columns] = choices
    orders = space.decode(actions).orders[:, level]
    # a loop of one iteration may stand anywhere
    still = {d for d, n in enumerate(problem.layer.extents) if n == 1}
    keys = [tuple(d for d in order if d not in still) for order in orders.tolist()]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    return columns, choices[sorted(first.values())]


def size_of(problem: Problem) -> int:
    """Mappings that differ, orders of loops that never iterate left out."""
    size = 1
    for parameter in problem.space.parameters:
        if parameter.kind not in ("priority", "order"):
            size *= len(parameter)
    moving = sum(n > 1 for n in problem.layer.extents)
    return size * int(np.prod(np.arange(1, moving + 1))) ** 2


def every_action(problem: Problem) -> Iterator[NDArray[np.int64]]:
    """All actions whose mappings differ, in batches."""
    space = problem.space
    levels = [_orders(problem, level) for level in (0, 1)]
    ordered = {column for columns, _ in levels for column in columns}
    rest = [i for i in range(len(space.nvec)) if i not in ordered]
    others = np.array(list(product(*(range(int(space.nvec[i])) for i in rest))), dtype=np.int64)
    for choices in product(levels[0][1], levels[1][1]):
        actions = np.zeros((len(others), len(space.nvec)), np.int64)
        actions[:, rest] = others
        for (columns, _), choice in zip(levels, choices, strict=True):
            actions[:, columns] = choice
        yield actions


def brute_force(problem: Problem) -> tuple[float, int]:
    """The least value of all mappings, and how many there are."""
    best, count = np.inf, 0
    for actions in every_action(problem):
        best = min(best, float(problem.look(actions).values.min()))
        count += len(actions)
    return best, count


def bounds_of(problem: Problem, space: StructureSpace) -> LowerBounds:
    """The bounds of a problem."""
    bounds = problem.lower_bounds_of(space.structures)
    assert bounds is not None
    return bounds


def boxes_around(
    space: StructureSpace, mappings: MappingBatch, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """A box that holds each mapping: its structure alone, some tiles more, or the outer tiles."""
    found = space.structures
    which = space.allocation_of(mappings)
    boxes = np.empty((len(mappings), 4, len(DIMS)), np.int16)
    kinds = rng.integers(0, 4, len(mappings))
    for level, tiles in enumerate((found.outer_tiles, found.inner_tiles)):
        for d, choices in enumerate(tiles):
            last = len(choices) - 1
            at = np.minimum(np.searchsorted(choices, mappings.tiles[:, level, d]), last)
            low = np.maximum(at - rng.integers(0, 4, len(at)), 0)
            high = np.minimum(at + rng.integers(0, 4, len(at)), last)
            wide = kinds >= (2 if level == 0 else 1)
            boxes[:, 2 * level, d] = np.where(wide, low, at)
            boxes[:, 2 * level + 1, d] = np.where(wide, high, at)
    everything = kinds == 3
    boxes[everything, 2] = 0
    boxes[everything, 3] = [len(choices) - 1 for choices in found.inner_tiles]
    return which, boxes


def worst_bound(problem: Problem, rng: np.random.Generator, count: int) -> tuple[float, int]:
    """Largest ratio of a box's bound to the value of a mapping in it, and how many were tried."""
    space = StructureSpace(problem.space)
    found = problem.look(problem.space.sample(count, rng))
    feasible = np.flatnonzero(found.feasible)
    if len(feasible) == 0:
        return 0.0, 0
    mappings = found.mappings.take(feasible)
    which, boxes = boxes_around(space, mappings, rng)
    bounds = bounds_of(problem, space).bounds(which, boxes)
    return float((bounds / found.values[feasible]).max()), len(feasible)


def spread_bounds(
    structures: ChainStructures, spread: Any, powers: tuple[int, int] = (1, 1), parts: bool = True
) -> ChainBrancher:
    """The bounds of a spread of units, which may idle, of energy by parts or as a whole."""
    none = ((0,) * len(DIMS),) * (structures.facts.depth + 1)
    bounds = ChainBrancher(CostsToGo(spread, structures.tiles, none), powers)
    bounds.fill_all()
    if parts:
        bounds.fill_ports()
    return bounds


def least_of(bounds: ChainBrancher) -> float:
    """The least value that they allow; inf where there is none."""
    found = bounds.children(bounds.root(), np.inf).bounds
    return float(found[0]) if len(found) else np.inf
