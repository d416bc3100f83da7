"""Statistics and curves of few runs."""

import math

import numpy as np
import pytest

from marl_runs import (
    band_of,
    best_so_far,
    first_below,
    geometric_mean,
    grouped,
    holm,
    interquartile_mean,
    mean_interval,
    probability_of_improvement,
    two_level_ratio,
)


def test_interquartile_mean_matches_hand_figures():
    scores = [np.array([0.0, 0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6, 100.0])]
    found = interquartile_mean(scores)
    assert found.value == pytest.approx((0.2 + 0.3 + 0.4 + 0.5) / 4)
    assert found.low < found.value < found.high
    assert found == interquartile_mean(scores)


def test_bootstrap_covers_the_truth():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        found = interquartile_mean([rng.normal(0.5, 0.1, 12) for _ in range(4)])
        hits += found.low <= 0.5 <= found.high
    assert hits >= 51  # 95 % asked for; small samples and 60 trials allow for 85 %


def test_probability_of_improvement_counts_ties_half():
    ones, two = [np.array([1.0, 1.0])], [np.array([1.0, 0.0])]
    assert probability_of_improvement(ones, two).value == pytest.approx(0.75)
    assert probability_of_improvement(two, ones).value == pytest.approx(0.25)


def test_geometric_mean():
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert geometric_mean([1.0, math.inf]) == math.inf


def test_mean_interval_is_students():
    mean, half = mean_interval(np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert mean.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(half, [12.706 * math.sqrt(2) / math.sqrt(2), 0.0], rtol=1e-4)
    assert np.isnan(mean_interval(np.array([[1.0]]))[1]).all()


CURVE = ((3, 5.0), (10, 2.0))


def test_best_so_far_is_a_step_function():
    found = best_so_far(CURVE, np.array([1.0, 3.0, 9.0, 10.0, 50.0]))
    assert found.tolist() == [math.inf, 5.0, 5.0, 2.0, 2.0]
    assert [first_below(CURVE, value) for value in (6.0, 5.0, 4.9, 1.0)] == [3, 3, 10, None]


def test_a_band_goes_by_whole_runs():
    band = band_of([CURVE, (), ((1, 4.0),)], 20)
    assert band.samples[[0, -1]].tolist() == [1, 20]
    assert band.median[[0, -1]].tolist() == [math.inf, 4.0]
    assert band.low[[0, -1]].tolist() == [4.0, 2.0]
    assert not np.isnan(band.high).any()


def test_runs_of_one_name_are_told_apart_by_what_differs():
    one = {"arm": "mst", "tokens": 100, "config": {"adam": {"lr": 0.1, "law": "cosine"}}}
    two = {"arm": "mst", "tokens": 100, "config": {"adam": {"lr": 0.2, "law": "cosine"}}}
    longer = {**two, "tokens": 200, "note": "x"}
    assert labels(one, two, two, two) == ["mst, lr 0.1", "mst, lr 0.2, 3 seeds"]
    assert labels(two, longer) == ["mst, tokens 100", "mst, tokens 200, note x"]
    assert labels(one, one) == ["mst, 2 seeds"]
    assert labels(one) == ["mst"]
    other = grouped([("mst", one, 0), ("dense", two, 1), ("mst", one, 2)])
    assert other == {"mst, 2 seeds": [0, 2], "dense": [1]}


def labels(*settings):
    return list(grouped(("mst", one, place) for place, one in enumerate(settings)))


def test_holms_values_are_those_of_his_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_ratio_of_two_levels_covers_the_truth_where_one_level_does_not():
    """Cases differ by much, runs by little: the interval is that of the cases."""
    rng = np.random.default_rng(1)
    hits, repeats = 0, 100
    for _ in range(repeats):
        of_case = rng.normal(0.1, 0.2, 10)
        first = [np.exp(mean + rng.normal(0, 0.05, 5)) for mean in of_case]
        second = [np.exp(rng.normal(0, 0.05, 5)) for _ in of_case]
        found = two_level_ratio(first, second)
        hits += found.low <= math.exp(0.1) <= found.high
    assert 0.88 * repeats <= hits <= 0.99 * repeats


def test_a_ratio_of_two_levels_is_one_for_equals_and_its_p_is_small_for_others():
    same = [np.array([2.0, 2.0, 2.0])] * 4
    assert two_level_ratio(same, same) == two_level_ratio(same, same)
    assert (two_level_ratio(same, same).value, two_level_ratio(same, same).p) == (1.0, 1.0)
    rng = np.random.default_rng(0)
    low = [np.exp(rng.normal(0, 0.02, 5)) for _ in range(12)]
    high = [np.exp(rng.normal(0.3, 0.02, 5)) for _ in range(12)]
    found = two_level_ratio(low, high)
    assert found.value == pytest.approx(math.exp(-0.3), rel=0.02)
    assert found.high < 0.8
    assert found.p < 0.01
    assert two_level_ratio(high, low).p < 0.01
    with pytest.raises(ValueError, match="got no case"):
        two_level_ratio([], [])
