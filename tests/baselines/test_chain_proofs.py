"""Proofs on chips of any depth, against brute force and against random mappings."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import baselines
import cost_models
from baselines import ProofProgress, can_prove, prove
from baselines.optimal.chain_entries import as_uneven, even_problem
from baselines.optimal.chain_fans import fans_of, units_below
from baselines.optimal.chain_proving import _even_first, prove_chain
from baselines.optimal.chain_solver import ChainSolver
from baselines.optimal.chain_values import improved
from baselines.optimal.proof import ProofLimits
from benchmarks.chain_check import brute_force, part_rows
from benchmarks.chain_problems import random_problem, structures_of
from benchmarks.chain_proofs import LOSSES, losses_of
from benchmarks.field.cases import FieldCase
from cost_models import (
    Chain,
    ChainBatch,
    ChainMapping,
    Frontier,
)
from layers import Layer
from maestro_env import ChainSpace, Problem
from tests.baselines.proofs import least_of, spread_bounds

SEEDS = (0, 2, 7, 9, 17, 27, 32, 51)
"""Problems of one to three memories of which an earlier bound was too high."""
PART_SEEDS = (8, 21, 37, 57)
"""Parts of problems of two and three memories of which an earlier proof was wrong."""
UNEVEN_SEEDS = (9, 11, 13)
"""Problems of one and two memories."""


def proven(problem: Problem) -> float:
    """The least value of all mappings, which the proof gives."""
    best, proof = brute_force(problem), prove(problem)
    assert proof.proven
    assert proof.bound == proof.value
    assert math.isclose(proof.value, best, rel_tol=1e-9)
    return best


@pytest.mark.parametrize(
    ("seed", "most", "uneven"),
    [(seed, 30_000, False) for seed in SEEDS] + [(seed, 8_000, True) for seed in UNEVEN_SEEDS],
)
def test_proofs_are_the_optimum_of_brute_force(seed: int, most: int, uneven: bool) -> None:
    proven(random_problem(seed, 1_000, most, uneven=uneven))


@pytest.mark.parametrize(
    ("seed", "axis_dims", "uneven"),
    [(75, 2, False), (85, 2, False), (91, 2, False), (38, 4, False), (6, 3, True)],
)
def test_dimensions_that_share_an_axis_are_proven(seed: int, axis_dims: int, uneven: bool) -> None:
    """Of each, no mapping with one dimension an axis is as good."""
    problem = random_problem(seed, 1_000, 100_000, uneven, axis_dims)
    best = proven(problem)
    plain = Problem(
        problem.layer,
        problem.accelerator,
        problem.objective.name,
        problem.cost_model,
        {"uneven": uneven},
    )
    assert brute_force(plain) > best * (1 + 1e-9)


@pytest.mark.parametrize("narrow", [False, True])
def test_ways_are_what_all_choices_of_axes_come_to(narrow: bool) -> None:
    """Three dimensions on an axis, the same one on two, axes on other terms, choices left out."""
    levels = [
        {"name": "DRAM", "kind": "LPDDR4"},
        {
            "name": "L1",
            "bytes": 64,
            "fanout": {
                "axes": [4, 2], "dims": ["KCY", "K"], "multicast": [True, False],
                "reduce": [True, True],
            },
        },
    ]  # fmt: skip
    chip = Chain.from_dict({"levels": levels})
    only = {"L1.axis0.units": [2, 4], "L1.axis0.dim2": ["none", "C"]} if narrow else {}
    layer = Layer("small", "CONV", K=4, C=5, Y=3, X=1, R=1, S=1)
    space = ChainSpace(layer, chip, axis_dims=3, only=only)
    own = [i for i, p in enumerate(space.parameters) if ".axis" in p.name]
    picks = np.array(list(product(*(range(len(space.parameters[i])) for i in own))))
    actions = np.zeros((len(picks), len(space.parameters)), np.int64)
    actions[:, own] = picks
    axes, seen = chip.levels[1].fanout.axes, set()
    for mapping in space.decode(actions):
        units, alone = dict.fromkeys("KCYXRSNG", 1), set()
        for spread in mapping.entries[0].parallel:
            units[spread.dim] *= spread.units
            if spread.units > 1 and spread.axis == 1:
                alone.add(("KCYXRSNG".index(spread.dim), axes[1].multicast, axes[1].reduce))
        seen.add((tuple(map(min, units.values(), layer.extents)), tuple(sorted(alone))))
    fans = fans_of(space)[1]
    assert {(fan.units, fan.flags) for fan in fans} == seen
    assert len(fans) == len(seen) > (8 if narrow else 16)
    for way, fan in enumerate(fans):
        action = np.zeros((1, len(space.parameters)), np.int64)
        action[0, list(fan.columns)] = list(fan.columns.values())
        units = space.decode(action).units_along(0)[0]
        assert tuple(np.minimum(units, layer.extents).tolist()) == fan.units
        for d, fewer in enumerate(units_below(space, 1, way)):
            others = [o.units[d] for o in fans if o.flags == fan.flags and o.units[d] < fan.units[d]
                      and all(o.units[e] == fan.units[e] for e in range(8) if e != d)]  # fmt: skip
            assert fewer == max(others, default=0)


def test_uneven_mappings_begin_from_the_best_even_one() -> None:
    """A real layer's uneven space ends with a gap, and never above the even optimum."""
    even = prove(Problem("mlp.2", "nvdla-cacc"), boxes=5_000)
    problem = Problem("mlp.2", "nvdla-cacc", space={"uneven": True})
    uneven = prove(problem, boxes=200)
    assert uneven.status == "boxes"
    assert 0 < uneven.bound < uneven.value <= even.value
    assert isinstance(even.mapping, ChainMapping)
    space = even_problem(problem).space
    batch = ChainBatch.from_mappings([even.mapping], problem.accelerator)
    action = as_uneven(problem.space, space, space.encode(batch)[0])
    assert problem.look(action[None]).values[0] == pytest.approx(even.value, rel=1e-12)


