"""Count mismatches between the exact model's closed form and the brute-force simulator.

Runs random tiny mappings through both, each under the next combination of halo_time, halo_space,
latency and double_buffer, and compares whole costs: counts, accesses, figures and details,
infeasible ones with their reason. Batch, groups, strides and dilations of rows and of columns,
ragged tiles, orders, parallel dimensions and bandwidths are drawn at random. Prints the first
mismatches, and fails if there is one.

Every mapping has a seed of its own: ``--start`` goes on where an earlier run ended.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

import cost_models

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.cost_models.tiny import random_case, random_whole_case

CHOICES = {
    "halo_time": ("retain", "none"),
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "bound"),
    "double_buffer": (True, False),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mappings", type=int, default=20_000)
    parser.add_argument("--start", type=int, default=0, help="number of the first mapping")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-macs", type=int, default=300)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    args = parser.parse_args()
    models = []
    for values in product(*CHOICES.values()):
        options = dict(zip(CHOICES, values, strict=True))
        models.append(
            (options, *(cost_models.load(name, **options) for name in ("exact", "simulator")))
        )
    mismatches = feasible = 0
    start = time.perf_counter()
    for number in range(args.start, args.start + args.mappings):
        rng = np.random.default_rng([args.seed, number])
        case = (random_case if number % 5 == 0 else random_whole_case)(rng, args.max_macs)
        options, exact, simulator = models[number % len(models)]
        cost = exact.evaluate(case.layer, case.accelerator, case.mapping)
        feasible += cost.feasible
        if cost != simulator.evaluate(case.layer, case.accelerator, case.mapping):
            mismatches += 1
            if mismatches <= 5:
                print("mismatch:", number, options, case, file=sys.stderr)
    result = {
        "mappings": args.mappings,
        "option_combinations": len(models),
        "feasible": feasible,
        "mismatches": mismatches,
        "seconds": round(time.perf_counter() - start, 1),
    }
    if args.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
