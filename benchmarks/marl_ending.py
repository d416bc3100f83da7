"""When `marl` may end: what is left to gain after so many restarts that gained nothing.

    python -m benchmarks marl_ending            # the table from the runs that are kept
    python -m benchmarks marl_ending --measure  # measures runs that the file lacks, first

EDP on `edge`, five seeds, without an end of its own (`idle=0`). docs/data/marl-ending.csv has a row
a restart: samples, best value and processor time [s] until then.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from benchmarks.chain_searchers import known, write
from maestro_env import Problem
from mapper.marl.batched import BatchedLearner
from mapper.marl.elites import Plateau

RUNS = Path("docs/data/marl-ending.csv")
LAYERS = ("mobilenetv2.2", "resnet18.6", "vgg16.4", "bert_base.0")
SEEDS, SAMPLES = 5, 6_000
COLUMNS = ("layer", "seed", "samples", "best", "cpu_s")
IDLE = (1, 2, 3, 4)


def measured(layer: str, seed: int) -> list[dict[str, Any]]:
    """A row a restart of one search, and one for its end."""
    rows: list[dict[str, Any]] = []
    problem = Problem(layer, "edge", "edp")
    counted = BatchedLearner._epoch_counted

    def told() -> None:
        spent = f"{time.process_time() - began:.2f}"
        figures = (layer, seed, problem.samples, repr(float(problem.best_value)), spent)
        rows.append(dict(zip(COLUMNS, figures, strict=True)))

    def watched(learner: BatchedLearner) -> None:
        counted(learner)
        told()

    BatchedLearner._epoch_counted = watched
    began = time.process_time()
    try:
        baselines.load("marl", idle=0).search(problem, SAMPLES, seed)
    finally:
        BatchedLearner._epoch_counted = counted
    told()
    return rows


def ended(rows: list[dict[str, Any]], idle: int) -> dict[str, Any]:
    """The row of a run at which it ends after so many restarts that gained nothing."""
    best, since = np.inf, 0
    for row in rows:
        gained = float(row["best"]) < best * (1.0 - Plateau.PROGRESS)
        best, since = float(row["best"]), 0 if gained else since + 1
        if since >= idle:
            return row
    return rows[-1]


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line of Markdown for each number of restarts."""
    runs = [
        [row for row in rows if (row["layer"], row["seed"]) == run]
        for run in dict.fromkeys((row["layer"], row["seed"]) for row in rows)
    ]
    yield "| ends after | samples, median | CPU s, median | over the budget's end, mean | most |"
    yield "|---" * 5 + "|"
    for idle in (*IDLE, 10**9):
        ends = [ended(run, idle) for run in runs]
        lost = [float(e["best"]) / float(r[-1]["best"]) for e, r in zip(ends, runs, strict=True)]
        samples, spent = (
            np.median([float(e[name]) for e in ends]) for name in ("samples", "cpu_s")
        )
        name = f"{idle} idle restarts" if idle < 10**9 else "the budget"
        mean = np.exp(np.mean(np.log(lost)))
        yield f"| {name} | {samples:,.0f} | {spent:.2f} | {mean:.4f} | {max(lost):.4f} |"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--runs", type=Path, default=RUNS)
    given = parser.parse_args()
    rows = known(given.runs)
    done = {(row["layer"], int(row["seed"])) for row in rows}
    for seed, layer in itertools.product(range(SEEDS if given.measure else 0), LAYERS):
        if (layer, seed) not in done:
            rows += measured(layer, seed)
            write(given.runs, COLUMNS, rows)
            print(layer, seed, flush=True)
    print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()
