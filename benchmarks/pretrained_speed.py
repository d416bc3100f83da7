"""How long `zero-shot` takes: problems, spaces and models built, everything compiled.

python benchmarks/pretrained_speed.py
"""

from __future__ import annotations

import time

import numpy as np

import baselines
from maestro_env import Problem

LAYERS = ("mobilenetv2.2", "bert_base.6")
COUNTS = (1, 16, 64, 256)
TIMES = 50


def median_ms(problem: Problem, samples: int) -> float:
    """Median processor time of searches after one that is not counted [ms]."""
    searcher, spent = baselines.load("zero-shot"), []
    for seed in range(TIMES + 1):
        begin = time.process_time()
        searcher.search(problem, samples, seed)
        spent.append(1e3 * (time.process_time() - begin))
    return float(np.median(spent[1:]))


def main() -> None:
    """Measure and print."""
    for layer in LAYERS:
        problem = Problem(layer, "edge", "edp")
        for samples in COUNTS:
            print(f"{layer}: {samples} samples {median_ms(problem, samples):.2f} ms", flush=True)


if __name__ == "__main__":
    main()