def test_an_even_mapping_that_is_not_proven_is_bettered_in_the_uneven_space() -> None:
    proofs = [
        prove(
            Problem("bert_base.0", "eyeriss-rs", "energy", space={"axis_dims": 2} | uneven),
            boxes=10_000,
        )
        for uneven in ({}, {"uneven": True})
    ]
    assert [proof.status for proof in proofs] == ["boxes"] * 2
    assert proofs[1].value < 0.93 * proofs[0].value


@pytest.mark.parametrize("layer", ["bert_base.0", "mobilenetv2.2"])
def test_uneven_mappings_of_two_levels_begin_with_the_default_space_s_best(layer: str) -> None:
    """But for tiles of L2 that are no multiple of the other kind's, as with `bert_base.0`."""
    default = prove(Problem(layer, "edge", "energy"))
    uneven = prove(Problem(layer, "edge", "energy", space={"uneven": True}), boxes=400)
    assert uneven.value <= 1.001 * default.value


def test_uneven_mappings_begin_no_worse_than_whole_factors(monkeypatch: Any) -> None:
    """A few boxes of all tiles end far above whole factors' best, from which they begin."""
    case = FieldCase("llama-3-8b.0", "edge")
    problem = Problem(case.layer, case.chip, "energy", case.model, {"uneven": True})
    whole = prove(even_problem(problem, whole=True), boxes=250)
    assert whole.value < 0.99 * prove(even_problem(problem), boxes=250).value
    solver = ChainSolver(problem, ())
    monkeypatch.setattr(solver, "better", lambda action: solver.look(action[None]))
    _even_first(problem, solver, None, ProofLimits(boxes=1_000))
    assert solver.value <= whole.value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("chip", "axis_dims"),
    [("simba", 1), ("nvdla-cacc", 1), ("edge", 2), ("eyeriss-rs", 3)],
)
def test_no_random_mapping_is_below_the_bound_of_its_spread(chip: str, axis_dims: int) -> None:
    """No way of spreading units is below its own bound, nor that below the bound of all ways."""
    problem = Problem("mobilenetv2.2", chip, space={"axis_dims": axis_dims})
    structures = structures_of(problem)
    all_ways = Frontier(spread_bounds(structures, structures.widest()), math.inf)
    rng = np.random.default_rng(0)
    for row in rng.choice(len(structures.ways), 2, replace=False):
        way = structures.ways[row]
        bounds = spread_bounds(structures, structures.spread(way))
        low = least_of(bounds)
        assert all_ways.reach(bounds) <= low * (1 + 1e-9)
        actions = problem.space.sample(800, int(row))
        for level, pick in enumerate(way):
            for column, choice in structures.fans[level][pick].columns.items():
                actions[:, column] = choice
        values = problem.look(actions).values
        assert np.isfinite(values).any()
        assert values.min() >= low * (1 - 1e-9)


