"""A batch of mappings of a chain costs what its mappings cost one by one, bit for bit."""

import dataclasses
import math

import numpy as np
import pytest

import layers
from cost_models import FIGURES, MappingError, ReasonCode, load
from cost_models.exact.nest_counts import record_of
from tests.cost_models.chains import random_batch, random_chip

LAYERS = ("mobilenetv2.2", "resnet18.5", "mobilenetv2.1")


def equal(one: float, many: float) -> bool:
    return one == many or (math.isnan(one) and math.isnan(many))


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
@pytest.mark.parametrize("options", [{}, {"latency": "bound", "halo_space": "tile"}])
def test_a_batch_equals_single_mappings(memories: int, options: dict[str, str]) -> None:
    """A batch leaves out ports where they can't bind; one mapping has their cycles."""
    rng = np.random.default_rng(memories)
    model, feasible, spare = load("exact", threads=1, **options), 0, 0
    for number, name in enumerate(LAYERS):
        layer, drawn = layers.get(name), random_chip(rng, memories, limited=True)
        levels = tuple(
            dataclasses.replace(level, read_bw=None, write_bw=None, shared_bw=False)
            if rng.random() < (1, 0.7, 0.4)[number]
            else level
            for level in drawn.levels
        )
        free = dataclasses.replace(drawn, levels=levels)
        for chip, uneven in ((drawn, False), (free, False), (free, True)):
            batch = random_batch(rng, chip, layer, 12, uneven)
            costs = model.evaluate_batch(layer, chip, batch)
            nest = model.nest(layer, chip, batch[0])
            spare += record_of(nest, units=chip.peak_macs_per_cycle)[0]["levels"]["spare"].sum()
            for units in (None, 1 << 32):
                assert not record_of(nest, units=units)[0]["levels"]["spare"].any()
            for row in range(len(batch)):
                one = model.evaluate(layer, chip, batch[row])
                assert costs[row] == one
                if one.infeasible is not None:
                    assert one.infeasible.code == costs.reason[row] == ReasonCode.CAPACITY
                    assert one.infeasible.gap > 0
                    assert any(lever.startswith("raise levels.") for lever in one.infeasible.levers)
                    assert np.isinf(costs.latency_cycles[row])
                    continue
                feasible += 1
                for figure in FIGURES:
                    assert equal(getattr(one, figure), costs.figures[figure][row]), figure
                for part, value in one.detail.items():
                    assert value == costs.detail[part][row], part
                for tensor, kinds in one.accesses.items():
                    for kind, value in kinds.items():
                        assert value == costs.accesses[tensor][kind][row], (tensor, kind)
    assert feasible > 20
    assert (spare > 0) == (options == {})


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(7)
    layer, chip = layers.get("resnet18.5"), random_chip(rng, 3, limited=True)
    batch = random_batch(rng, chip, layer, 1100)
    one, two = (load("exact", threads=n).evaluate_batch(layer, chip, batch) for n in (1, 2))
    assert np.array_equal(one.energy_nj, two.energy_nj)
    assert np.array_equal(one.reason, two.reason)


def test_malformed_rows_are_named() -> None:
    rng = np.random.default_rng(5)
    layer, chip = layers.get("mobilenetv2.2"), random_chip(rng, 2, limited=True)
    batch = random_batch(rng, chip, layer, 4)
    orders = batch.orders.copy()
    orders[2, 0] = 0
    bad = dataclasses.replace(batch, orders=orders)
    with pytest.raises(MappingError, match="mapping 2: orders"):
        load("exact").evaluate_batch(layer, chip, bad)
    with pytest.raises(MappingError, match="ChainBatch on a Chain"):
        load("exact").evaluate_batch(layer, chip, [])
