"""Tensors that pass a level, two parallel dimensions, and all that differs tensor by tensor."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cost_models
from cost_models import Accelerator, Mapping, ReasonCode
from cost_models.buffers import Level
from layers import Layer, LayerKind
from tests.cost_models.tiny import random_full_case

PRICES = {"energy": "eyeriss", "area": "maestro"}
LAYER = Layer("conv", LayerKind.CONV, K=8, C=4, Y=6, X=6, R=3, S=3, padding=(1, 1, 1, 1))
WHOLE = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({"K": 4}, {"K": 1, "C": 1}), 2, 4)
CHIP = Accelerator(4, noc_bw=4, offchip_bw=2)
EXACT = cost_models.load("exact", **PRICES)


def test_free_padding_is_never_slower() -> None:
    rng = np.random.default_rng(19)
    models = [cost_models.load("exact", padding=name, **PRICES) for name in ("counted", "free")]
    quicker = 0
    for _ in range(150):
        case = random_full_case(rng, 200)
        counted, free = (
            model.evaluate(case.layer, case.accelerator, case.mapping) for model in models
        )
        assert free.feasible == counted.feasible
        if free.feasible:
            assert free.latency_cycles <= counted.latency_cycles
            quicker += free.latency_cycles < counted.latency_cycles
    assert quicker > 25


LONG = Accelerator(
    16,
    l1_bytes=64,
    l2_bytes=4096,
    levels=(
        Level(),
        Level(holds=(True, False, True)),
        Level(tensor_bytes=(None, 20, None), double_buffer=(True, False, True)),
    ),
)


@pytest.mark.parametrize(
    ("mapping", "code", "words"),
    [
        (
            replace(WHOLE, tiles=({}, {"K": 3, "C": 1, "Y": 1, "X": 1})),
            1,
            "L1 needs 27 B for filter, limit 20 B (+7 B)",
        ),
        (
            replace(WHOLE, tiles=({}, {"K": 1, "C": 1})),
            1,
            "L1 needs 104 B for input, output, limit 64 B (+40 B)",
        ),
        (
            replace(WHOLE, bypass=(frozenset(), frozenset({"filter"}))),
            10,
            "mapping.bypass: filter is kept nowhere, as the chip holds input, output in L2 and",
        ),
        (
            replace(WHOLE, bypass=(frozenset({"input", "output"}), frozenset())),
            10,
            "mapping.bypass: no tensor is kept in L2",
        ),
        (
            replace(WHOLE, parallel2=("C", None), units=(3, None)),
            3,
            "mapping.units[0] takes 3 clusters, limit 2 (+1)",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_a_fix(mapping: Mapping, code: int, words: str) -> None:
    layer = replace(LAYER, padding=(0, 0, 0, 0))
    costs = [
        cost_models.load(name).evaluate(layer, LONG, mapping) for name in ("exact", "simulator")
    ]
    why = costs[0].infeasible
    assert costs[0] == costs[1]
    assert why.code == ReasonCode(code)
    assert words in why.message
    assert why.levers


def test_a_capacity_of_a_tensor_is_met_exactly() -> None:
    free = EXACT.evaluate(LAYER, LONG.unlimited_buffers(), WHOLE)
    for size in (1, 2, 3, 8, 9, 10):
        level = Level(tensor_bytes=(None, size, None), double_buffer=(True, False, True))
        chip = replace(LONG, l1_bytes=None, levels=(Level(), Level(), level))
        cost = EXACT.evaluate(LAYER, chip, WHOLE)
        assert cost.feasible == (size >= 9)  # 3 x 3 taps, once
        if cost.infeasible is not None:
            assert cost.infeasible.demand == 9
            assert f"raise levels.L1.bytes.filter to {9}" in cost.infeasible.levers
    assert free.feasible


@pytest.mark.parametrize(
    ("energy", "area"),
    [("cacti", "provisioned"), ("maestro", "maestro"), ("eyeriss", "provisioned")],
)
def test_no_mapping_goes_below_the_floors(energy: str, area: str) -> None:
    models: list[Any] = [
        cost_models.load("exact", energy=energy, area=area, padding=name)
        for name in ("counted", "free")
    ]
    rng, feasible = np.random.default_rng([18, len(energy), len(area)]), 0
    for number in range(40):
        case = random_full_case(rng, 200)
        chip = replace(
            case.accelerator if number % 4 else Accelerator(16),
            num_pes=case.mapping.num_pes or 1,
            node_nm=(45.0, 28.0)[number % 2],
            clock_mhz=(1000.0, 200.0)[number % 2],
        ).unlimited_buffers()
        model = models[number % len(models)]
        cost = model.evaluate(case.layer, chip, replace(case.mapping, num_pes=None))
        if cost.feasible:
            feasible += 1
            floors = model.lower_bounds(case.layer, chip, bypass=any(case.mapping.bypass))
            for name, floor in floors.items():
                assert getattr(cost, name) >= floor * (1 - 1e-12) >= 0, (number, name, case)
    assert feasible > 20
