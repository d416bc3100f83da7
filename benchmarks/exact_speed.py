"""Speed and memory of the exact model.

Random mappings of a layer with balanced tiles go through the batch in one call, stepwise and
bound, on one thread and on two; then single calls. Each figure is the best of several runs. Buffers
are unlimited, so that no mapping is cut short by a limit; `--limits` keeps them.

The first call is timed in a process of its own, imports included. Peak memory is that of a process
which evaluates `--memory` mappings in one call.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import cost_models
import layers
from cost_models import Accelerator
from maestro_env import MapSpace

FIRST_CALL = """
import sys, time
start = time.perf_counter(); cpu = time.process_time()
import cost_models, layers
from cost_models import Mapping
mapping = Mapping(("KCYXRS", "KCYXRS"), ("K", "Y"), ({"K": 4}, {"K": 2, "C": 4, "Y": 2, "X": 7}), 8)
cost = cost_models.load(sys.argv[1]).evaluate(
    layers.get("mobilenetv2.2"), cost_models.Accelerator(168), mapping)
assert cost.feasible
print(time.perf_counter() - start, time.process_time() - cpu)
"""

MEMORY = """
import resource, sys
import numpy as np, cost_models, layers
from maestro_env import MapSpace
layer, chip = layers.get("mobilenetv2.2"), cost_models.Accelerator(168)
space = MapSpace(layer, chip)
batch = space.decode(space.sample(int(sys.argv[2]), 0))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
costs = cost_models.load(sys.argv[1]).evaluate_batch(layer, chip, batch)
best = (costs.latency_cycles * costs.energy_nj).min()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before)
"""


def best_of(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """Shortest wall and processor time [s]."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def single_call_us(name: str, layer: layers.Layer, chip: Accelerator, calls: int) -> float:
    """Median time of a single call [us]."""
    model = cost_models.load(name)
    space = MapSpace(layer, chip)
    batch = space.decode(space.sample(50, 1))
    mappings = [batch[i] for i in range(len(batch))]
    times = []
    for number in range(calls):
        mapping = mappings[number % len(mappings)]
        start = time.perf_counter()
        model.evaluate(layer, chip, mapping)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def first_call(name: str) -> dict[str, float]:
    """Wall and processor time [s] of a process's first call."""
    run = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, name], capture_output=True, text=True, check=True
    )
    wall, cpu = (float(text) for text in run.stdout.split())
    return {"first call [s]": wall, "first call [s of processor]": cpu}


def peak_memory(name: str, mappings: int) -> dict[str, float]:
    """Peak resident memory [MB] of a process that evaluates many mappings in one call."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, name, str(mappings)],
        capture_output=True,
        text=True,
        check=True,
    )
    peak, before = (int(text) / 1024 for text in run.stdout.split())
    return {f"peak memory, {mappings} mappings [MB]": peak, "of it, the mappings [MB]": before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--cost-model", default="exact", help="with its options")
    parser.add_argument("--limits", action="store_true", help="keep the buffers' limits")
    parser.add_argument("--mappings", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", type=int, default=1_000_000, help="0 skips the measurement")
    parser.add_argument("--skip-first", action="store_true", help="skip the first call")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    args = parser.parse_args()
    layer, chip = layers.parse(args.layer), Accelerator.load(args.accelerator)
    if not args.limits:
        chip = replace(chip, l1_bytes=None, l2_bytes=None)
    space = MapSpace(layer, chip)
    batch = space.decode(space.sample(args.mappings, 0))
    result: dict[str, float] = {}
    for latency in ("stepwise", "bound"):
        walls, cpus = {}, {}
        for threads in (1, 2):
            model = cost_models.load(args.cost_model, latency=latency, threads=threads)
            model.evaluate_batch(layer, chip, batch.take(slice(0, 10)))
            walls[threads], cpus[threads] = best_of(
                args.runs,
                lambda m=model: m.evaluate_batch(layer, chip, batch),
            )
            result[f"{latency}, {threads} threads [mappings/s]"] = args.mappings / walls[threads]
            if threads == 1:
                per_second = args.mappings / cpus[1]
                result[f"{latency}, 1 thread [mappings/s of processor]"] = per_second
        result[f"{latency}, two threads over one"] = walls[1] / walls[2]
        # what two idle cores would give: on a busy machine the wall time says little
        result[f"{latency}, two threads over one [processor]"] = 2 * cpus[1] / cpus[2]
    result["single call, median [us]"] = single_call_us(args.cost_model, layer, chip, 4000)
    if not args.skip_first:
        result |= first_call(args.cost_model)
    if args.memory:
        result |= peak_memory(args.cost_model, args.memory)
    if args.json:
        print(
            json.dumps(
                {
                    "cost_model": args.cost_model,
                    "layer": args.layer,
                    "accelerator": chip.to_dict(),
                    **result,
                }
            )
        )
        return
    print(cost_models.load(args.cost_model))
    print(f"{args.layer} on {chip}, {args.mappings} random mappings, best of {args.runs}")
    for name, value in result.items():
        print(f"{name:>45}  {value:,.2f}" if value < 100 else f"{name:>45}  {value:,.0f}")


if __name__ == "__main__":
    main()
