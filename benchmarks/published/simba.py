"""Simba: ResNet-50 on one chiplet times 36, and on 36 at once, beside its makers' figures.

Mappings are the best of a search by `ga` (seed 0), on each variant of the chip anew. The network of
the package costs nothing here, but for what the links of one chiplet let into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import layers
from benchmarks.chips import best_cost
from benchmarks.published.rows import Row, chain_of, given
from cost_models import CHAINS, Chain
from cost_models.technology.parts import table
from maestro_env import Problem

CHIP, SAMPLES = "simba", 20_000
SPREAD, LINKS = "one image a chiplet, not one on all", "no limit to what enters the package"
REGISTERS, VOLTAGE = "a weight read for every MAC", "prices of 0.8 V, not 0.42 V"
CORE = "die, not the area of 1.29 TOPS/mm2"


class Whole(NamedTuple):
    """ResNet-50 of one image: cycles, energy outside DRAM [pJ]; and MACs and buffers [mm2]."""

    cycles: float
    chip_pj: float
    area_mm2: float


def rows() -> Iterator[Row]:
    """Peak, images a second, energy of an operation, area."""
    figures, chip = given("simba"), CHAINS[CHIP]
    count = figures["chiplets"]
    per_cycle, clock = 2 * count * chip.peak_macs_per_cycle, 1e6 * (chip.clock_mhz or 0)
    tops = per_cycle * clock / 1e12
    yield Row(
        CHIP, "package", "peak [TOPS]", figures["package_tops"], tops, {}, "VLSI 2019, abstract"
    )
    alone = count * clock / resnet50(chip, "latency").cycles
    together = clock / resnet50(package(count), "latency").cycles
    share = figures["package_tops"] / tops
    fed = clock / resnet50(package(count, figures["links_gb_per_s"] / share), "latency").cycles
    steps = (
        ("", alone),
        ("clock of the package", share * alone),
        (SPREAD, share * together),
        (LINKS, share * fed),
    )
    for read, published in figures["images_per_s"].items():
        of = f"{read} 2019, abstract"
        yield Row(CHIP, "ResNet-50", "images/s", published, alone, chain_of(*steps), of)
    operations = 2 * sum(layer.macs for layer in layers.network("resnet50"))
    least = resnet50(chip, "energy")
    energy = least.chip_pj / operations
    kept = resnet50(with_registers(), "energy").chip_pj / operations
    causes = {REGISTERS: energy / kept, VOLTAGE: 1 / voltage_share(figures["least_volts"])}
    of = "VLSI 2019, abstract; the voltage remembered, not checked"
    yield Row(CHIP, "ResNet-50", "pJ/op", figures["pj_per_op"], energy, causes, of)
    page, die = "NVIDIA's page of the chip", figures["die_mm2"]
    core = figures["chip_tops"] / figures["tops_per_mm2"]
    yield Row(CHIP, "chip", "area [mm2]", die, least.area_mm2, {CORE: core / die}, page)


def resnet50(chip: Chain, objective: str) -> Whole:
    """ResNet-50 with the best mapping that is found for each shape."""
    cycles = energy = area = 0.0
    for shape, times in layers.distinct("resnet50"):
        cost = best_cost(Problem(shape, chip, objective), "ga", SAMPLES)
        if cost is None:
            raise ValueError(f"{chip.name}: no mapping of {shape} found")
        cycles += times * cost.latency_cycles
        energy += times * (cost.energy_nj - cost.levels["DRAM"].energy_nj) * 1e3
        area = cost.area_um2 / 1e6
    return Whole(cycles, energy, area)


def package(count: int, gb_per_s: float | None = None) -> Chain:
    """Chiplets beside each other, which share what DRAM sends, at a rate or without a limit."""
    fields = CHAINS[CHIP].to_dict()
    outside, *inside = fields["levels"]
    if gb_per_s is not None:
        rate = round(8e3 * gb_per_s / fields["clock_mhz"])
        outside = outside | {"read_bw": rate, "write_bw": rate}
    side = round(count**0.5)
    spread = {"name": "Package", "holds": [], "fanout": {"axes": [side, side], "dims": "KCYX"}}
    return Chain.from_dict(fields | {"levels": [outside, spread, *inside]}, "simba's package")


def with_registers() -> Chain:
    """A chiplet whose MACs keep a weight while it is used, in a register without a price."""
    fields = CHAINS[CHIP].to_dict()
    register = {"name": "Register", "bytes": 1, "holds": ["filter"], "double_buffer": False}
    free = {"read_pj": 0, "write_pj": 0, "leakage_uw": 0, "area_um2": 0}
    return Chain.from_dict(fields | {"levels": [*fields["levels"], register | free]}, CHIP)


def voltage_share(volts: float) -> float:
    """Energy of a circuit of the chip's node at a voltage, over that at the node's usual one."""
    rows = table("nodes.csv")
    node = rows[rows["node_nm"] == CHAINS[CHIP].node_nm][0]

    def energy(v: float) -> float:
        return float(node["a"] * v**2 + node["b"] * v + node["c"])

    return energy(volts) / energy(float(node["vdd_v"]))
