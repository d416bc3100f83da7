"""How long `zero-shot` takes: one layer, and all shapes of MobileNet-v2, spaces and models built.

python benchmarks/pretrained_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import layers
from maestro_env import Problem
from mapper.pretrained.mapping import propose_actions
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
    one, hard = (Problem(layer, "edge", "edp") for layer in ("mobilenetv2.2", "bert_base.6"))
    for name, problems, times in (
        ("mobilenetv2.2", [one], 100),
        ("bert_base.6, a hard layer", [hard], 50),
        (f"{len(many)} shapes of mobilenetv2", many, 20),
    ):
        proposed = median_ms(
            lambda rng, given=problems: propose_actions(agents, given, SAMPLES, rng), times
        )
        tried = median_ms(
            lambda rng, given=problems: Trials(agents, given, rng).run(SAMPLES), times
        )
        print(f"{name}: {SAMPLES} proposals {proposed:.2f} ms, ", end="")
        print(f"{SAMPLES} samples of zero-shot, evaluated, {tried:.2f} ms")


if __name__ == "__main__":
    main()
