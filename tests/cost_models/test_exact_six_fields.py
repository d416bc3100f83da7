"""A six-field accelerator costs what it always did, under the options that say so."""

import gzip
import json
from pathlib import Path
from typing import Any

import cost_models
from cost_models import FIGURES, Accelerator, Cost, CostModel, Mapping
from layers import Layer
from tests.cost_models.tiny import Case

COSTS = Path(__file__).parent / "data" / "exact_six_field_costs.json.gz"
"""1,000 whole costs that version 0.2.0 wrote (benchmarks/exact_six_field_costs.py of 50500cd): half
of tiny random layers, half of the zoo's on the presets, under all combinations of `CHOICES`."""
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
        layer = Layer(**dict(zip(FIELDS, row["layer"], strict=True)))
        chip = Accelerator(**dict(zip(CHIP_FIELDS, row["accelerator"], strict=True)))
        options = dict(zip(CHOICES, row["options"], strict=True))
        found.append((Case(layer, chip, Mapping.from_dict(row["mapping"])), options, row["cost"]))
    return found


def test_a_thousand_costs_are_equal_bit_for_bit() -> None:
    rows = read_rows(COSTS)
    assert len(rows) == 1_000
    models: dict[str, CostModel] = {}
    feasible = 0
    for number, (case, options, expected) in enumerate(rows):
        key = json.dumps(options)
        if key not in models:
            models[key] = cost_models.load("exact", **options)
        cost = models[key].evaluate(case.layer, case.accelerator, case.mapping)
        # JSON writes a float's shortest exact form, so equal texts are equal bits
        found = json.loads(json.dumps(cost_fields(cost)))
        assert found == expected, (number, case, options)
        feasible += cost.feasible
    assert len(models) == 96
    assert 700 < feasible < 1_000
