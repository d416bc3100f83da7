import numpy as np
import pytest

from layers import Layer
from maestro_env import EnvError, Problem
from maestro_env.rewards import OBSERVED, REFERENCE_SAMPLES, REFERENCE_SEED, Rewards
from tests.fake_model import FakeModel

LAYER = Layer("conv", "CONV", 24, 13, 31, 47, 3, 5)


def problem(objective: str = "latency", **options) -> Problem:
    return Problem(LAYER, "edge", objective, FakeModel(**options))


def answers(made: Problem, feedback: Rewards, count: int = 300):
    evaluation = made.look(made.space.sample(count, 1))
    observations, rewards = feedback(evaluation.costs, evaluation.values)
    return evaluation, observations, rewards


def test_relative_is_the_bound_over_the_value() -> None:
    made = problem(l1_elements=30)
    evaluation, _, rewards = answers(made, Rewards(made))
    feasible = evaluation.feasible
    assert 0 < feasible.sum() < len(feasible)
    np.testing.assert_array_equal(rewards[feasible], made.bound / evaluation.values[feasible])
    assert (rewards[~feasible] == 0).all()


def test_without_a_bound_the_reference_is_the_median_of_the_same_random_mappings() -> None:
    made = problem("edp")
    assert made.bound is None
    values = made.look(made.space.sample(REFERENCE_SAMPLES, REFERENCE_SEED)).values
    feedback = Rewards(made)
    assert feedback.reference == pytest.approx(np.exp(np.median(np.log(values))))
    assert made.samples == 0
    assert feedback.reference == Rewards(problem("edp")).reference


def test_inverse_is_the_papers() -> None:
    made = problem()
    evaluation, _, rewards = answers(made, Rewards(made, "inverse"))
    np.testing.assert_array_equal(rewards, 1.0 / evaluation.values)


def test_log_is_one_at_the_reference_and_a_sixth_less_a_decade() -> None:
    made = problem()
    feedback = Rewards(made, "log")
    costs = made.look(made.space.sample(4, 0)).costs
    values = feedback.reference * np.array([1.0, 10.0, 1e6, 1e9])
    assert feedback(costs, values)[1] == pytest.approx([1, 5 / 6, 0, 0], abs=1e-12)


def test_observations_are_logarithms_above_the_bound() -> None:
    made = problem(l1_elements=30)
    evaluation, observations, _ = answers(made, Rewards(made))
    feasible = evaluation.feasible
    latency = evaluation.costs.figures[OBSERVED[0]]
    assert (observations[~feasible] == 1).all()
    scaled = np.clip(np.log10(latency[feasible] / made.bound) / 6, 0, 1)
    np.testing.assert_allclose(observations[feasible, 0], scaled, rtol=1e-6)
    assert observations.dtype == np.float32
    assert ((observations >= 0) & (observations <= 1)).all()


def test_bounds_are_those_of_the_space_where_tensors_bypass_a_level() -> None:
    made = Problem(LAYER, "edge", "energy", space={"full": True})
    evaluation, observations, rewards = answers(made, Rewards(made, "log"))
    feasible = evaluation.feasible
    np.testing.assert_allclose(observations[feasible, 2], 1 - rewards[feasible], rtol=1e-5)


def test_infeasible_reward() -> None:
    made = problem(l1_elements=30)
    evaluation, _, rewards = answers(made, Rewards(made, infeasible_reward=-2.5))
    assert (rewards[~evaluation.feasible] == -2.5).all()


def test_bad_arguments() -> None:
    with pytest.raises(EnvError, match="none of 1000 random mappings"):
        Rewards(problem("edp", l1_elements=1))
