"""The exact model's interface: batches, threads, limits, options, dataflows."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import cost_models
import layers
from cost_models import (
    FIGURES,
    PRESETS,
    Accelerator,
    CostModel,
    Mapping,
    MappingBatch,
    MappingError,
    ReasonCode,
)
from cost_models.exact.options import HALO_TIMES
from cost_models.threads import CHUNK
from layers import DIMS, Layer, LayerKind
from tests.cost_models.batches import whole_filter_batch
from tests.cost_models.tiny import clipped, random_layer, random_mapping

CONV = Layer("conv", LayerKind.CONV, K=32, C=16, Y=18, X=18, R=3, S=3)
MAPPING = Mapping(
    ("KCYXRS", "KCYXRS"), ("K", "Y"), ({"K": 8, "Y": 8, "X": 8}, {"K": 2, "C": 4, "Y": 2}), 4
)


@pytest.fixture(scope="module")
def exact() -> CostModel:
    return cost_models.load("exact")


def test_tiles_above_the_extents_cost_what_whole_ones_cost(exact: CostModel) -> None:
    rng, chip = np.random.default_rng(1), Accelerator(16, noc_bw=3, simd_lanes=2)
    for _ in range(10):
        layer = random_layer(rng)
        mappings = [random_mapping(rng, layer) for _ in range(6)]
        batch = MappingBatch.from_mappings(mappings, layer.extents)
        for cost, mapping in zip(exact.evaluate_batch(layer, chip, batch), mappings, strict=True):
            assert cost == exact.evaluate(layer, chip, clipped(mapping, layer))


@pytest.mark.parametrize("preset", ["edge", "tpu-v1"])
def test_batches_on_one_and_two_threads_are_equal(preset: str) -> None:
    layer, chip = layers.get("resnet18.5"), PRESETS[preset]
    batch = whole_filter_batch(layer, 2 * CHUNK + 9, 2, chip.num_pes)
    one, two = (
        cost_models.load("exact", threads=n).evaluate_batch(layer, chip, batch) for n in (1, 2)
    )
    assert np.array_equal(one.reason, two.reason)
    for name in FIGURES:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_read_only_and_empty_batches(exact: CostModel) -> None:
    batch = whole_filter_batch(CONV, 4, 3, 168)
    expected = exact.evaluate_batch(CONV, PRESETS["edge"], batch).latency_cycles
    for array in (batch.orders, batch.parallel, batch.tiles, batch.cluster_size):
        array.flags.writeable = False
    again = exact.evaluate_batch(CONV, PRESETS["edge"], batch).latency_cycles
    assert np.array_equal(again, expected)
    empty = exact.evaluate_batch(CONV, PRESETS["edge"], batch.take(slice(0, 0)))
    assert len(empty) == 0
    assert len(empty.energy_nj) == 0


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [
        ("orders", (1, 0, 3), 0),
        ("orders", (1, 0, 3), 9),
        ("parallel", (1, 1), 8),
        ("tiles", (1, 0, 2), 0),
        ("cluster_size", 1, 0),
    ],
)
def test_a_batch_that_holds_no_mapping_is_named(exact, field, place, value):
    batch = whole_filter_batch(CONV, 3, 3, 168)
    getattr(batch, field)[place] = value
    with pytest.raises(MappingError, match="MappingBatch row 1: orders"):
        exact.evaluate_batch(CONV, PRESETS["edge"], batch)


# ------------------------------------------------------------------ limits and their levers


def applied(mapping: Mapping, lever: str, level: int) -> Mapping:
    """The mapping after a lever such as ``Reduce inner tile K 16 -> 12``."""
    changes = lever.split("tile", 1)[1].removeprefix("s").split(",")
    tiles = [dict(t) for t in mapping.tiles]
    for change in changes:
        dim, old, _, new = change.split()
        limits = dict(zip(DIMS, CONV.extents, strict=True))
        for upper in tiles[: level + 1]:
            limits[dim] = min(upper.get(dim, limits[dim]), limits[dim])
        assert limits[dim] == int(old)
        tiles[level][dim] = int(new)
    return replace(mapping, tiles=tuple(tiles))


@pytest.mark.parametrize(
    ("field", "code", "level", "word"),
    [
        ("l1_bytes", ReasonCode.L1_CAPACITY, 1, "inner"),
        ("l2_bytes", ReasonCode.L2_CAPACITY, 0, "outer"),
    ],
)
def test_every_lever_of_a_capacity_satisfies_it(exact, field, code, level, word):
    free = exact.evaluate(CONV, Accelerator(16), MAPPING)
    need = int(getattr(free, field))
    for limit in (need - 1, need // 2, need // 7, 40):
        accelerator = replace(Accelerator(16), **{field: limit})
        why = exact.evaluate(CONV, accelerator, MAPPING).infeasible
        assert (why.code, why.demand, why.bound, why.unit) == (code, need, limit, "B")
        assert why.gap == need - limit
        tried = 0
        for lever in why.levers:
            if f"{word} tile" in lever:
                changed = applied(MAPPING, lever, level)
                assert exact.evaluate(CONV, accelerator, changed).feasible, lever
                tried += 1
            elif lever.startswith("raise"):
                enough = replace(accelerator, **{field: int(lever.split()[-1])})
                assert exact.evaluate(CONV, enough, MAPPING).feasible
                assert f"--{field.replace('_', '-')}" in lever
            else:
                assert "double_buffer=False" in lever
                lean = cost_models.load("exact", double_buffer=False)
                assert lean.evaluate(CONV, accelerator, MAPPING).feasible
        assert tried


def test_a_tile_lever_is_the_largest_that_fits(exact: CostModel) -> None:
    need = int(exact.evaluate(CONV, Accelerator(16), MAPPING).l1_bytes)
    accelerator = Accelerator(16, l1_bytes=need - 1)
    why = exact.evaluate(CONV, accelerator, MAPPING).infeasible
    assert "Reduce inner tile C 4 -> 3" in why.levers
    assert f"L1 needs {need} B, limit {need - 1} B (+1 B)" in why.message
    assert str(why).startswith("Infeasible: layer 'conv': L1 needs")


def test_no_tile_can_help_where_one_element_does_not_fit(exact: CostModel) -> None:
    why = exact.evaluate(CONV, Accelerator(16, l1_bytes=5), MAPPING).infeasible
    assert not any("tile" in lever for lever in why.levers)
    assert why.levers


def test_a_cluster_needs_as_many_pes_as_there_are(exact: CostModel) -> None:
    cost = exact.evaluate(CONV, Accelerator(3), MAPPING)
    assert cost.latency_cycles == float("inf")
    why = cost.infeasible
    assert why.code is ReasonCode.PE_COUNT
    assert (why.demand, why.bound, why.unit) == (4, 3, "PEs")
    assert exact.evaluate(CONV, Accelerator(3), replace(MAPPING, cluster_size=3)).feasible
    assert exact.evaluate(CONV, Accelerator(4), MAPPING).feasible
    assert len(why.levers) == 2


def test_huge_cluster_sizes_and_pe_counts_do_not_wrap(exact: CostModel) -> None:
    why = exact.evaluate(CONV, Accelerator(4), replace(MAPPING, cluster_size=1 << 40)).infeasible
    assert why.code is ReasonCode.PE_COUNT
    most = exact.evaluate(CONV, Accelerator(1 << 30), replace(MAPPING, cluster_size=1 << 20))
    assert most.feasible
    assert most.macs == CONV.macs


@pytest.mark.parametrize(
    "layer",
    [
        Layer("deep", LayerKind.CONV, K=1 << 20, C=1 << 20, Y=1 << 12, X=1 << 12, R=1, S=1),
        Layer("many", LayerKind.GEMM, K=1 << 10, C=1 << 10, Y=1 << 10, X=1, R=1, S=1, N=1 << 30),
    ],
)
def test_layers_too_large_for_64_bits_get_a_reason(exact: CostModel, layer: Layer) -> None:
    mapping = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({}, {}), 1)
    cost = exact.evaluate(layer, Accelerator(16), mapping)
    assert cost.infeasible.code is ReasonCode.TOO_LARGE
    batch = whole_filter_batch(CONV, 2, 0, 16)
    costs = exact.evaluate_batch(layer, Accelerator(16), batch)
    assert list(costs.reason) == [ReasonCode.TOO_LARGE] * 2
    assert costs[0] == cost


def test_the_largest_layers_that_are_taken_do_not_wrap(exact: CostModel) -> None:
    layer = Layer("edge of 64 bits", LayerKind.GEMM, K=1 << 19, C=1 << 19, Y=(1 << 21) - 1,
                  X=1, R=1, S=1)  # fmt: skip
    assert layer.macs < 1 << 59
    ones = dict.fromkeys(DIMS, 1)
    mapping = Mapping(("CKYXRS", "CKYXRS"), ("K", "C"), (ones, ones), 1)
    cost = exact.evaluate(layer, Accelerator(1, noc_bw=1, offchip_bw=1), mapping)
    assert cost.feasible
    assert all(count >= 0 for count in cost.counts.values())
    assert cost.counts["compute_cycles"] == layer.macs
    assert cost.counts["latency"] > 1.99 * layer.macs


# ------------------------------------------------------------------ options


def test_the_latency_says_what_binds_it(exact: CostModel) -> None:
    # one input pixel in, 64 outputs out a step; the filters stay
    layer = Layer("wide", LayerKind.CONV, K=64, C=1, Y=32, X=32, R=1, S=1)
    mapping = Mapping(("KCYXRS", "KCYXRS"), ("C", "K"), ({}, {"K": 1, "Y": 1, "X": 1}), 64)
    ample = Accelerator(64)
    for part, hardware in {
        "compute": ample,
        "noc_in": replace(ample, noc_bw=1),
        "noc_out": replace(ample, noc_bw=1),
        "dram": replace(ample, offchip_bw=1),
    }.items():
        chosen = replace(mapping, orders=("KCYXRS", "YXKCRS")) if part == "noc_in" else mapping
        if part == "noc_in":  # filters are fetched again for every pixel
            chosen = replace(chosen, tiles=({}, {"K": 1, "Y": 1, "X": 1}), cluster_size=32)
        detail = exact.evaluate(layer, hardware, chosen).detail
        shares = {
            name: detail[f"share_{name}"] for name in ("compute", "noc_in", "noc_out", "dram")
        }
        assert sum(shares.values()) == pytest.approx(1.0)
        assert max(shares, key=lambda name: shares[name]) == part, shares


def test_an_energy_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mac: 1\nl1: 2\nl2: 10\ndram: 100\nunit_nj: 0.5\nsource: measured\n")
    cost = cost_models.load("exact", energy=str(path)).evaluate(CONV, Accelerator(16), MAPPING)
    a = cost.accesses
    l1, l2, dram = (
        sum(a[t][f"{level}_{kind}"] for t in a for kind in ("read", "write"))
        for level in ("l1", "l2", "dram")
    )
    assert cost.energy_nj == 0.5 * (cost.macs + 2 * l1 + 10 * l2 + 100 * dram)


# ------------------------------------------------------------------ laws


def test_a_product_costs_what_a_convolution_of_one_tap_costs(exact: CostModel) -> None:
    rng, chip = np.random.default_rng(5), Accelerator(16, noc_bw=3, offchip_bw=2)
    for _ in range(60):
        rows, columns, depth = (int(n) for n in rng.integers(1, 9, 3))
        gemm = Layer.gemm("product", M=rows, N=columns, K=depth)
        conv = Layer("conv", LayerKind.CONV, K=columns, C=depth, Y=rows, X=1, R=1, S=1)
        mapping = random_mapping(rng, gemm)
        assert exact.evaluate(gemm, chip, mapping) == exact.evaluate(conv, chip, mapping)


def test_the_bound_is_a_bound_and_what_is_held_saves_input_alone() -> None:
    bound = cost_models.load("exact", latency="bound")
    halos = [cost_models.load("exact", halo_time=time) for time in HALO_TIMES]
    inputs = {"dram_in", "l2r_in", "l2r_in_tile", "l1w_in"}
    inputs |= {"latency", "noc_in_cycles", "dram_in_cycles"}
    rng = np.random.default_rng(13)
    for _ in range(60):
        layer, noc, offchip = random_layer(rng), *(int(n) for n in rng.integers(1, 5, 2))
        chip = Accelerator(16, noc_bw=noc, offchip_bw=offchip)
        setting = layer, chip, random_mapping(rng, layer)
        costs = [model.evaluate(*setting) for model in halos]
        assert bound.evaluate(*setting).latency_cycles <= costs[0].latency_cycles
        for less, more in pairwise(costs):
            changed = {name for name, count in less.counts.items() if count != more.counts[name]}
            assert changed <= inputs
            assert all(less.counts[name] <= more.counts[name] for name in changed)
