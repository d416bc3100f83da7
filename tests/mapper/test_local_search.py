"""Local search from proposals: what it samples, that it improves, and that it repeats."""

import numpy as np
import pytest

import baselines
from maestro_env import BudgetExhausted, Problem
from mapper.pretrained.local_search import CHILDREN, FIRST, PROPOSALS, ProposalSearch


def uniform(problem, seed, asked=None):
    """A search from random proposals; `asked` notes how many are drawn at a time."""
    rng, asked = np.random.default_rng(seed), [] if asked is None else asked

    def draw(numbers):
        asked.append(len(numbers))
        return problem.space.sample(len(numbers), rng)

    return ProposalSearch(problem, draw, rng)


def batches_of(problem):
    found = []
    problem.on_evaluate = lambda actions, evaluation: found.append((actions, evaluation.values))
    return found


def test_proposals_come_first_and_then_children_of_the_best():
    problem, asked = Problem("mobilenetv2.2", "edge", "edp"), []
    found = batches_of(problem)
    list(uniform(problem, 0, asked).batches(PROPOSALS + 5 * CHILDREN))
    assert asked[:2] == [FIRST, PROPOSALS - FIRST]
    assert sum(len(actions) for actions, _ in found) == problem.samples == 64 + 5 * CHILDREN
    proposed = found[:2]
    children = [batch for batch in found[2:] if len(batch[0]) == CHILDREN]
    best = min(values.min() for _, values in proposed)
    assert np.median(np.concatenate([v for _, v in children])) < np.median(
        np.concatenate([v for _, v in proposed])
    )
    assert problem.best_value < best


def test_no_action_is_sampled_twice_and_a_seed_gives_the_same_samples():
    samples = []
    for parts in ((300,), (300,), (1, 99, 200)):
        problem = Problem("mobilenetv2.2", "edge", "edp")
        found, search = batches_of(problem), uniform(problem, 3)
        for count in parts:
            list(search.batches(count))
        samples.append(np.concatenate([actions for actions, _ in found]))
        assert len(np.unique(samples[-1], axis=0)) == 300
    np.testing.assert_array_equal(samples[0], samples[1])
    np.testing.assert_array_equal(samples[0][:1], samples[2][:1])


def test_a_search_without_progress_draws_proposals_again():
    problem, asked = Problem("mlp.2", "edge", "edp"), []
    list(uniform(problem, 0, asked).batches(3000))
    assert len(asked) > 3
    assert set(asked[2:]) <= set(range(1, PROPOSALS + 1))


def test_a_space_that_is_used_up_ends_with_the_budget():
    space = {"only": {"outer_parallel": ["K"], "inner_parallel": ["C"], "cluster_size": [8]}}
    problem = Problem("gemm:M=2,N=2,K=2", "edge", "edp", space=space, budget=2000)
    with pytest.raises(BudgetExhausted):
        list(uniform(problem, 0).batches(10**6))
    assert problem.samples == 2000
    problem = Problem("mobilenetv2.2", "edge", "edp", limits={"max_latency_cycles": 1.0})
    list(uniform(problem, 0).batches(200))  # nothing fits, and proposals go on
    assert (problem.samples, problem.feasible_samples) == (200, 0)


@pytest.mark.parametrize("budget", [1, 7, 16, 65, 300])
def test_zero_shot_spends_its_budget_and_the_first_sample_is_the_likeliest(budget):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    found = batches_of(problem)
    result = baselines.load("zero-shot").search(problem, budget, 0)
    assert result.samples == budget
    others = batches_of(other := Problem("mobilenetv2.2", "edge", "edp"))
    baselines.load("zero-shot").search(other, 1, 99)
    np.testing.assert_array_equal(found[0][0][0], others[0][0][0])
