"""Write whole costs of six-field accelerators, which later versions must reproduce bit for bit.

    python -m benchmarks exact_six_field_costs tests/cost_models/data/exact_six_field_costs.json.gz

Half of the cases are tiny random layers, half layers of the model zoo with the presets; every
combination of five options comes up. A row holds layer, accelerator, mapping,
options, and every field of the cost: reason and levers where the mapping is infeasible, else
figures, accesses, detail and counts. Floating-point numbers are written so that they read back
bit for bit. The committed file was written by version 0.2.0.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import cost_models
import layers
from benchmarks.frame import asked
from cost_models import FIGURES, PRESETS, Accelerator, Cost, Mapping
from marl_common import atomic_write
from tests.cost_models.exact_laws import random_batch, unlimited_buffers
from tests.cost_models.tiny import Case, random_case

CASES = 1_000
CHOICES = {
    "halo_time": ("retain", "none"),
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "bound"),
    "double_buffer": (True, False),
    "energy": ("maestro", "eyeriss", "cacti"),
    "area": ("maestro", "provisioned"),
}
FIELDS = ("name", "kind", "K", "C", "Y", "X", "R", "S", "stride", "N", "groups")
CHIP_FIELDS = ("num_pes", "l1_bytes", "l2_bytes", "noc_bw", "offchip_bw", "simd_lanes")


def plain(layer: layers.Layer) -> bool:
    """Whether a layer keeps its meaning: batch, groups and transposed ones do not."""
    return layer.N * layer.groups == 1 and layer.kind is not layers.LayerKind.TRCONV


def zoo_case(rng: np.random.Generator) -> Case:
    """A random mapping of a zoo layer on a preset, with or without its buffers' limits."""
    names = sorted(layers.networks(language=False))
    network = [layer for layer in layers.network(str(rng.choice(names))) if plain(layer)]
    layer = network[int(rng.integers(len(network)))]
    short = sorted(name for name, chip in PRESETS.items() if chip.short)
    chip = PRESETS[str(rng.choice(short))]
    chip = unlimited_buffers(chip) if rng.random() < 0.8 else chip
    mapping = random_batch(layer, chip, 1, rng)[0]
    return Case(layer, chip, mapping)


def tiny_case(rng: np.random.Generator) -> Case:
    """A tiny random case."""
    while True:
        case = random_case(rng, max_macs=2_000)
        if plain(case.layer):
            return case


def row_of(case: Case, options: dict[str, Any]) -> dict[str, Any]:
    """One case with its cost, as JSON holds it."""
    cost = cost_models.load("exact", **options).evaluate(case.layer, case.accelerator, case.mapping)
    chip = asdict(case.accelerator)
    return {
        "layer": [getattr(case.layer, name) for name in FIELDS],
        "accelerator": [chip[name] for name in CHIP_FIELDS],
        "mapping": case.mapping.to_dict(),
        "options": list(options.values()),
        "cost": cost_fields(cost),
    }


def cost_fields(cost: Cost) -> dict[str, Any]:
    """Every field of a cost as JSON holds it."""
    if cost.infeasible is not None:
        why = cost.infeasible
        return {"infeasible": [int(why.code), why.message, why.demand, why.bound, *why.levers]}
    return {
        "figures": [getattr(cost, name) for name in FIGURES],
        "accesses": {tensor: list(kinds.items()) for tensor, kinds in cost.accesses.items()},
        "detail": list(cost.detail.items()),
        "counts": list(cost.counts.items()),
    }


def read_rows(path: Path) -> list[tuple[Case, dict[str, Any], dict[str, Any]]]:
    """The cases of a file, each with its options and its cost's fields."""
    found = []
    for row in json.loads(gzip.decompress(path.read_bytes())):
        layer = layers.Layer(**dict(zip(FIELDS, row["layer"], strict=True)))
        chip = Accelerator(**dict(zip(CHIP_FIELDS, row["accelerator"], strict=True)))
        options = dict(zip(CHOICES, row["options"], strict=True))
        found.append((Case(layer, chip, Mapping.from_dict(row["mapping"])), options, row["cost"]))
    return found


def main() -> None:
    """Write the file."""
    given = asked(__doc__, output_=Path, seed=14)
    rng = np.random.default_rng(given.seed)
    combinations = list(product(*CHOICES.values()))
    rows = []
    for number in range(CASES):
        case = tiny_case(rng) if number % 2 else zoo_case(rng)
        values = combinations[(number // 2) % len(combinations)]
        rows.append(row_of(case, dict(zip(CHOICES, values, strict=True))))
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    with atomic_write(given.output) as draft:
        draft.write_bytes(gzip.compress(text.encode(), mtime=0))
    feasible = sum("figures" in row["cost"] for row in rows)
    print(f"{len(rows)} costs, {feasible} feasible: {given.output}")
