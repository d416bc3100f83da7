"""The closed form against the simulator on random tiny cases: every field of every cost.

Layers have any stride, dilation, batch, groups and padding; mappings have ragged tiles, second
parallel dimensions, and tensors that pass a level; chips have capacities, widths, copies and
bandwidths tensor by tensor; the model's options are drawn too.

    python benchmarks/exact_simulated.py --cases 1000000 --seed 1
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import cost_models
from cost_models.exact.options import HALO_TIMES
from tests.cost_models.tiny import random_case, random_full_case, random_whole_case

CHOICES = {
    "halo_time": HALO_TIMES,
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "stepwise", "stepwise", "bound"),
    "padding": ("counted", "counted", "free"),
    "window": ("touched", "touched", "box"),
    "double_buffer": (True, True, False),
    # prices of buffers without a capacity take longer than all else, so they are drawn rarely
    "energy": ("eyeriss", *["maestro"] * 9, "cacti"),
    "area": ("maestro", *["maestro"] * 9, "provisioned"),
}


def run(cases: int, seed: int, max_macs: int, every: int) -> int:
    """Compare so many cases; returns how many differ, and prints each."""
    rng = np.random.default_rng(seed)
    differ = feasible = 0
    start = time.process_time()
    models: dict[tuple[object, ...], tuple[cost_models.CostModel, cost_models.CostModel]] = {}
    for number in range(cases):
        chosen = {
            name: values[int(rng.integers(len(values)))] if rng.random() < 0.5 else values[0]
            for name, values in CHOICES.items()
        }
        key = tuple(chosen.values())
        if key not in models:
            models[key] = (
                cost_models.load("exact", **chosen),
                cost_models.load("simulator", **chosen),
            )
        draw = (random_full_case, random_full_case, random_whole_case, random_case)[number % 4]
        case = draw(rng, max_macs)
        left, right = (
            model.evaluate(case.layer, case.accelerator, case.mapping) for model in models[key]
        )
        feasible += left.feasible
        if left != right:
            differ += 1
            print(f"case {number}: {chosen} {case}")
            print(
                {
                    k: (v, right.counts.get(k))
                    for k, v in left.counts.items()
                    if v != right.counts.get(k)
                }
                or (left.infeasible, right.infeasible)
            )
        if every and (number + 1) % every == 0:
            spent = time.process_time() - start
            print(
                f"{number + 1} cases, {feasible} feasible, {differ} differ, {spent:.0f} s",
                flush=True,
            )
    return differ


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-macs", type=int, default=120)
    parser.add_argument("--every", type=int, default=10_000, help="cases between two lines; 0 none")
    args = parser.parse_args()
    differ = run(args.cases, args.seed, args.max_macs, args.every)
    print(f"{args.cases} cases (seed {args.seed}): {differ} differ")
    raise SystemExit(differ > 0)


if __name__ == "__main__":
    main()
