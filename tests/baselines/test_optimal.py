"""Proofs agree with brute force, and bounds with every mapping they speak of."""

import numpy as np
import pytest

from baselines import ProveError, StructureSpace, Tree, can_prove, prove
from baselines.optimal import proving, solver, structure_space
from baselines.optimal.box_layout import LEAF
from baselines.optimal.boxes import split_boxes
from cost_models import PRESETS, Accelerator, MappingBatch
from layers import Layer
from maestro_env import Problem
from tests.baselines.proofs import (
    brute_force,
    narrowed,
    random_problem,
    random_resident_problem,
    random_wide_problem,
    random_wired_problem,
    worst_bound,
)

SEEDS = {
    random_problem: 24,
    random_wide_problem: 8,
    random_resident_problem: 12,
    random_wired_problem: 4,
}
"""How many problems of each kind are proven."""
PROVEN = [(draw, seed) for draw, count in SEEDS.items() for seed in range(count)]


@pytest.fixture
def _few_first_samples(monkeypatch):
    monkeypatch.setattr(proving, "FIRST_SAMPLES", 20)


@pytest.mark.usefixtures("_few_first_samples")
@pytest.mark.parametrize(("draw", "seed"), PROVEN)
def test_equal_to_brute_force(draw, seed):
    rng = np.random.default_rng([15, seed])
    assert_optimal(narrowed(draw(rng, moving=3), rng, 5_000))


def assert_optimal(problem):
    best, _ = brute_force(problem)
    proof = prove(problem)
    assert proof.proven
    assert proof.value == pytest.approx(best, rel=1e-9)
    assert proof.status == ("optimal" if np.isfinite(best) else "empty")


@pytest.mark.usefixtures("_few_first_samples")
@pytest.mark.parametrize("chip", PRESETS)
def test_equal_to_brute_force_on_every_chip(chip):
    rng = np.random.default_rng(list(chip.encode()))
    objective = str(rng.choice(["edp", "latency", "energy"]))
    layer = Layer("small", "CONV", K=3, C=2, Y=4, X=1, R=2, S=1)
    space = {"tiles": "divisors", "only": {"cluster_size": [2, 4]}}
    assert_optimal(narrowed(Problem(layer, PRESETS[chip], objective, space=space), rng, 4_000))


@pytest.mark.parametrize("draw", SEEDS)
def test_no_mapping_is_below_a_bound(draw):
    tried = 0
    for seed in range(12):
        rng = np.random.default_rng([16, seed])
        problem = draw(rng, most=24, moving=4 + seed % 5)
        worst, count = worst_bound(problem, rng, 150)
        assert worst <= 1 + 1e-9, seed
        tried += count
        values = problem.look(problem.space.sample(50, seed)).values
        assert problem.bound is None or problem.bound <= values.min() * (1 + 1e-9)
    assert tried > 400


def test_bounds_hold_where_writes_decide():
    """What loads lose by rounding is no loss of writes."""
    layer = Layer("writes", "CONV", K=6, C=1, Y=4, X=1, R=1, S=1, stride=(3, 1), N=2)
    chip = Accelerator(6, None, 1664, None, 2, 4)
    problem = Problem(layer, chip, "latency", "exact", {"tiles": "any", "parallel": "CYX"})
    worst, count = worst_bound(problem, np.random.default_rng(0), 2000)
    assert worst <= 1 + 1e-9
    assert count > 1000


def test_inner_and_outer_tiles_are_split_in_turn_where_sizes_have_a_price():
    def priced(chip, objective):
        problem = Problem("mlp.2", chip, objective)
        return problem.lower_bounds_of(StructureSpace(problem.space).structures).sizes_priced

    assert priced("archgym", "edp")
    assert not priced("archgym", "latency")
    assert not priced("edge", "edp")


def test_stops_and_says_how_far_it_came():
    problem = Problem("mobilenetv2.2", "edge")
    none = prove(problem, timeout=0)
    whole = prove(problem)
    assert none.status == "timeout"
    assert none.bound <= whole.value <= none.value
    assert none.gap > 0 == whole.gap
    near = prove(problem, gap=0.02)
    assert near.status in ("within_gap", "optimal")
    assert near.gap <= 0.02 + 1e-8
    assert near.counts.boxes <= whole.counts.boxes
    again = prove(problem, start=whole.mapping)
    assert again.value == whole.value


def test_tree_holds_the_whole_space():
    problem = Problem("mobilenetv2.2", "edge", space={"tiles": "divisors"})
    proof = prove(problem, record=True)
    space = StructureSpace(problem.space)
    assert sum(sum(space.sizes(*roots)) for roots in space.roots()) == problem.space.size
    splits = proof.tree.splits()
    inner = splits < Tree.EVALUATED
    assert len(splits) == len(space.structures) + 2 * inner.sum()
    assert (splits == Tree.EVALUATED).sum() == proof.counts.structures


