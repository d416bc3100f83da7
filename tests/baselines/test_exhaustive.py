"""Exhaustive search against every single action of small spaces."""

import numpy as np
import pytest

import baselines
from baselines import SearcherError
from baselines.enumeration import Enumeration
from cost_models import Accelerator, capabilities_of
from layers import Layer
from maestro_env import Problem, nest_keys

SMALL = Accelerator(6, l1_bytes=24, l2_bytes=60, noc_bw=3, offchip_bw=2)
ONLY = {"outer_priority_Y": [0], "inner_priority_Y": [0], "cluster_size": [1, 2, 4]}
NARROW = {"inner_priority_K": [0], "cluster_size": [1, 2]}
LEVELS = {"outer_order": ["KCYXRS", "CKYXRS", "YXCKSR"], "inner_order": ["CYKXRS", "KYCXRS"]}
CASES = {
    "conv": (Layer("c", "CONV", 3, 2, 2, 1, 1, 1), {"only": ONLY}),
    "depthwise": (Layer("d", "DSCONV", 1, 3, 4, 1, 2, 1), {"parallel": "CY"}),
    "grouped batch": (Layer("n", "NGCONV", 2, 1, 1, 1, 1, 1, groups=2, N=2), {"only": NARROW}),
    "permutations": (Layer.gemm("g", 1, 3, 2), {"orders": "permutation", "only": LEVELS}),
    "filters": (
        Layer("r", "CONV", 2, 1, 3, 1, 2, 1),
        {"filters": "free", "parallel": "KR", "only": {"cluster_size": [1, 2]}},
    ),
    "co-search": (Layer.gemm("p", 1, 2, 3), {"co_search": ["num_pes"]}),
}


def every_action(problem: Problem) -> np.ndarray:
    space = problem.space
    assert space.size < 800_000, space
    return np.stack(np.unravel_index(np.arange(space.size), space.nvec), axis=1)


def values_of(problem: Problem, actions: np.ndarray) -> np.ndarray:
    parts = np.array_split(actions, max(1, len(actions) // 50_000))
    return np.concatenate([problem.look(part).values for part in parts])


def enumerated(problem: Problem, nest: bool) -> np.ndarray:
    found = []
    enumeration = Enumeration(problem.space, nest)
    for actions, mappings in enumeration.chunks():
        first = enumeration.expand(actions, mappings, first=True)
        rest = enumeration.expand(first, problem.space.decode(first), first=False)
        found += [first, rest]
    return np.concatenate(found)


def keys(problem: Problem, actions: np.ndarray) -> np.ndarray:
    mappings = problem.space.decode(actions)
    symmetry = capabilities_of(problem.cost_model).symmetry
    return nest_keys(problem.layer, problem.accelerator, mappings, symmetry)


def distinct(problem: Problem, actions: np.ndarray) -> np.ndarray:
    return actions[np.unique(keys(problem, actions), return_index=True)[1]]


@pytest.mark.parametrize("model", ["exact", "maestro"])
@pytest.mark.parametrize("case", CASES)
def test_pruning_by_symmetry_loses_no_value(case: str, model: str) -> None:
    layer, options = CASES[case]
    problem = Problem(layer, SMALL, "edp", model, space=options)
    everything = every_action(problem)
    if len(everything) > 100_000:
        everything = distinct(problem, everything)
    nest = model == "exact"
    left = enumerated(problem, nest)
    assert len(left) == len(distinct(problem, left)), "an enumerated mapping repeats another"
    np.testing.assert_allclose(
        np.unique(values_of(problem, everything)), np.unique(values_of(problem, left)), rtol=1e-12
    )
    drawn = problem.space.sample(5000, seed=0)
    _, first, alike = np.unique(keys(problem, drawn), return_index=True, return_inverse=True)
    values = problem.look(drawn).values
    np.testing.assert_array_equal(values, values[first][alike])
    assert len(first) < 5000
    if nest:
        objective = ("latency", "energy", "edp")[list(CASES).index(case) % 3]
        problem = Problem(layer, SMALL, objective, "exact", space=options)
        result = baselines.load("exhaustive").search(problem, 10**9, seed=0)
        assert result.proven
        lowest = values_of(problem, everything).min()
        assert result.best_value == pytest.approx(lowest, rel=1e-12)
        assert result.samples <= len(left)


def test_a_budget_that_is_too_small_proves_nothing() -> None:
    layer, options = CASES["conv"]
    result = baselines.load("exhaustive").search(
        Problem(layer, SMALL, "edp", "maestro", space=options), 5, seed=0
    )
    assert (result.samples, result.proven) == (5, False)


def test_a_space_too_large_is_refused() -> None:
    with pytest.raises(SearcherError, match="narrow it"):
        baselines.load("exhaustive").search(Problem("vgg16.1"), 100, seed=0)
