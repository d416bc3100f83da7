"""Speed and memory of the MAESTRO model on random mappings.

    python -m benchmarks maestro_speed [--rows 50000] [--million] [--json]

Rates count what a caller waits for, the CostBatch included; each is the best of several runs. The
cpu column is the same by the CPU's clock of this process, which other work on the machine disturbs
less. With MAESTRO_BIN set to the stock program, that runs on the first mappings of the batch too.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import layers
from benchmarks.frame import asked, best_of, show_figures
from cost_models import Accelerator, CostModel, Mapping, load
from maestro_env import MapSpace

FIRST = """
import time
start, cpu = time.perf_counter(), time.process_time()
import layers
from cost_models import Accelerator, load
from cost_models.mapping_batch import MappingBatch
layer = layers.get({layer!r})
order = [[[0, 1, 2, 3, 4, 5]] * 2]
tiles = [[layer.extents, layer.extents]]
batch = MappingBatch(order, [[1, 1]], tiles, [1])
load("maestro").evaluate_batch(layer, Accelerator.preset("edge"), batch)
print(time.perf_counter() - start, time.process_time() - cpu)
"""
MILLION = """
import resource
import layers
from cost_models import Accelerator, load
from cost_models.mapping_batch import MappingBatch
from maestro_env import MapSpace
layer, accelerator = layers.get({layer!r}), Accelerator.preset("edge")
space = MapSpace(layer, accelerator)
batch = space.decode(space.sample(1000, 0))
index = [row % 1000 for row in range(1_000_000)]
batch = batch.take(index)
costs = load("maestro").evaluate_batch(layer, accelerator, batch)
assert len(costs) == 1_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def single(model: CostModel, layer: layers.Layer, edge: Accelerator, mapping: Mapping) -> None:
    for _ in range(200):
        model.evaluate(layer, edge, mapping)


def in_process(script: str) -> list[float]:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return [float(text) for text in done.stdout.split()]


def measure(name: str, rows: int, repeats: int, million: bool) -> dict[str, float]:
    layer, edge = layers.get(name), Accelerator.preset("edge")
    space = MapSpace(layer, edge)
    batch = space.decode(space.sample(rows, seed=0))
    figures: dict[str, float] = {}
    for accelerator in ("edge", "archgym"):
        hardware = Accelerator.preset(accelerator)
        for threads in (1, 2):
            model = load("maestro", threads=threads)
            model.evaluate_batch(layer, hardware, batch.take(slice(0, 2)))
            # B023: called here, with this turn's model.
            wall, cpu = best_of(repeats, lambda: model.evaluate_batch(layer, hardware, batch))  # noqa: B023
            figures[f"{accelerator}: mappings/s, {threads} threads"] = rows / wall
            if threads == 1:
                figures[f"{accelerator}: mappings/s of CPU time"] = rows / cpu
    model = load("maestro", threads=1)
    wall, cpu = best_of(repeats, lambda: single(model, layer, edge, batch[0]))
    figures["single call, us"], figures["single call, us of CPU time"] = wall * 5e3, cpu * 5e3
    wall, cpu = in_process(FIRST.format(layer=name))
    figures["import and first batch, s"], figures["the same, s of CPU time"] = wall, cpu
    if million:
        (figures["1,000,000 mappings in one call, peak MiB"],) = in_process(
            MILLION.format(layer=name)
        )
    if os.environ.get("MAESTRO_BIN"):
        stock, few = load("maestro-binary"), batch.take(slice(0, 100))
        wall, _ = best_of(1, lambda: stock.evaluate_batch(layer, edge, few))
        figures["stock program: mappings/s"] = 100 / wall
        ours = figures["edge: mappings/s, 1 threads"]
        figures["ratio to the stock program, 1 thread"] = ours * wall / 100
    figures["peak MiB of this process"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def main() -> None:
    given = asked(
        __doc__,
        layer="mobilenetv2.2",
        rows=50_000,
        repeats=5,
        million=(False, "also one call of 1,000,000"),
        json=False,
    )
    show_figures(measure(given.layer, given.rows, given.repeats, given.million), given.json)