@pytest.mark.parametrize("chip", ["simba", "nvdla-cacc", "eyeriss-rs"])
def test_bounds_rise_to_a_mapping_and_stay_below_it(chip: str) -> None:
    problem = Problem("resnet18.5", chip)
    actions = problem.space.sample(500, 0)
    values = problem.look(actions).values
    action, value, looked = improved(problem, actions[int(np.argmin(values))])
    assert value < values.min()
    assert looked > len(actions)
    mapping = problem.look(action[None]).mappings[0]
    shares = {name: float(share) for name, share in losses_of(problem, mapping).items()}
    assert set(shares) == set(LOSSES)
    assert all(0.3 < share <= 1 for share in shares.values())
    assert shares["energy_way"] <= shares["energy_structure"]
    assert shares["energy_structure"] > 0.97


def test_first_tiles_that_come_later_are_not_waited_for_twice() -> None:
    """A bound of steps that wait kept what they wait for, and inner first tiles were added."""
    problem = random_problem(20226, 3_000, 5_000_000)
    mapping = problem.look(problem.space.sample(12, 20226)[5:6]).mappings[0]
    shares = losses_of(problem, mapping)
    assert max(float(share) for share in shares.values()) <= 1


@pytest.mark.parametrize("seed", PART_SEEDS)
def test_proofs_of_parts_without_a_first_value_are_the_optimum(seed: int) -> None:
    """Bounds were too high where a loop does not run in a ragged piece, and where the tile around
    is smaller than all that a memory is offered."""
    (row,) = part_rows(seed, most=5_000)
    assert row["agrees"], row


@pytest.mark.parametrize("seed", [6, 22, 45, 57])
def test_proofs_with_tensors_on_the_chip_need_no_first_value(seed: int) -> None:
    """Some tensors are whole in the first memory, of which tiles may have less."""
    (row,) = part_rows(seed, most=4_000, resident=True)
    assert row["agrees"], row


def test_tensors_on_the_chip_leave_no_room_or_are_refused() -> None:
    model = cost_models.load("exact", resident="output")
    empty = Problem("mlp.2", "simba", "energy", model, limits={"max_bytes.GlobalBuffer": 0.001})
    assert (prove(empty).status, prove(empty).bound) == ("empty", math.inf)
    for space in ({"uneven": True}, {"full": True}):
        reason = can_prove(Problem("mlp.2", "simba", "energy", model, space))
        assert reason is not None
        assert "a space that is neither full nor uneven" in reason


def test_a_way_whose_units_no_tile_needs_is_ruled_out() -> None:
    """Some way of it leaves no tile inside; such tables were taken for a mistake of shape."""
    assert prove(Problem("resnet18.conv2_1a", "eyeriss-rs"), boxes=3_000_000).status == "optimal"


