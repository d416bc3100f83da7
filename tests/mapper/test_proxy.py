"""Searches of a dear cost model through `exact`; conformance: tests/baselines."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the extra rl")

import baselines
from cost_models import Accelerator, ReasonCode
from maestro_env import Problem
from mapper.search.correction import Correction
from mapper.search.proxy import Proxy, ProxyConfig, _CorrectedSearch
from tests.fake_model import FakeModel

QUICK = {"pretrained": "none", "drafts": 300, "proof": False}
LAYER = "gemm:M=16,N=24,K=32"


def searched(model, budget=24, seed=0, objective="edp", **options):
    problem = Problem(LAYER, "edge", objective, model)
    asked = []
    problem.on_evaluate = lambda actions, evaluation: asked.extend(map(tuple, actions.tolist()))
    result = Proxy(**{**QUICK, **options}).search(problem, budget, seed)
    return result, asked


def test_the_first_samples_hold_the_optimum_of_the_cheap_model():
    problem = Problem(LAYER, "edge", "edp")
    best = baselines.prove(problem).value
    result, _ = searched("exact", budget=4, proof=True)
    assert result.best_value == pytest.approx(best)


def test_few_samples_do_as_well_as_hundreds_of_random_ones():
    others = baselines.load("random").search(Problem(LAYER, "edge", "edp", "maestro"), 300, 0)
    assert searched("maestro", 30)[0].best_value <= others.best_value


def test_samples_that_the_dear_model_refuses_are_learnt_from():
    result, asked = searched(FakeModel(l1_elements=9), 40)
    assert np.isfinite(result.best_value)
    assert result.samples == len(asked) == len(set(asked)) == 40
    by_area, _ = searched("maestro", budget=6, objective="latency*area")
    assert by_area.samples == 6
    assert np.isfinite(by_area.best_value)


def test_a_sample_that_a_buffer_refuses_tells_how_much_the_buffer_holds():
    chip, layer = Accelerator(64, 128, 4096, 64, 16), "conv:K=16,C=8,Y=12,X=12,R=3,S=3"
    problem = Problem(layer, chip, "edp", "maestro")
    search = _CorrectedSearch(problem, ProxyConfig(**QUICK), np.random.default_rng(0))
    search.add(problem.space.sample(2000, np.random.default_rng(0)))
    reasons = problem.look(search.pool["action"]).costs.reason
    refused = int(np.flatnonzero(reasons == ReasonCode.L1_CAPACITY)[0])
    search.sample(np.array([refused]))
    assert np.exp(search.allowed["l1_bytes"]) == pytest.approx(128)
    assert search.pool["refused"][refused]
    assert search.pool["needed"]["l1_bytes"][refused] > search.allowed["l1_bytes"]


def test_what_only_the_cheap_model_finds_too_large_is_a_candidate_that_a_sample_makes_likely():
    problem = Problem("resnet18.2", "edge", "edp", FakeModel())
    search = _CorrectedSearch(problem, ProxyConfig(**QUICK), np.random.default_rng(0))
    search.draft()
    large = search.pool["l2_bytes"] > search.allowed["l2_bytes"]
    assert large.any()
    before = search._merit()[large]
    search.sample(search.likeliest())  # it says that it needs 1 B of L2
    assert not search.pool["seen"][large].any()
    mean, _ = search.growth["l2_bytes"].expect(search.pool["point"], search.pool["l2_bytes"])
    assert (mean < search.allowed["l2_bytes"]).all()
    assert (search._merit()[large] > before).all()


def test_equals_of_the_best_sample_are_left():
    problem = Problem(LAYER, "edge", "edp", "maestro")
    search = _CorrectedSearch(problem, ProxyConfig(**QUICK), np.random.default_rng(0))
    search.draft()
    for _ in range(6):
        search.sample(search.likeliest())
    values = search.pool["value"][search.pool["seen"]]
    best = int(np.nanargmin(np.where(search.pool["seen"], search.pool["value"], np.nan)))
    assert len(values) == 6
    assert search._merit()[best] < search._merit()[~search.pool["seen"]].max()


def test_a_layer_without_a_mapping_under_the_cheap_model_is_sampled_all_the_same():
    problem = Problem("vgg16.1", "edge", "edp", FakeModel(), limits={"max_latency_cycles": 1.0})
    result = Proxy(**QUICK).search(problem, 5, 0)
    assert result.samples == 5


def test_the_correction_learns_what_the_price_does_not_say():
    rng = np.random.default_rng(0)
    points, prices = rng.random((60, 3)), rng.normal(0.0, 1.0, 60)
    values = prices + np.sin(4 * points[:, 0])
    correction = Correction(1.0, 2)
    correction.learn(points[:50], prices[:50], values[:50])
    before, spread = Correction(1.0, 2).expect(points[50:], prices[50:])
    assert np.array_equal(before, prices[50:])
    assert (spread == 1.0).all()
    expected, _ = correction.expect(points[50:], prices[50:])
    assert np.abs(expected - values[50:]).mean() < 0.2
