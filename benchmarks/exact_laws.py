"""Count mappings that break a physical law under the exact model.

Draws random mappings of all zoo layers on the three presets (their buffers unlimited, so that every
mapping has figures) and tries each law on each; also whether more bandwidth or more lanes ever make
a mapping slower. Fails if a law is broken.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import product

import numpy as np

import cost_models
import layers
from benchmarks.frame import asked, show_figures
from cost_models import PRESETS
from tests.cost_models.exact_laws import (
    broken,
    random_batch,
    slower_when_faster,
    unlimited_buffers,
)


def main() -> bool:
    given = asked(
        __doc__,
        mappings=(1_000_000, "in all, at least"),
        seed=1,
        threads=1,
        json=(False, "print JSON alone"),
    )
    model = cost_models.load("exact", threads=given.threads)
    zoo = [layer for name in layers.networks() for layer in layers.network(name)]
    zoo = list({(layer.kind, layer.extents, layer.stride): layer for layer in zoo}.values())
    size = -(-given.mappings // (len(zoo) * len(PRESETS)))
    rng = np.random.default_rng(given.seed)
    total: Counter[str] = Counter()
    mappings = 0
    start = time.process_time()
    for preset, layer in product(PRESETS.values(), zoo):
        accelerator = unlimited_buffers(preset)
        batch = random_batch(layer, accelerator, size, rng)
        costs = model.evaluate_batch(layer, accelerator, batch)
        mappings += int(costs.feasible.sum())
        total.update(broken(costs, layer, accelerator))
        total.update(slower_when_faster(model, layer, accelerator, batch))
    spent = round(time.process_time() - start, 1)
    found = {"mappings": mappings, "layers": len(zoo), "presets": list(PRESETS), "cpu_s": spent}
    show_figures(found | {"broken": dict(total)}, given.json)
    return sum(total.values()) > 0
