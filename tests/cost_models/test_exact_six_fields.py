"""A six-field accelerator costs what it always did, under the options that say so."""

from __future__ import annotations

import json
from pathlib import Path

import cost_models
from benchmarks.exact_six_field_costs import cost_fields, read_rows
from cost_models import CostModel

COSTS = Path(__file__).parent / "data" / "exact_six_field_costs.json.gz"
"""1,000 whole costs, written by version 0.2.0."""


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
