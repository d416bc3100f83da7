"""Count mismatches between the exact model's closed form and the brute-force simulator.

Runs random tiny mappings through both, each under the next combination of halo_time, halo_space,
latency and double_buffer, and compares whole costs: counts, accesses, figures and details,
infeasible ones with their reason. Batch, groups, strides and dilations of rows and of columns,
ragged tiles, orders, parallel dimensions and bandwidths are drawn at random. Prints the first
mismatches, and fails if there is one.

Every mapping has a seed of its own: ``--start`` goes on where an earlier run ended.
"""

from __future__ import annotations

import sys
import time
from itertools import product

import numpy as np

import cost_models
from benchmarks.frame import asked, show_figures
from tests.cost_models.tiny import random_case, random_whole_case

CHOICES = {
    "halo_time": ("retain", "none"),
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "bound"),
    "double_buffer": (True, False),
}


def main() -> bool:
    given = asked(
        __doc__,
        mappings=20_000,
        start=(0, "number of the first mapping"),
        seed=1,
        max_macs=300,
        json=(False, "print JSON alone"),
    )
    models = []
    for values in product(*CHOICES.values()):
        options = dict(zip(CHOICES, values, strict=True))
        models.append(
            (options, *(cost_models.load(name, **options) for name in ("exact", "simulator")))
        )
    mismatches = feasible = 0
    start = time.process_time()
    for number in range(given.start, given.start + given.mappings):
        rng = np.random.default_rng([given.seed, number])
        case = (random_case if number % 5 == 0 else random_whole_case)(rng, given.max_macs)
        options, exact, simulator = models[number % len(models)]
        cost = exact.evaluate(case.layer, case.accelerator, case.mapping)
        feasible += cost.feasible
        if cost != simulator.evaluate(case.layer, case.accelerator, case.mapping):
            mismatches += 1
            if mismatches <= 5:
                print("mismatch:", number, options, case, file=sys.stderr)
    result = {
        "mappings": given.mappings,
        "option_combinations": len(models),
        "feasible": feasible,
        "mismatches": mismatches,
        "cpu_s": round(time.process_time() - start, 1),
    }
    show_figures(result, given.json)
    return mismatches > 0
