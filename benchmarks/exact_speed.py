"""Speed and memory of a cost model, the exact one by default.

    python -m benchmarks exact_speed --json > docs/data/exact-speed.json
    MAESTRO_BIN=... python -m benchmarks exact_speed --cost-model maestro --limits

Random mappings of a layer with balanced tiles go through the batch in one call (of `exact` stepwise
and bound), on one thread and on two; then single calls, and the stock MAESTRO program's. Each
figure is the best of several runs. Buffers are unlimited, so that no mapping is cut short by a
limit; `--limits` keeps them.

The first call is timed in a process of its own, imports included. Peak memory is that of a process
which evaluates `--memory` mappings in one call.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import cost_models
import layers
from benchmarks.frame import asked, best_of, show_figures
from cost_models import Accelerator
from maestro_env import MapSpace

FIRST_CALL = """
import sys, time
start = time.perf_counter(); cpu = time.process_time()
import cost_models, layers
from cost_models import Mapping
mapping = Mapping(("KCYXRS", "KCYXRS"), ("C", "C"), ({"C": 1}, {"C": 1}), 1)
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
    given = asked(
        __doc__,
        layer="mobilenetv2.2",
        accelerator="edge",
        cost_model=("exact", "with its options"),
        limits=(False, "keep the buffers' limits"),
        mappings=50_000,
        runs=5,
        memory=(1_000_000, "0 skips the measurement"),
        skip_first=(False, "skip the first call"),
        json=(False, "print JSON alone"),
    )
    layer, chip = layers.parse(given.layer), Accelerator.load(given.accelerator)
    if not given.limits:
        chip = replace(chip, l1_bytes=None, l2_bytes=None)
    space = MapSpace(layer, chip)
    batch = space.decode(space.sample(given.mappings, 0))
    result: dict[str, Any] = {"cost_model": given.cost_model, "layer": given.layer}
    result["accelerator"] = chip.to_dict()
    exact = given.cost_model.partition(":")[0] == "exact"
    for latency in ("stepwise", "bound") if exact else ("batch",):
        walls, cpus = {}, {}
        options = {"latency": latency} if exact else {}
        for threads in (1, 2):
            model = cost_models.load(given.cost_model, threads=threads, **options)
            model.evaluate_batch(layer, chip, batch.take(slice(0, 10)))
            walls[threads], cpus[threads] = best_of(
                given.runs,
                lambda m=model: m.evaluate_batch(layer, chip, batch),
            )
            result[f"{latency}, {threads} threads [mappings/s]"] = given.mappings / walls[threads]
            if threads == 1:
                alone = given.mappings / walls[1]
                per_second = given.mappings / cpus[1]
                result[f"{latency}, 1 thread [mappings/s of processor]"] = per_second
        result[f"{latency}, two threads over one"] = walls[1] / walls[2]
        # what two idle cores would give: on a busy machine the wall time says little
        result[f"{latency}, two threads over one [processor]"] = 2 * cpus[1] / cpus[2]
    if os.environ.get("MAESTRO_BIN"):
        stock, few = cost_models.load("maestro-binary"), batch.take(slice(0, 100))
        wall, _ = best_of(1, lambda: stock.evaluate_batch(layer, chip, few))
        result["stock program, times as long"] = wall / 100 * alone
    result["single call, median [us]"] = single_call_us(given.cost_model, layer, chip, 4000)
    if not given.skip_first:
        result |= first_call(given.cost_model)
    if given.memory:
        result |= peak_memory(given.cost_model, given.memory)
    show_figures(result, given.json)
