"""Count mappings that break a physical law under the exact model.

Draws random mappings of all zoo layers on the three presets (their buffers unlimited, so that every
mapping has figures) and tries each law on each; also whether more bandwidth or more lanes ever make
a mapping slower. Fails if a law is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import cost_models
import layers
from cost_models import PRESETS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.cost_models.exact_laws import (
    broken,
    random_batch,
    slower_when_faster,
    unlimited_buffers,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mappings", type=int, default=1_000_000, help="in all, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    args = parser.parse_args()
    model = cost_models.load("exact", threads=args.threads)
    zoo = [layer for name in layers.networks() for layer in layers.network(name)]
    zoo = list({(layer.kind, layer.extents, layer.stride): layer for layer in zoo}.values())
    size = -(-args.mappings // (len(zoo) * len(PRESETS)))
    rng = np.random.default_rng(args.seed)
    total: Counter[str] = Counter()
    mappings = 0
    start = time.perf_counter()
    for name in PRESETS:
        accelerator = unlimited_buffers(PRESETS[name])
        for layer in zoo:
            batch = random_batch(layer, accelerator, size, rng)
            costs = model.evaluate_batch(layer, accelerator, batch)
            mappings += int(costs.feasible.sum())
            total.update(broken(costs, layer, accelerator))
            total.update(slower_when_faster(model, layer, accelerator, batch))
    result = {
        "mappings": mappings,
        "layers": len(zoo),
        "presets": list(PRESETS),
        "seconds": round(time.perf_counter() - start, 1),
        "broken": dict(total),
    }
    if args.json:
        print(json.dumps(result))
    else:
        print(f"{mappings} mappings of {len(zoo)} layers on {', '.join(PRESETS)}, "
              f"{result['seconds']} s")  # fmt: skip
        for law, count in total.items():
            print(f"{count:>8}  {law}")
    return 1 if sum(total.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
