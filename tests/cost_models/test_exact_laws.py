"""Physical laws and invariances of the exact model."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import cost_models
import layers
from cost_models import PRESETS, Accelerator, CostModel, Mapping
from cost_models.exact.options import HALO_TIMES
from cost_models.laws import unique_elements
from layers import Layer, LayerKind
from tests.cost_models.batches import random_batch
from tests.cost_models.tiny import random_layer, random_mapping

ZOO = [layers.network(name)[i] for name in layers.networks() for i in (0, -1)]
TRAFFIC = ("dram_in", "dram_fil", "dram_out_w", "l2r_in", "l2r_fil", "l2w_out")


@pytest.fixture(scope="module")
def exact() -> CostModel:
    return cost_models.load("exact")


@pytest.mark.parametrize("preset", PRESETS)
def test_more_bandwidth_or_lanes_are_never_slower(exact: CostModel, preset: str) -> None:
    rng = np.random.default_rng(3)
    chip = PRESETS[preset].in_elements().unlimited_buffers()
    better = [replace(chip, simd_lanes=3 * chip.simd_lanes)]
    for name in ("noc_bw", "offchip_bw"):
        if getattr(chip, name) is not None:
            better += [replace(chip, **{name: n}) for n in (2 * getattr(chip, name) + 1, None)]
    for layer in ZOO:
        batch = random_batch(layer, chip.num_pes, 60, rng)
        before = exact.evaluate_batch(layer, chip, batch)
        assert before.feasible.all()
        for other in better:
            after = exact.evaluate_batch(layer, other, batch)
            assert (after.latency_cycles <= before.latency_cycles).all(), (layer.name, other)


def random_setting(rng: np.random.Generator) -> tuple[Layer, Accelerator, Mapping]:
    layer = random_layer(rng)
    accelerator = Accelerator(
        16, noc_bw=int(rng.integers(1, 6)), offchip_bw=int(rng.integers(1, 4))
    )
    return layer, accelerator, random_mapping(rng, layer)


def renamed(mapping: Mapping, dims: str, others: str) -> Mapping:
    """The mapping with some dimensions in the places of others."""
    table = str.maketrans(dims, others)
    return replace(
        mapping,
        orders=tuple(order.translate(table) for order in mapping.orders),
        parallel=tuple(dim.translate(table) for dim in mapping.parallel),
        tiles=tuple({d.translate(table): t for d, t in tile.items()} for tile in mapping.tiles),
    )


Case = tuple[Layer, Accelerator, Mapping]


def turned(rng: np.random.Generator) -> tuple[Case, Case]:
    """Rows in the place of columns."""
    layer, chip, mapping = random_setting(rng)
    while layer.kind is LayerKind.GEMM:
        layer, chip, mapping = random_setting(rng)
    other = replace(layer, Y=layer.X, X=layer.Y, R=layer.S, S=layer.R)
    return (layer, chip, mapping), (other, chip, renamed(mapping, "YXRS", "XYSR"))


def product_as_convolution(rng: np.random.Generator) -> tuple[Case, Case]:
    """A matrix product is a convolution of one tap."""
    rows, columns, depth = (int(n) for n in rng.integers(1, 9, 3))
    gemm = Layer.gemm("product", M=rows, N=columns, K=depth)
    conv = Layer("conv", LayerKind.CONV, K=columns, C=depth, Y=rows, X=1, R=1, S=1)
    chip, mapping = Accelerator(16, noc_bw=3, offchip_bw=2), random_mapping(rng, gemm)
    return (gemm, chip, mapping), (conv, chip, mapping)


def product_as_batch(rng: np.random.Generator) -> tuple[Case, Case]:
    """A matrix product is a fully connected layer of a batch."""
    product = Layer.gemm("product", M=16, N=1000, K=2048)
    connected = Layer("connected", LayerKind.CONV, K=1000, C=2048, Y=1, X=1, R=1, S=1, N=16)
    chip = PRESETS["edge"].unlimited_buffers()
    mapping = random_batch(product, chip.num_pes, 1, rng)[0]
    return (product, chip, mapping), (connected, chip, renamed(mapping, "YN", "NY"))


REWRITES = (turned, product_as_convolution, product_as_batch)


@pytest.mark.parametrize("rewritten", REWRITES)
def test_what_is_the_same_work_costs_the_same(exact, rewritten) -> None:
    rng, differ = np.random.default_rng(5), 0
    for _ in range(80):
        one, other = rewritten(rng)
        assert exact.evaluate(*one) == exact.evaluate(*other)
        differ += one != other
    assert differ > 45


def test_the_bound_is_a_bound_and_what_is_held_saves_input_alone() -> None:
    bound = cost_models.load("exact", latency="bound")
    halos = [cost_models.load("exact", halo_time=time) for time in HALO_TIMES]
    inputs = {"dram_in", "l2r_in", "l2r_in_tile", "l1w_in"}
    inputs |= {"latency", "noc_in_cycles", "dram_in_cycles"}
    rng = np.random.default_rng(13)
    for _ in range(60):
        setting = random_setting(rng)
        costs = [model.evaluate(*setting) for model in halos]
        assert bound.evaluate(*setting).latency_cycles <= costs[0].latency_cycles
        for less, more in pairwise(costs):
            changed = {name for name, count in less.counts.items() if count != more.counts[name]}
            assert changed <= inputs
            assert all(less.counts[name] <= more.counts[name] for name in changed)


def test_one_pe_with_whole_tiles_moves_every_element_once(exact: CostModel) -> None:
    for layer in ZOO:
        mapping = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({}, {}), 1)
        counts = exact.evaluate(layer, Accelerator(1), mapping).counts
        unique = unique_elements(layer)
        # a batch repeats the nest, and with it the filter
        filters = layer.repeats * layer.K * layer.C * layer.R * layer.S
        for boundary in (TRAFFIC[:3], TRAFFIC[3:]):
            assert [counts[name] for name in boundary] == [
                unique["input"],
                filters,
                unique["output"],
            ]
        assert counts["dram_out_r"] == counts["l2r_psum"] == 0
        assert counts["steps"] == counts["outer_steps"] == layer.repeats
