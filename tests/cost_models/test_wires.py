"""What wires and ports cost: by hand, on chains and on two levels, and in bounds."""

import math
from dataclasses import replace
from typing import Any

import pytest

import cost_models
import layers
from benchmarks.chain_check import brute_force
from benchmarks.chain_problems import random_problem, structures_of
from cost_models import Accelerator, Mapping, Widths, Wires
from maestro_env import Problem
from mapper.show.speed import speed_lines
from tests.baselines.proofs import least_of, spread_bounds

DEAR = Wires(2.0, 300.0, 40.0)
"""So dear that they decide."""
LAYER = layers.get("resnet18.2")
MAPPING = Mapping(
    ("KCYXRS", "KCYXRS"),
    ("K", "C"),
    (
        {"K": 8, "C": 8, "Y": 8, "X": 8, "R": 3, "S": 3},
        {"K": 2, "C": 2, "Y": 2, "X": 2, "R": 3, "S": 3},
    ),
    12,
)


def wired(chip: Any, network: Wires = DEAR, port: float = 60.0) -> Any:
    """A chip with wires on every fan-out that may have them."""
    if isinstance(chip, Accelerator):
        dram, l2, l1 = chip.levels
        l2 = replace(l2, network=network, port_um2_per_bit=port)
        return replace(chip, levels=(dram, l2, l1))
    levels = [
        replace(
            level,
            network=network if level.fanout.axes and not level.fanout.any else Wires(),
            port_um2_per_bit=port if level.is_memory else 0.0,
        )
        for level in chip.levels
    ]
    return replace(chip, levels=tuple(levels))


def test_figures_by_hand() -> None:
    plain = Accelerator(168, 512, 108_000, 64, 16)
    chip = wired(plain, Wires(0.5, 4.0, 3.0), 60.0)
    model: Any = cost_models.load("exact")
    before, after = (model.evaluate(LAYER, one, MAPPING) for one in (plain, chip))
    prices = model.setting(plain).chip
    fed = 168 * (prices.mac_area_um2 + prices.levels[2].area_um2)
    bit = 0.5 + 4.0 * math.sqrt(fed) / 2 / 1000
    counts = after.counts
    moved = counts["l1w_in"] + counts["l1w_fil"] + counts["l2r_psum"] + counts["l1drain_out"]
    assert after.energy_nj - before.energy_nj == pytest.approx(8 * moved * bit / 1000)
    assert after.detail["energy_noc_nj"] == pytest.approx(8 * moved * bit / 1000)
    width = 2 * 8 * 64
    assert after.area_um2 - before.area_um2 == pytest.approx(width * (60.0 + 168 * 3.0))
    assert after.latency_cycles == before.latency_cycles


def test_files_keep_them() -> None:
    for chip in (wired(Accelerator.preset("edge")), wired(cost_models.load_chip("simba"))):
        again = cost_models.chip_from(chip.to_dict())
        assert again == chip


def test_bounds_of_chains_are_near_brute_force_and_not_above() -> None:
    ratios = []
    for seed in range(36):
        drawn = random_problem(seed, 300, 6_000)
        fed = [level.fanout for level in drawn.accelerator.levels[:-1]]
        if any(fanout.axes and not fanout.any for fanout in fed):
            chip = wired(drawn.accelerator)
            problem = Problem(drawn.layer, chip, "energy", drawn.cost_model)
            best = brute_force(problem)
            if math.isfinite(best):
                structures = structures_of(problem)
                ways = (spread_bounds(structures, structures.spread(way), (0, 1))
                        for way in structures.ways)  # fmt: skip
                ratios.append(best / min(map(least_of, ways)))
    assert len(ratios) >= 8
    assert 1 - 1e-9 <= min(ratios) < 1.001  # wires that cost a fifth more break this


def test_kinds_of_macs_and_transistors_are_priced_by_their_tables() -> None:
    plain = Accelerator(168, 512, 108_000, 64, 16, widths=Widths(8, 8, 8, 24))
    model: Any = cost_models.load("exact")
    chips = {kind: replace(plain, mac_kind=kind) for kind in ("", "aladdin", "int", "fp32")}
    costs = {kind: model.evaluate(LAYER, chip, MAPPING) for kind, chip in chips.items()}
    pj = {k: 1000 * c.detail["energy_mac_nj"] / LAYER.macs for k, c in costs.items()}
    assert pj[""] == pj["aladdin"] == pytest.approx(1.09)
    assert 0.2 <= pj["int"] <= 0.3  # Horowitz, ISSCC 2014
    assert pj["fp32"] == pytest.approx(4.6)
    dram, l2, l1 = plain.levels
    fast = replace(plain, levels=(dram, replace(l2, kind="HP"), l1))
    leaking = model.evaluate(LAYER, fast, MAPPING).detail["energy_leakage_nj"]
    assert leaking > 1_000 * costs[""].detail["energy_leakage_nj"]
    line = speed_lines(replace(fast, mac_kind="int"), 1e6, 1e6, 1e6)[-1]
    assert line.endswith("TOPS/W (MACs of kind int, L2 of kind HP)")
    assert speed_lines(plain, 1e6, 1e6, 1e6)[-1].endswith("TOPS/W")
    for chip in (*chips.values(), fast):
        assert cost_models.chip_from(chip.to_dict()) == chip
