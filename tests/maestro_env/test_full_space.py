"""The full map space: two parallel dimensions a level, and tensors that pass one."""

from dataclasses import replace

import numpy as np
import pytest

import baselines
import cost_models
from cost_models import Accelerator, Level
from layers import Layer, LayerKind
from maestro_env import MapSpace, MapSpaceError, Problem, ProblemError

LAYER = Layer("conv", LayerKind.CONV, K=16, C=8, Y=14, X=14, R=3, S=3)
CHIP = Accelerator(64, 512, 100_000, 16, 8)
SPACE = MapSpace(LAYER, CHIP, full=True)


def test_every_action_is_a_mapping_and_comes_back() -> None:
    batch = SPACE.decode(SPACE.sample(2000, 3))
    mappings = list(batch)  # each is checked as it is built
    assert {m.parallel2[0] is None for m in mappings} == {True, False}
    assert len({m.bypass for m in mappings}) == 25
    actions = SPACE.encode(batch)
    again = SPACE.decode(actions)
    assert list(again) == mappings
    assert np.array_equal(SPACE.encode(again), actions)


def test_a_second_dimension_that_is_the_first_is_none_where_none_is_not_offered() -> None:
    only = {"outer_parallel2": ["C"], "inner_parallel": ["K"], "inner_parallel2": ["K"]}
    space = MapSpace(LAYER, CHIP, full=True, only=only)
    batch = space.decode(space.sample(500, 3))
    assert {m.parallel2 for m in batch} == {(None, None), ("C", None)}
    assert list(space.decode(space.encode(batch))) == list(batch)


def test_the_default_space_is_as_it_was() -> None:
    plain = MapSpace(LAYER, CHIP)
    assert plain.names == tuple(
        p.name for p in SPACE.parameters if p.kind not in ("parallel2", "units", "bypass")
    )
    assert "full" not in plain.options
    assert plain.decode(plain.sample(5, 0)).parallel2 is None
    with pytest.raises(MapSpaceError, match=r"use MapSpace\(full=True\)"):
        plain.encode(SPACE.decode(SPACE.sample(50, 0)))


def test_what_the_chip_does_not_hold_is_no_choice() -> None:
    chip = replace(CHIP, levels=(Level(), Level(holds=(True, False, True)), Level()))
    space = MapSpace(LAYER, chip, full=True)
    choices = [str(c) for c in space.parameters[space.index("bypass")].choices]
    assert choices[0] == "none"
    assert not any("filter" in choice for choice in choices)
    costs = cost_models.load("exact").evaluate_batch(
        LAYER, chip, space.decode(space.sample(500, 1))
    )
    assert cost_models.ReasonCode.REFUSED not in set(costs.reason.tolist())


def test_costs_of_the_full_space_equal_single_calls_and_contain_the_plain_ones() -> None:
    model = cost_models.load("exact")
    plain = MapSpace(LAYER, CHIP)
    batch = plain.decode(plain.sample(50, 2))
    inside = SPACE.decode(SPACE.encode(batch))
    left, right = (model.evaluate_batch(LAYER, CHIP, m) for m in (batch, inside))
    assert np.array_equal(left.latency_cycles, right.latency_cycles)
    assert np.array_equal(left.energy_nj, right.energy_nj)
    some = SPACE.decode(SPACE.sample(60, 4))
    costs = model.evaluate_batch(LAYER, CHIP, some)
    assert costs.feasible.any()
    assert list(costs) == [model.evaluate(LAYER, CHIP, mapping) for mapping in some]


def test_searchers_take_it_and_maestro_does_not() -> None:
    for method in ("random", "ga", "annealing"):
        problem = Problem(LAYER, CHIP, "edp", "exact", space={"full": True})
        found = baselines.load(method).search(problem, 200, 0).best_value
        assert 0 < problem.bound <= found < np.inf
    with pytest.raises(ProblemError, match="full=True, but cost model 'maestro'"):
        Problem(LAYER, CHIP, "edp", "maestro", space={"full": True})
