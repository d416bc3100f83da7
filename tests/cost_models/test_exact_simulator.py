"""The closed form against the brute-force simulator, and the simulator against the reference."""

from typing import Any

import numpy as np
import pytest

import cost_models
from cost_models import Accelerator, CostModelError, Mapping
from cost_models.exact.options import HALO_TIMES
from layers import TENSORS, Layer, LayerKind
from tests.baselines.proofs import random_tensors
from tests.cost_models.exact_reference import read_reference
from tests.cost_models.tiny import random_case, random_full_case, random_whole_case

CHOICES: dict[str, tuple[Any, ...]] = {
    "halo_time": HALO_TIMES,
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "stepwise", "bound"),
    "double_buffer": (True, True, False),
    "padding": ("counted", "free"),
    "window": ("touched", "box"),
    "energy": ("cacti", "eyeriss", "maestro"),
    "area": ("provisioned", "maestro"),
}
DRAWS = {
    "one filter a level": lambda rng: random_case(rng, 200),
    "every dimension": lambda rng: random_whole_case(rng, 200),
    "bypass, two parallel dimensions, capacities by tensor": lambda rng: random_full_case(rng, 50),
}
WHOLE = {"orders": ("KCYXRS", "KCYXRS"), "parallel": ("K", "C"), "cluster_size": 1}


def drawn_options(rng: np.random.Generator, chip: Accelerator) -> dict[str, Any]:
    """Any options; some have tensors resident that L2 holds."""
    found = {name: some[rng.integers(len(some))] for name, some in CHOICES.items()}
    resident, l2 = random_tensors(rng), chip.buffers()[0]
    if rng.random() < 0.4 and all(l2.holds[TENSORS.index(t)] for t in resident.split("+")):
        found["resident"] = resident
    return found


@pytest.mark.parametrize("kind", DRAWS)
def test_closed_form_equals_the_simulator(kind: str) -> None:
    rng = np.random.default_rng([7, len(kind)])
    feasible = 0
    for number in range(60):
        case = DRAWS[kind](rng)
        options = drawn_options(rng, case.accelerator)
        left, right = (
            cost_models.load(name, **options).evaluate(case.layer, case.accelerator, case.mapping)
            for name in ("exact", "simulator")
        )
        assert left == right, (number, case, options)
        feasible += left.feasible
        for tensor in options.get("resident", "").split("+") if left.feasible else ():
            if tensor:
                assert left.accesses[tensor]["dram_read"] == 0
                assert left.accesses[tensor]["dram_write"] == 0
    assert 30 < feasible < 60  # both sides of the limits are tried


def test_the_simulator_equals_the_reference() -> None:
    simulator = cost_models.load("simulator", halo_time="none")
    for row in [row for row in read_reference() if not row.slide][::15]:
        cost = simulator.evaluate(row.layer, row.accelerator, row.mapping)
        assert cost.counts == {name: int(row.text[name]) for name in cost.counts}, row.text["id"]


def test_layers_that_would_take_too_long_are_refused() -> None:
    simulator = cost_models.load("simulator")
    layer = Layer("big", LayerKind.CONV, K=64, C=64, Y=9, X=9, R=3, S=3)
    with pytest.raises(CostModelError, match=r"'big' has 1806336 MACs.*at most 200000"):
        simulator.evaluate(layer, Accelerator(4), Mapping(**WHOLE, tiles=({}, {})))
    small = Layer("small", LayerKind.CONV, K=20, C=20, Y=9, X=9, R=1, S=1)
    ones = dict.fromkeys("KCYXRS", 1)
    with pytest.raises(CostModelError, match="Use larger tiles or fewer PEs"):
        simulator.evaluate(small, Accelerator(1024), Mapping(**WHOLE, tiles=(ones, ones)))
