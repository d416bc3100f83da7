"""Simba: ResNet-50 on one chiplet times 36, and on 36 at once, beside its makers' figures.

Mappings are the best of a search by `ga` (seed 0). The network of the package costs nothing here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import baselines
import cost_models
import layers
from benchmarks.published.rows import Row, chain_of, given
from cost_models import CHAINS, Chain
from maestro_env import Problem

CHIP, SAMPLES = "simba", 20_000
MODEL = cost_models.load("exact")
SPREAD = "one image a chiplet, not one on all"


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
    steps = ("", alone), ("clock of the package", share * alone), (SPREAD, share * together)
    for read, published in figures["images_per_s"].items():
        of = f"{read} 2019, abstract"
        yield Row(CHIP, "ResNet-50", "images/s", published, alone, chain_of(*steps), of)
    operations = 2 * sum(layer.macs for layer in layers.network("resnet50"))
    least = resnet50(chip, "energy")
    energy = least.chip_pj / operations
    yield Row(CHIP, "ResNet-50", "pJ/op", figures["pj_per_op"], energy, {}, "VLSI 2019, abstract")
    page = "NVIDIA's page of the chip"
    yield Row(CHIP, "chip", "area [mm2]", figures["die_mm2"], least.area_mm2, {}, page)


def resnet50(chip: Chain, objective: str) -> Whole:
    """ResNet-50 with the best mapping that is found for each shape."""
    shapes = Counter(layer.renamed("") for layer in layers.network("resnet50"))
    cycles = energy = area = 0.0
    for shape, times in shapes.items():
        problem = Problem(shape, chip, objective, budget=SAMPLES)
        baselines.load("ga").search(problem, SAMPLES, 0)
        if problem.best_action is None:
            raise ValueError(f"{chip.name}: no mapping of {shape} found")
        mapping = problem.space.decode(problem.best_action[None])[0]
        cost = MODEL.evaluate(shape, chip, mapping)
        cycles += times * cost.latency_cycles
        energy += times * (cost.energy_nj - cost.levels["DRAM"].energy_nj) * 1e3
        area = cost.area_um2 / 1e6
    return Whole(cycles, energy, area)


def package(count: int) -> Chain:
    """Chiplets beside each other, which share what DRAM sends."""
    fields = CHAINS[CHIP].to_dict()
    outside, *inside = fields["levels"]
    side = round(count**0.5)
    spread = {"name": "Package", "holds": [], "fanout": {"axes": [side, side], "dims": "KCYX"}}
    return Chain.from_dict(fields | {"levels": [outside, spread, *inside]}, "simba's package")
