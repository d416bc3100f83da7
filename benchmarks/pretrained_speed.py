"""How long `zero-shot` takes: one layer, and all shapes of MobileNet-v2, spaces and models built.

python benchmarks/pretrained_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import layers
from maestro_env import Problem
from mapper.pretrained.trials import Trials
from mapper.pretrained.weights import agents_of

SAMPLES = 16


def median_ms(work: Callable[[np.random.Generator], object], times: int) -> float:
    """Median processor time after one call that is not counted [ms]."""
    spent = []
    for number in range(times + 1):
        begin = time.process_time()
        work(np.random.default_rng(number))
        spent.append(1e3 * (time.process_time() - begin))
    return float(np.median(spent[1:]))


def main() -> None:
    """Measure and print."""
    agents = agents_of("auto", "exact")
    assert agents is not None
    shapes = {layer.shape: layer for layer in layers.network("mobilenetv2")}
    many = [Problem(layer, "edge", "edp") for layer in shapes.values()]
    one = [Problem("mobilenetv2.2", "edge", "edp")]
    alone = median_ms(lambda rng: Trials(agents, one, rng).run(SAMPLES), 100)
    all_shapes = median_ms(lambda rng: Trials(agents, many, rng).run(SAMPLES), 20)
    print(f"{SAMPLES} samples of a layer: {alone:.2f} ms of processor time, median of 100")
    print(f"{SAMPLES} for each of {len(many)} shapes of mobilenetv2: {all_shapes:.1f} ms")


if __name__ == "__main__":
    main()
