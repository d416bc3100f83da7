"""How far the exact model's bound lies below its stepwise latency.

Random mappings of zoo layers on the presets with limited bandwidth: the largest ratio over all
feasible mappings, and over the best hundredth of each layer's by stepwise latency.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import cost_models
import layers
from cost_models import Accelerator
from maestro_env import MapSpace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mappings", type=int, default=3000, help="of each layer and preset")
    parser.add_argument("--every", type=int, default=6, help="take every n-th layer of a network")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    args = parser.parse_args()
    stepwise, bound = (cost_models.load("exact", latency=name) for name in ("stepwise", "bound"))
    best = most = 1.0
    tried = 0
    for network in layers.networks(language=False):
        for layer in layers.network(network)[:: args.every]:
            for preset in ("edge", "cloud"):
                chip = Accelerator.preset(preset)
                space = MapSpace(layer, chip)
                batch = space.decode(space.sample(args.mappings, 0))
                above = stepwise.evaluate_batch(layer, chip, batch)
                below = bound.evaluate_batch(layer, chip, batch)
                rows = np.flatnonzero(above.feasible)
                if len(rows) == 0:
                    continue
                ratio = above.latency_cycles[rows] / below.latency_cycles[rows]
                order = np.argsort(above.latency_cycles[rows])
                top = order[: max(1, len(rows) // 100)]
                best, most = max(best, ratio[top].max()), max(most, ratio.max())
                tried += len(rows)
    result = {"feasible mappings": tried, "most among the best 1 %": best, "most": most}
    if args.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:>25}  {value:,.2f}" if value < 100 else f"{name:>25}  {value:,}")


if __name__ == "__main__":
    main()
