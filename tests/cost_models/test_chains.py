"""Chips and mappings of any depth: figures, loops, files."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

import cost_models
from cost_models import CHAINS, PRESETS, Accelerator, Chain, ChainMapping, with_wires
from cost_models.chain.clusters import as_chain, two_levels_of
from cost_models.chain.loops import MAC
from layers import get
from maestro_env import MapSpace
from tests.cost_models.chains import random_batch, random_chip
from tests.cost_models.tiny import random_layer

FIGURES = ("latency_cycles", "energy_nj", "power_mw", "area_um2", "macs", "utilized_pes")


@pytest.mark.parametrize("seed", range(12))
def test_a_mapping_of_two_levels_has_the_same_figures_as_a_chain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layer = get(str(rng.choice(["mobilenetv2.2", "resnet18.2", "vgg16.1", "mobilenetv2.3"])))
    name = str(rng.choice(["edge", "cloud", "eyeriss", "tpu-v1", "nvdla-small", "gemmini-16"]))
    chip = Accelerator.preset(name)
    if seed % 2:
        chip = with_wires(chip)
    model = cost_models.load(
        "exact",
        halo_time=str(rng.choice(["retain", "none"])),
        halo_space=str(rng.choice(["union", "tile"])),
        latency=str(rng.choice(["stepwise", "bound"])),
        double_buffer=bool(rng.integers(2)),
        padding=str(rng.choice(["counted", "free"])),
        window=str(rng.choice(["touched", "box"])),
    )
    space = MapSpace(layer, chip, full=True)
    batch = space.decode(space.sample(30, rng))
    for mapping in batch:
        whole = replace(chip, num_pes=chip.num_pes // mapping.cluster_size * mapping.cluster_size)
        cost = model.evaluate(layer, whole, mapping)
        chain, entries = as_chain(whole, mapping, layer)
        again = model.evaluate(layer, chain, entries)
        assert cost.feasible == again.feasible
        if not cost.feasible:
            continue
        for figure in (*FIGURES, "l1_bytes", "l2_bytes", "offchip_bw_req"):
            assert getattr(again, figure) == pytest.approx(getattr(cost, figure), rel=1e-12)
        assert again.accesses == cost.accesses
        for level in ("DRAM", "L2", "L1"):
            assert again.levels[level].accesses == cost.levels[level].accesses


@pytest.mark.parametrize("chip", PRESETS.values(), ids=PRESETS)
def test_levels_of_a_chip_of_two_levels_are_known_as_such(chip: Accelerator) -> None:
    for one in (chip, with_wires(chip)):
        levels = one.to_levels()
        found = two_levels_of(levels)
        assert found is not None
        assert found.to_levels() == levels
    assert two_levels_of(chip.to_levels(cluster_size=1)) is None


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
def test_the_kernel_counts_chains_as_the_simulator_executes_them(memories: int) -> None:
    rng = np.random.default_rng(1000 + memories)
    models = [cost_models.load(name) for name in ("exact", "simulator")]
    for _ in range(10):
        chip, layer = random_chip(rng, memories), random_layer(rng, 200)
        mapping = random_batch(rng, chip, layer, 1, uneven=all(chip.memories[0].holds))[0]
        cost, executed = (model.evaluate(layer, chip, mapping) for model in models)
        assert cost.feasible
        assert cost.levels == executed.levels
        for figure in FIGURES:
            assert getattr(cost, figure) == pytest.approx(getattr(executed, figure))
        assert cost.detail == pytest.approx(executed.detail)
        parts = ["mac", *(level.name.lower() for level in (chip.levels[0], *chip.memories))]
        named = [cost.detail[f"energy_{part}_nj"] for part in (*parts, "network", "leakage")]
        assert sum(named) == pytest.approx(cost.energy_nj)


def test_rows_of_a_mapping_of_two_levels_name_clusters() -> None:
    layer = get("mobilenetv2.2")
    mapping = cost_models.Mapping(
        ("KCYXRS", "KCYXRS"), ("K", "C"), ({"K": 4, "Y": 10}, {"K": 1, "C": 2, "Y": 5}), 8
    )
    rows = mapping.loops(layer, 64)
    assert {row.level for row in rows} <= {"L2", "clusters", "L1", MAC}
    spread = [(row.level, row.dim, row.units) for row in rows if row.spatial]
    assert spread == [("clusters", "K", 8), ("L1", "C", 8)]


def test_a_chip_is_written_as_it_is_read() -> None:
    rng = np.random.default_rng(5)
    two = [Accelerator.preset(name) for name in ("edge", "eyeriss", "tpu-v1", "gemmini-16")]
    chips = [random_chip(rng, depth) for depth in (1, 2, 3, 4, 5)]
    for chip in (*chips, *CHAINS.values(), *(one.to_levels(4) for one in two)):
        assert Chain.from_dict(yaml.safe_load(yaml.safe_dump(chip.to_dict()))) == chip


def test_a_mapping_is_written_as_it_is_read() -> None:
    rng = np.random.default_rng(6)
    for depth in (1, 2, 3, 4):
        chip, layer = random_chip(rng, depth, limited=True), random_layer(rng, 200)
        mapping = random_batch(rng, chip, layer, 1, uneven=depth > 2)[0]
        assert ChainMapping.from_dict(yaml.safe_load(yaml.safe_dump(mapping.to_dict()))) == mapping