@pytest.mark.parametrize("in_turn", [False, True])
def test_splits_leave_no_mapping_out_and_none_twice(in_turn):
    layer = Layer("small", "CONV", 24, 1, 6, 1, 1, 1)
    only = {"inner_tile_K": [2, 3, 9, 10, 11, 12, 20]}
    problem = Problem(layer, Accelerator(6), space={"tiles": "any", "only": only})
    space = StructureSpace(problem.space)
    which, boxes = space.some_roots(3)
    which, boxes = which[:3], boxes[:3]
    whole, leaves = sum(space.sizes(which, boxes)), 0
    while len(boxes):
        children, splits = split_boxes(boxes, space.tiles, in_turn)
        ends = splits == LEAF
        leaves += sum(space.sizes(which[ends], boxes[ends]))
        which, boxes = np.repeat(which[~ends], 2), children
    assert leaves == whole


def test_bad_input():
    problem = Problem("mobilenetv2.2", "edge")
    for options in ({"gap": -0.1}, {"timeout": -1}, {"threads": 0}, {"max_memory": 1}):
        with pytest.raises(ProveError, match=next(iter(options))):
            prove(problem, **options)
    power = Problem("mobilenetv2.2", "edge", "power")
    assert "exhaustive" in (can_prove(power) or "")
    with pytest.raises(ProveError, match="exhaustive"):
        prove(power)
    assert "no lower bounds" in (
        can_prove(Problem("mobilenetv2.2", "edge", "edp", "maestro")) or ""
    )


def test_little_memory_is_enough(monkeypatch):
    problem = Problem("mobilenetv2.32", "edge")
    plain = prove(problem)
    monkeypatch.setattr(proving, "LEAST_MEMORY", 1)
    monkeypatch.setattr(solver, "BATCH", 64)
    little = prove(problem, max_memory=10_000)
    assert little.status == "optimal"
    assert little.value == pytest.approx(plain.value, rel=1e-9)
    assert prove(problem, max_memory=10_000, record=True).status == "memory"


def test_space_of_one_mapping():
    problem = Problem("mobilenetv2.2", "edge")
    mapping = prove(problem).mapping
    assert mapping is not None
    batch = MappingBatch.from_mappings([mapping], problem.layer.extents)
    row = problem.space.encode(batch)[0]
    only = {
        p.name: [p.choices[choice]] for p, choice in zip(problem.space.parameters, row, strict=True)
    }
    alone = Problem("mobilenetv2.2", "edge", space={"only": only})
    assert alone.space.size == 1
    proof = prove(alone)
    assert proof.status == "optimal"
    assert proof.mapping == mapping


@pytest.fixture
def problem():
    """A problem with many allocations."""
    layer, chip = Layer("few", "CONV", 2, 2, 3, 3, 2, 2), Accelerator(2, 64, 400, 2, 1)
    return Problem(layer, chip, space={"full": True, "tiles": "divisors"})


def test_allocations_are_numbered_one_by_one(problem):
    space = StructureSpace(problem.space)
    count = len(space.structures)
    which = np.arange(count)
    units = space.structures.units(which)
    mappings = problem.space.decode(space.allocations.actions(which))
    keys = [
        (*units[row].ravel().tolist(), *mappings.bypass[row].ravel().tolist(),
         *mappings.parallel[row].tolist(), *mappings.parallel2[row].tolist(),
         int(mappings.cluster_size[row]))
        for row in range(count)
    ]  # fmt: skip
    assert len(set(keys)) == count
    again = space.allocation_of(mappings)
    assert (space.structures.units(again) == units).all()
    assert sum(sum(space.sizes(*roots)) for roots in space.roots()) == problem.space.size


def test_roots_may_come_in_lots(problem, monkeypatch):
    whole = prove(problem)
    monkeypatch.setattr(structure_space, "AT_ONCE", 7)
    lots = prove(problem)
    assert lots.status == "optimal"
    assert lots.value == pytest.approx(whole.value, rel=1e-9)
    two = prove(problem, threads=2)
    assert two.value == pytest.approx(whole.value, rel=1e-9)


def test_a_proof_that_is_out_of_time_before_it_saw_all_roots_knows_physical_bounds(
    problem, monkeypatch
):
    whole = prove(problem)
    monkeypatch.setattr(structure_space, "AT_ONCE", 7)
    monkeypatch.setattr(solver, "SURE", 0)
    proof = prove(problem, timeout=0)
    assert proof.status == "timeout"
    assert problem.bound == pytest.approx(proof.bound)
    assert proof.bound <= whole.value <= proof.value
