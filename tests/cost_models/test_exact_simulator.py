"""The closed form against the brute-force simulator, and the simulator against the reference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import cost_models
from cost_models import Accelerator, CostModelError, Mapping, MappingBatch, ReasonCode
from cost_models.exact.options import HALO_TIMES
from layers import Layer, LayerKind
from tests.cost_models.exact_reference import read_reference
from tests.cost_models.tiny import random_case, random_whole_case

OPTIONS = [
    {"halo_time": time, "halo_space": space, "latency": latency}
    for time, space, latency in product(HALO_TIMES, ("union", "tile"), ("stepwise", "bound"))
]
WHOLE = {"orders": ("KCYXRS", "KCYXRS"), "parallel": ("K", "C"), "cluster_size": 1}


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o.values()))
def test_closed_form_equals_the_simulator(options: dict[str, str]) -> None:
    exact = cost_models.load("exact", **options)
    simulator = cost_models.load("simulator", **options)
    rng = np.random.default_rng(7)
    feasible = 0
    for number in range(170):
        case = (random_case if number % 2 else random_whole_case)(rng, 400)
        left = exact.evaluate(case.layer, case.accelerator, case.mapping)
        right = simulator.evaluate(case.layer, case.accelerator, case.mapping)
        assert left == right, (number, case)
        feasible += left.feasible
    assert 85 <= feasible < 170  # both sides of the limits are tried


def test_double_buffering_and_energy_equal_the_simulator() -> None:
    options = {"double_buffer": False, "energy": "eyeriss"}
    exact = cost_models.load("exact", **options)
    simulator = cost_models.load("simulator", **options)
    rng = np.random.default_rng(8)
    for number in range(40):
        case = random_case(rng)
        left = exact.evaluate(case.layer, case.accelerator, case.mapping)
        assert left == simulator.evaluate(case.layer, case.accelerator, case.mapping), number


def test_the_simulator_equals_the_reference() -> None:
    simulator = cost_models.load("simulator", halo_time="none")
    for row in [row for row in read_reference() if not row.slide][::5]:
        cost = simulator.evaluate(row.layer, row.accelerator, row.mapping)
        assert cost.counts == {name: int(row.text[name]) for name in cost.counts}, row.text["id"]


def test_a_batch_of_the_simulator_equals_single_calls() -> None:
    simulator = cost_models.load("simulator")
    rng = np.random.default_rng(9)
    case = random_case(rng)
    mappings = [case.mapping, Mapping(**WHOLE, tiles=({}, {}), num_pes=1)]
    batch = MappingBatch.from_mappings(mappings, case.layer.extents)
    costs = simulator.evaluate_batch(case.layer, case.accelerator, batch)
    singles = [simulator.evaluate(case.layer, case.accelerator, m) for m in mappings]
    assert list(costs) == singles


def test_layers_that_would_take_too_long_are_refused() -> None:
    simulator = cost_models.load("simulator")
    layer = Layer("big", LayerKind.CONV, K=64, C=64, Y=9, X=9, R=3, S=3)
    with pytest.raises(CostModelError, match=r"'big' has 1806336 MACs.*at most 200000"):
        simulator.evaluate(layer, Accelerator(4), Mapping(**WHOLE, tiles=({}, {})))
    small = Layer("small", LayerKind.CONV, K=20, C=20, Y=9, X=9, R=1, S=1)
    ones = dict.fromkeys("KCYXRS", 1)
    with pytest.raises(CostModelError, match="Use larger tiles or fewer PEs"):
        simulator.evaluate(small, Accelerator(1024), Mapping(**WHOLE, tiles=(ones, ones)))


def test_the_simulator_reports_limits_as_the_exact_model_does() -> None:
    layer = Layer("small", LayerKind.CONV, K=4, C=4, Y=5, X=5, R=3, S=3)
    mapping = Mapping(**WHOLE, tiles=({}, {}))
    for accelerator, code in (
        (Accelerator(4, l1_bytes=64), ReasonCode.L1_CAPACITY),
        (Accelerator(4, l2_bytes=64), ReasonCode.L2_CAPACITY),
    ):
        costs = [cost_models.load(name).evaluate(layer, accelerator, mapping)
                 for name in ("exact", "simulator")]  # fmt: skip
        assert costs[0] == costs[1]
        assert costs[0].infeasible is not None
        assert costs[0].infeasible.code is code
