"""Where a proof should start: 16 samples of the trained agents, or 3,000 samples of ga.

    python benchmarks/first_value.py --out docs/data/first-value.csv

Prints the first value over the optimum and the processor time of first value and proof together
(the lower of two runs), one thread, compiled.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import baselines
from baselines import prove
from cost_models import Mapping
from maestro_env import Problem
from mapper.auto import TRIED
from marl_runs import geometric_mean

CHIPS = ("edge", "cloud")
LAYERS = (
    "mobilenetv2.2", "mobilenetv2.32", "vgg16.4", "bert_base.3", "resnet18.0", "mobilenetv2.1",
)  # fmt: skip
STARTS = ("agents", "ga")
FIELDS = ("layer", "accelerator", "objective", "start", "first value over optimum", "cpu_s")


def first_value(problem: Problem, start: str) -> tuple[float, Mapping | None]:
    """A first value and its mapping."""
    method, samples = ("ga", 3000) if start == "ga" else ("zero-shot", TRIED)
    found = baselines.load(method).search(problem.fork(), samples, 0)
    return found.best_value, found.mapping


def one(problem: Problem, start: str) -> tuple[float, float]:
    """First value over the optimum, and processor time [s]."""
    times, ratio = [], np.inf
    for _ in range(2):
        began = time.process_time()
        value, mapping = first_value(problem, start)
        ratio = value / prove(problem, start=mapping).value
        times.append(time.process_time() - began)
    return ratio, min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows: list[tuple[str, str, str, str, str, str]] = []
    found: dict[str, list[tuple[float, float]]] = {start: [] for start in STARTS}
    for chip in CHIPS:
        for layer in LAYERS:
            for objective in ("edp", "latency"):
                problem = Problem(layer, chip, objective)
                for start in STARTS:
                    ratio, seconds = one(problem, start)
                    found[start].append((ratio, seconds))
                    rows.append((layer, chip, objective, start, f"{ratio:.6f}", f"{seconds:.3f}"))
                shown = (f"{s} {found[s][-1][0]:.3f}x {found[s][-1][1]:.2f} s" for s in STARTS)
                print(f"{layer} on {chip}, {objective}:", "; ".join(shown), flush=True)
    for start, results in found.items():
        times = [result[1] for result in results]
        mean = geometric_mean([result[0] for result in results])
        print(
            f"{start}: first value {mean:.3f} x the optimum, with the proof {sum(times):.2f} s "
            f"in {len(results)} cases, median {np.median(times):.2f} s"
        )
    if args.out is not None:
        with args.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
