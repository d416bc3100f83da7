"""Speed and memory of a cost model, the exact one by default.

    python -m benchmarks exact_speed --json > docs/data/exact-speed.json
    MAESTRO_BIN=... python -m benchmarks exact_speed --cost-model maestro --limits

Random mappings of a layer with balanced tiles go through the batch in one call (of `exact` stepwise
and bound), on one thread and on two; then single calls, and the stock MAESTRO program's. Each
figure is the best of several runs. Buffers are unlimited, so that no mapping is cut short by a
limit; `--limits` keeps them.

The first call is timed in a process of its own, imports included. Peak memory is that of a process
which evaluates a million mappings in one call.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import cost_models
import layers
from benchmarks.frame import Row, asked, in_turns
from cost_models import Accelerator
from maestro_env import MapSpace

LAYER, MAPPINGS, RUNS, MEMORY_OF = "mobilenetv2.2", 50_000, 5, 1_000_000
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
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before / 1024)
"""


def said(script: str, *words: Any) -> list[float]:
    """The numbers that a process of its own prints."""
    command = [sys.executable, "-c", script, *map(str, words)]
    return [float(text) for text in subprocess.check_output(command, text=True).split()]


def rates(
    given: Any, layer: layers.Layer, chip: Accelerator, batch: Any, **options: str
) -> dict[str, float]:
    """Mappings a second of a batch on one thread and on two."""
    works, name = {}, options.get("latency", "batch")
    for threads in (1, 2):
        model = cost_models.load(given.cost_model, threads=threads, **options)
        model.evaluate_batch(layer, chip, batch.take(slice(0, 10)))
        works[threads] = lambda m=model: m.evaluate_batch(layer, chip, batch)
    walls, cpus = (
        {threads: min(times) for threads, times in in_turns(works, RUNS, clock=clock).items()}
        for clock in (time.perf_counter, time.process_time)
    )
    return {
        f"{name}, 1 threads [mappings/s]": len(batch) / walls[1],
        f"{name}, 1 thread [mappings/s of processor]": len(batch) / cpus[1],
        f"{name}, 2 threads [mappings/s]": len(batch) / walls[2],
        f"{name}, two threads over one": walls[1] / walls[2],
        # what two idle cores would give: on a busy machine the wall time says little
        f"{name}, two threads over one [processor]": 2 * cpus[1] / cpus[2],
    }


def main() -> None:
    given = asked(
        __doc__,
        cost_model=("exact", "with its options"),
        limits=(False, "keep the buffers' limits"),
        json=(False, "print JSON alone"),
    )
    layer, chip = layers.parse(LAYER), Accelerator.load("edge")
    if not given.limits:
        chip = replace(chip, l1_bytes=None, l2_bytes=None)
    space = MapSpace(layer, chip)
    batch = space.decode(space.sample(MAPPINGS, 0))
    result: Row = {"cost_model": given.cost_model, "layer": LAYER}
    result["accelerator"] = chip.to_dict()
    exact = given.cost_model.partition(":")[0] == "exact"
    for options in ({"latency": name} for name in ("stepwise", "bound")) if exact else ({},):
        result |= (found := rates(given, layer, chip, batch, **options))
    if os.environ.get("MAESTRO_BIN"):
        stock, few = cost_models.load("maestro-binary"), batch.take(slice(0, 100))
        began = time.perf_counter()
        stock.evaluate_batch(layer, chip, few)
        taken = (time.perf_counter() - began) / len(few)
        result["stock program, times as long"] = taken * next(iter(found.values()))
    model = cost_models.load(given.cost_model)
    works = {row: lambda one=batch[row]: model.evaluate(layer, chip, one) for row in range(50)}
    times = in_turns(works, 80, clock=time.perf_counter)
    result["single call, median [us]"] = 1e6 * float(np.median([*times.values()]))
    names = ("first call [s]", "first call [s of processor]")
    result |= dict(zip(names, said(FIRST_CALL, given.cost_model), strict=True))
    names = (f"peak memory, {MEMORY_OF} mappings [MB]", "of it, the mappings [MB]")
    result |= dict(zip(names, said(MEMORY, given.cost_model, MEMORY_OF), strict=True))
    if given.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        shown = f"{value:,.3f}" if isinstance(value, float) else value
        print(f"{name:<45} {shown!s:>14}")
