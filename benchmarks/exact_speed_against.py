"""Speed of the exact model beside another checkout's, in alternated runs of one thread.

    python benchmarks/exact_speed_against.py --other ../older-checkout --runs 15

Both evaluate the same random mappings under the options that both know (`halo_time=none,
energy=maestro, area=maestro` here; the other's defaults there, or `--other-options`). Each run is a
process of its own; the figure is mappings a second of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

RUN = """
import json, sys, time
from dataclasses import replace
import numpy as np
import cost_models, layers
from cost_models import Accelerator
from maestro_env import MapSpace
name, chip, size, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
layer, accelerator = layers.get(name), Accelerator.preset(chip)
accelerator = replace(accelerator, l1_bytes=None, l2_bytes=None)
space = MapSpace(layer, accelerator)
batch = space.decode(space.sample(size, 0))
model = cost_models.load("exact", threads=1, **options)
model.evaluate_batch(layer, accelerator, batch.take(slice(0, 10)))
start = time.process_time()
costs = model.evaluate_batch(layer, accelerator, batch)
spent = time.process_time() - start
print(json.dumps([size / spent, float(costs.latency_cycles.sum())]))
"""
TODAY = {"halo_time": "none", "energy": "maestro", "area": "maestro"}


def measure(
    root: Path, layer: str, chip: str, size: int, options: dict[str, str]
) -> tuple[float, float]:
    """Mappings a second of a checkout, and the sum of all latencies."""
    run = subprocess.run(
        [sys.executable, "-c", RUN, layer, chip, str(size), json.dumps(options)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "NUMBA_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    rate, total = json.loads(run.stdout)
    return rate, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", type=Path, required=True)
    parser.add_argument("--other-options", type=json.loads, default={})
    parser.add_argument("--options", type=json.loads, default=TODAY)
    parser.add_argument("--layers", nargs="+", default=["mobilenetv2.2", "resnet18.2"])
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--mappings", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    here = Path(__file__).resolve().parents[1]
    for layer in args.layers:
        rates: dict[str, list[float]] = {"here": [], "other": []}
        for _ in range(args.runs):
            ours = measure(here, layer, args.accelerator, args.mappings, args.options)
            theirs = measure(
                args.other.resolve(), layer, args.accelerator, args.mappings, args.other_options
            )
            rates["here"].append(ours[0])
            rates["other"].append(theirs[0])
            if ours[1] != theirs[1]:
                print(f"{layer}: latencies differ: {ours[1]} here, {theirs[1]} there")
        medians = {name: statistics.median(values) for name, values in rates.items()}
        ratio = statistics.median(a / b for a, b in zip(rates["here"], rates["other"], strict=True))
        print(
            f"{layer} on {args.accelerator}: {medians['here']:,.0f} mappings/s here, "
            f"{medians['other']:,.0f} there; median ratio {ratio:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
