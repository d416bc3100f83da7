"""Properties of the exact model on any tiny layer, accelerator and mapping."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cost_models
from cost_models import Accelerator, Mapping
from cost_models.exact.options import HALO_TIMES
from layers import Layer
from tests.cost_models.tiny import random_layer, random_mapping

EXACT = cost_models.load("exact")
BOUND = cost_models.load("exact", latency="bound")
HALOS = [cost_models.load("exact", halo_time=time) for time in HALO_TIMES]
seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 40)


def drawn(seed: int) -> tuple[Layer, Mapping]:
    rng = np.random.default_rng(seed)
    layer = random_layer(rng, max_macs=5000)
    return layer, random_mapping(rng, layer)


@settings(max_examples=150, deadline=None)
@given(seeds, widths, widths, st.integers(0, 40), st.integers(0, 40), st.integers(1, 4))
def test_more_bandwidth_and_more_lanes_are_never_slower(
    seed: int, noc: int, offchip: int, more_noc: int, more_offchip: int, lanes: int
) -> None:
    layer, mapping = drawn(seed)
    slow = Accelerator(16, noc_bw=noc, offchip_bw=offchip)
    fast = Accelerator(
        16, noc_bw=noc + more_noc, offchip_bw=offchip + more_offchip, simd_lanes=lanes
    )
    a, b = (EXACT.evaluate(layer, chip, mapping) for chip in (slow, fast))
    assert b.latency_cycles <= a.latency_cycles
    assert b.accesses == a.accesses


@settings(max_examples=150, deadline=None)
@given(seeds, widths, widths)
def test_the_bound_is_a_bound_and_what_is_held_saves_input_alone(
    seed: int, noc: int, offchip: int
) -> None:
    layer, mapping = drawn(seed)
    chip = Accelerator(16, noc_bw=noc, offchip_bw=offchip)
    assert (
        BOUND.evaluate(layer, chip, mapping).latency_cycles
        <= EXACT.evaluate(layer, chip, mapping).latency_cycles
    )
    costs = [model.evaluate(layer, chip, mapping) for model in HALOS]
    for less, more in pairwise(costs):
        changed = {name for name, count in less.counts.items() if count != more.counts[name]}
        assert changed <= {
            *("dram_in", "l2r_in", "l2r_in_tile", "l1w_in"),
            *("latency", "noc_in_cycles", "dram_in_cycles"),
        }
        assert all(less.counts[name] <= more.counts[name] for name in changed)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(1, 600))
def test_a_capacity_is_met_exactly(seed: int, limit: int) -> None:
    layer, mapping = drawn(seed)
    free = EXACT.evaluate(layer, Accelerator(16), mapping)
    for field in ("l1_bytes", "l2_bytes"):
        cost = EXACT.evaluate(layer, replace(Accelerator(16), **{field: limit}), mapping)
        assert cost.feasible == (getattr(free, field) <= limit)
        if cost.infeasible is not None:
            assert cost.infeasible.demand == getattr(free, field)
