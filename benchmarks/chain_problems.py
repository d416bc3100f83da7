"""Random small problems on random chips of one to three memories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import cost_models
from baselines.optimal.chain_structures import ChainStructures
from cost_models import (
    AcceleratorError,
    Axis,
    Chain,
    ChainFacts,
    ChainLevel,
    Fanout,
    Widths,
    Wires,
    chain_facts_of,
)
from layers import TENSORS, Layer, LayerKind
from maestro_env import ChainSpace, Problem

HELD = ("111", "101", "011", "110", "100", "010", "001")
OBJECTIVES = ("edp", "energy", "latency", "edp", "latency*edp")
MODELS = ("", "", "", ":halo_time=none", ":latency=bound", ":double_buffer=false")
TRIES = 3_000


def random_problem(
    seed: int, least: int, most: int, uneven: bool = False, axis_dims: int = 1
) -> Problem:
    """A problem whose space holds between `least` and `most` mappings.

    Where dimensions may share an axis, those of some axis can.
    """
    rng, prices = np.random.default_rng(seed), np.random.default_rng((seed, 1))
    options, few = {"uneven": uneven, "axis_dims": axis_dims}, uneven or axis_dims > 1
    for _ in range(TRIES):
        try:
            chip = random_chip(rng, int(rng.integers(1, 3 if few else 4)), axis_dims)
        except AcceleratorError:
            continue
        objective, model = str(rng.choice(OBJECTIVES)), f"exact{rng.choice(MODELS)}"
        problem = Problem(random_layer(rng, uneven), chip, objective, model, options)
        taps = any(p.kind == "tile" and p.dim in "RS" for p in problem.space.parameters)
        second = axis_dims == 1 or any(p.kind == "parallel2" for p in problem.space.parameters)
        if least <= problem.space.size <= most and not taps and problem.space.moving and second:
            priced = _with_prices(prices, chip)
            return Problem(problem.layer, priced, objective, model, options)
    raise RuntimeError(f"seed {seed}: no space of {least} to {most} mappings in {TRIES} tries")


def random_part(seed: int, most: int, axis_dims: int = 1) -> Problem | None:
    """A part of a larger random space: a mapping of it, of which some choices are free.

    Returns:
        Up to `most` mappings, the drawn one among them; None where that has no room.
    """
    drawn = random_problem(seed, 3_000, 5_000_000, axis_dims=axis_dims)
    rng = np.random.default_rng((seed, 7))
    actions = drawn.space.sample(100, seed)
    feasible = np.flatnonzero(np.isfinite(drawn.look(actions).values))
    if not len(feasible):
        return None
    action = actions[feasible[0]]
    parameters = drawn.space.parameters
    only, size = {}, 1
    for column in rng.permutation(len(parameters)).tolist():
        parameter = parameters[column]
        if size * len(parameter) <= most:
            size *= len(parameter)
        else:
            only[parameter.name] = [parameter.choices[action[column]]]
    options = {"only": only, "axis_dims": axis_dims}
    return Problem(drawn.layer, drawn.accelerator, drawn.objective.name, drawn.cost_model, options)


def with_residents(problem: Problem, seed: int) -> Problem | None:
    """The same where some tensors are whole in the first memory, and tiles may have less of it.

    None where it is not next to DRAM, or none of its tensors were drawn.
    """
    rng, home = np.random.default_rng((seed, 47)), problem.accelerator.levels[1]
    held = [name for name, held in zip(TENSORS, home.holds, strict=True) if held]
    some = [name for name in held if rng.random() < 0.6]
    if not some:
        return None
    options = {**problem.cost_model.options, "resident": "+".join(some)}
    model = cost_models.load("exact", **options)
    space = problem.space.options
    found = Problem(problem.layer, problem.accelerator, problem.objective.name, model, space)
    costs = found.look(found.space.sample(64, rng)).costs
    needs = np.sort(costs.column(f"bytes.{home.name}")[costs.feasible])
    if len(needs) and rng.random() < 0.5:
        found.limits[f"max_bytes.{home.name}"] = max(float(needs[len(needs) // 3]), 1.0)
    return found


def structures_of(problem: Problem) -> ChainStructures:
    """The structures of a problem's space, with the facts that its bounds need."""
    facts = chain_facts_of(problem.cost_model, problem.layer, problem.accelerator, problem.limits)
    assert isinstance(facts, ChainFacts)
    assert isinstance(problem.space, ChainSpace)
    return ChainStructures(problem.space, facts)