def test_loop_orders_may_be_narrowed() -> None:
    """Classes of orders that the space lacks lead to no mapping."""
    drawn = random_problem(30186, 3_000, 5_000_000)
    action = drawn.space.sample(12, 30186)[11]
    picked = zip(drawn.space.parameters, action, strict=True)
    only = {p.name: [p.choices[pick]] for p, pick in picked if p.name.startswith("M0.")}
    proven(Problem(drawn.layer, drawn.accelerator, "edp", drawn.cost_model, {"only": only}))


def test_limits_hold_and_an_empty_space_is_proven() -> None:
    free = random_problem(2, 1_000, 30_000)
    limit = {"max_latency_cycles": 1.0}
    none = Problem(free.layer, free.accelerator, "edp", "exact", limits=limit)
    assert prove(none).status == "empty"
    name = free.accelerator.memories[0].name
    proven(Problem(free.layer, free.accelerator, "edp", limits={f"max_bytes.{name}": 24}))


def test_a_gap_is_given_whenever_it_ends() -> None:
    problem = Problem("gemm:M=16,N=32,K=32", "nvdla-cacc")
    proof = prove(problem, timeout=0.0)
    assert proof.status == "timeout"
    assert problem.bound is not None
    assert 0 < proof.bound <= proof.value
    same = [prove(Problem("gemm:M=30,N=50,K=70", "simba"), boxes=300) for _ in range(2)]
    assert same[0].status == "boxes"
    assert same[0].value == same[1].value
    assert same[0].bound == same[1].bound


def test_a_watcher_may_end_it() -> None:
    steps: list[ProofProgress] = []

    def stop(step: ProofProgress) -> None:
        steps.append(step)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prove(Problem("gemm:M=16,N=32,K=32", "simba"), progress=stop)
    assert 0 < steps[0].bound <= steps[0].value
    assert steps[0].mapping is not None


def test_little_memory_ends_with_a_gap() -> None:
    proof = prove_chain(Problem("resnet18.5", "simba"), None, ProofLimits(max_memory=1_000))
    assert proof.status == "memory"
    assert 0 < proof.bound <= proof.value


def test_tables_that_have_no_room_are_worked_out_again() -> None:
    problem = Problem(Layer.gemm("product", 16, 32, 32), "simba", "edp")
    much, little = (
        prove_chain(problem, None, ProofLimits(max_memory=room)) for room in (1 << 30, 1_000_000)
    )
    assert (little.status, little.value) == ("optimal", much.value)
    assert little.counts.boxes > much.counts.boxes


def test_a_layer_without_tiles_is_refused() -> None:
    one = Problem(Layer("one", "CONV", 1, 1, 3, 3, 3, 3), "eyeriss-rs")
    assert "no tiles to choose" in str(can_prove(one))
    actions = one.space.canonical(one.space.sample(5, 0))
    assert (one.look(actions).values == one.look(one.space.canonical(actions)).values).all()


def test_searchers_give_the_proven_mapping() -> None:
    problem = Problem("gemm:M=16,N=32,K=32", "simba")
    result = baselines.load("optimal").search(problem, 400, 0)
    assert result.proven
    assert result.gap == 0
    assert result.best_value == problem.look(problem.best_action[None]).values[0]


def test_a_model_without_bounds_is_refused() -> None:
    """What else has no bounds is refused by rows of tests/hostile/rows/chain_searches.py."""
    walked = Problem("resnet18.5", "simba", cost_model="simulator")
    assert "'simulator' has no bounds" in str(can_prove(walked))


def test_too_many_ways_of_sharing_axes_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("baselines.optimal.chain_fans.MOST_WAYS", 1_000)
    levels = [
        {"name": "DRAM", "kind": "LPDDR4"},
        {"name": "L1", "bytes": 4096, "fanout": {"units": 256, "dims": "KCY"}},
    ]
    chip = Chain.from_dict({"levels": levels})
    layer = Layer.gemm("product", 256, 256, 256)
    assert can_prove(Problem(layer, chip)) is None
    why = str(can_prove(Problem(layer, chip, space={"axis_dims": 3})))
    assert why.startswith("L1 spreads units in more than 1,000 ways; use a smaller axis_dims")
