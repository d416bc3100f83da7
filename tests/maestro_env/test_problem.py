import pickle

import numpy as np
import pytest

from cost_models import Accelerator, ModelCapabilities, ReasonCode
from cost_models.laws import MAESTRO_LAWS
from layers import Layer
from maestro_env import (
    BudgetExhausted,
    MapSpace,
    Problem,
    ProblemError,
)
from tests.fake_model import FakeModel

LAYER = Layer("conv", "CONV", 24, 13, 31, 47, 3, 5)


def problem(**options) -> Problem:
    options = {"cost_model": FakeModel(), "objective": "edp", **options}
    return Problem(LAYER, "edge", **options)


def test_budget_ends_on_the_last_sample() -> None:
    made = problem(budget=100)
    seen = []
    made.on_evaluate = lambda actions, evaluation: seen.append((len(actions), len(evaluation)))
    made.evaluate(made.space.sample(64, 0))
    with pytest.raises(BudgetExhausted):
        made.evaluate(made.space.sample(64, 1))
    assert (made.samples, made.remaining) == (100, 0)
    assert seen == [(64, 64), (36, 36)]
    with pytest.raises(BudgetExhausted):
        made.evaluate(made.space.sample(1, 2))
    assert made.samples == 100


def test_best_and_improvements_follow_the_values() -> None:
    made = problem()
    values = np.concatenate([made.evaluate(made.space.sample(n, n)).values for n in (1, 30, 200)])
    lowest = np.minimum.accumulate(values)
    expected = [(i + 1, v) for i, v in enumerate(lowest) if i == 0 or v < lowest[i - 1]]
    assert made.improvements == expected
    assert made.best_value == values.min()
    assert made.look(made.best_action[None]).values[0] == made.best_value
    assert made.samples == 231


@pytest.mark.parametrize(
    ("objective", "figures"),
    [
        ("latency", ["latency_cycles"]),
        ("energy", ["energy_nj"]),
        ("edp", ["latency_cycles", "energy_nj"]),
        ("edp_total", ["latency_cycles", "energy_total_nj"]),
        ("latency*area", ["latency_cycles", "area_um2"]),
        ("edp * latency", ["latency_cycles", "energy_nj", "latency_cycles"]),
    ],
)
def test_objective_is_the_product_of_its_figures(objective: str, figures: list[str]) -> None:
    made = problem(objective=objective)
    evaluation = made.evaluate(made.space.sample(20, 0))
    product = np.prod([getattr(evaluation.costs, f) for f in figures], axis=0)
    np.testing.assert_allclose(evaluation.values, product, rtol=1e-15)


def test_limits_turn_values_into_inf_with_a_reason() -> None:
    free = problem(objective="energy")
    actions = free.space.sample(200, 0)
    latency = free.evaluate(actions).costs.latency_cycles
    limit = float(np.sort(latency)[100])  # which is kept
    evaluation = problem(objective="energy", limits={"max_latency_cycles": limit}).evaluate(actions)
    np.testing.assert_array_equal(np.isinf(evaluation.values), latency > limit)
    row = int(np.argmax(latency))
    assert evaluation.reason[row] == ReasonCode.LIMIT
    report = evaluation.infeasible(row)
    assert (report.demand, report.bound) == (latency[row], limit)
    assert evaluation.infeasible(int(np.argmin(latency))) is None


def test_recorded_samples_are_replayed_without_the_cost_model() -> None:
    first = problem()
    actions = first.space.sample(150, 0)
    values = first.evaluate(actions).values
    again = first.fork()
    again.start(150, recorded=(actions[:100], values[:100]))
    calls = again.cost_model.calls
    head = again.evaluate(actions[:80]).values
    assert again.cost_model.calls == calls
    tail = again.evaluate(actions[80:]).values
    assert again.cost_model.calls == calls + 1
    np.testing.assert_array_equal(np.concatenate([head, tail]), values)
    assert again.improvements == first.improvements
    again.start(150, recorded=(actions, values))
    with pytest.raises(ProblemError, match="recorded sample 1 "):
        again.evaluate(actions[::-1])


def test_fork_and_start_reset_the_counters() -> None:
    made = problem(budget=10)
    made.evaluate(made.space.sample(5, 0))
    other = made.fork()
    assert (other.samples, other.best_action, other.improvements) == (0, None, [])
    assert (other.budget, made.samples) == (10, 5)
    made.start(7)
    assert (made.samples, made.budget) == (0, 7)


def test_latency_bound_holds_and_counts_bandwidth() -> None:
    made = problem(objective="latency")
    assert made.bound <= made.evaluate(made.space.sample(2000, 0)).values.min()
    assert problem(objective="energy").bound is None
    fast = Problem(LAYER, Accelerator(100_000, noc_bw=2), "latency", FakeModel())
    assert fast.bound == -(-LAYER.macs // 100_000)
    model = FakeModel()
    model.capabilities = ModelCapabilities(laws=MAESTRO_LAWS)
    slow = Problem(LAYER, Accelerator(100_000, noc_bw=2), "latency", model)
    loads, stores = LAYER.input_size + LAYER.filter_size, LAYER.output_size
    assert slow.bound == -(-max(loads, stores) // 2)


def test_a_model_that_only_repeats_the_nest_searches_no_batch() -> None:
    model, heads = FakeModel(), Layer.gemm("heads", 8, 4, 6, batch=3)
    made = Problem(heads, "edge", "latency", model)
    assert made.space.options["repeat"] == "N"
    assert (made.space.decode(made.space.sample(9, 0)).tiles[:, 0, 6] == 1).all()
    with pytest.raises(ProblemError, match=r"maps N, .* MapSpace\(repeat='N'\)"):
        Problem(heads, "edge", "latency", model, space=MapSpace(heads, made.accelerator))
    model.capabilities = ModelCapabilities(repeated="")
    mapped = Problem(heads, "edge", "latency", model).space
    assert "outer_tile_N" in mapped.names
    assert "repeat" not in mapped.options


def test_problem_is_picklable_and_described_in_plain_values() -> None:
    made = problem(limits={"max_latency_cycles": 5e6}, space={"co_search": ["num_pes"]})
    copy = pickle.loads(pickle.dumps(made))
    actions = made.space.sample(10, 0)
    np.testing.assert_array_equal(copy.evaluate(actions).values, made.evaluate(actions).values)
    assert made.describe()["space"]["co_search"] == ["num_pes"]