def random_layer(rng: np.random.Generator, tiny: bool = False) -> Layer:
    """A small layer with strides, dilations and depthwise filters."""
    taps, more = int(rng.choice([1, 1, 2, 3])), int(rng.choice([1, 1, 3]))
    stride, dilation = int(rng.choice([1, 1, 2])), int(rng.choice([1, 1, 1, 2]))
    kind = LayerKind.DSCONV if rng.random() < 0.15 else LayerKind.CONV
    most = np.where(rng.random(4) < 0.5, 2, 4) if tiny else (7, 7, 6, 5)
    k, c, y, x = (int(rng.integers(1, n)) for n in most)
    sides = [(n - 1) * stride + dilation * (r - 1) + 1 for n, r in ((y, taps), (x, more))]
    k = 1 if kind is LayerKind.DSCONV else k
    size = {"K": k, "C": c, "Y": sides[0], "X": sides[1], "R": taps, "S": more}
    return Layer("small", kind, **size, stride=stride, dilation=dilation)


def random_chip(rng: np.random.Generator, memories: int, axis_dims: int = 1) -> Chain:
    """A chip with bypass, own buffers, fan-outs of up to two axes and levels that hold nothing.

    Axes have up to three units; more where they take several dimensions.

    Raises:
        AcceleratorError: It is none.
    """
    rate = int(rng.choice([8, 64, 512])) if rng.random() < 0.7 else None
    back = int(rng.choice([8, 64])) if rng.random() < 0.5 else None
    levels = [ChainLevel(name="DRAM", read_bw=rate, write_bw=back, kind="LPDDR4")]
    if rng.random() < 0.1:
        levels.append(bare("Top", "KC"))
    for place in range(memories):
        level = _memory(rng, place, memories, axis_dims)
        levels.append(level)
        if not level.fanout.any and len(levels) - 1 <= place + 2 and rng.random() < 0.15:
            levels.append(bare(f"B{place}", "KCY"))
    return Chain(tuple(levels), widths=Widths(8, 8, 16, 24), node_nm=28, clock_mhz=500)


def _with_prices(rng: np.random.Generator, chip: Chain) -> Chain:
    """The chip, whose fan-outs' wires cost as much as its memories in every other draw."""
    levels = []
    for level in chip.levels:
        prices = (float(p) for p in rng.uniform(0.0, 0.5, 2))
        wires = Wires(*prices) if level.fanout.axes and rng.random() < 0.5 else level.network
        levels.append(replace(level, network=wires))
    return replace(chip, levels=tuple(levels))


def bare(name: str, dims: str) -> ChainLevel:
    """A fan-out alone."""
    return ChainLevel(name=name, holds=(False,) * 3, fanout=Fanout((Axis(2, dims),)))


def _memory(rng: np.random.Generator, place: int, memories: int, axis_dims: int) -> ChainLevel:
    kept = str(rng.choice(HELD)) if memories > 1 else "111"
    holds = kept[0] == "1", kept[1] == "1", kept[2] == "1"
    room = int(2 ** rng.integers(5, 12))
    own = (None, max(room // 2, 1), None) if holds[1] and rng.random() < 0.3 else (None,) * 3
    shared = bool(rng.random() < 0.2)
    fanout = Fanout(tuple(_axis(rng, axis_dims) for _ in range(rng.integers(0, 3))))
    if place == memories - 1 and rng.random() < 0.2:
        fanout = Fanout((Axis(int(rng.integers(2, 4))),), any=True)
    return ChainLevel(
        name=f"M{place}",
        holds=holds,
        shared_bytes=None if rng.random() < 0.3 else room,
        tensor_bytes=own,
        double_buffer=(bool(rng.random() < 0.5), True, False),
        read_bw=int(rng.choice([8, 32, 256])) if shared or rng.random() < 0.5 else None,
        write_bw=None if shared or rng.random() < 0.6 else 16,
        shared_bw=shared,
        fanout=fanout,
    )


def _axis(rng: np.random.Generator, axis_dims: int) -> Axis:
    dims = "".join(rng.permutation(list("KCYXRS"))[: rng.integers(1, 4)])
    units = int(rng.integers(1, 4) if axis_dims == 1 else rng.integers(4, 9))
    return Axis(units, dims, bool(rng.random() < 0.8), bool(rng.random() < 0.8))
