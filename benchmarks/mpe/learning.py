"""What sharing a batch and drawing neighbors cost in learning, on a schedule long enough to tell.

    python benchmarks/mpe/learning.py --csv docs/data/mpe-learning.csv
    python benchmarks/mpe/learning.py --csv part-7.csv --cases neighbor --seeds 7
    python benchmarks/mpe/learning.py --csv docs/data/mpe-learning.csv --collect part-*.csv \
        --cases-csv docs/data/mpe-learning-cases.csv

simple_spread, three agents, MADDPG with the papers' values, 15,000 episodes, ten seeds fixed
beforehand. Every finished run is a row of the file, so the same command goes on where it stopped;
``--collect`` makes one file of the rows of processes that wrote files of their own, and trains
nothing.
"""

from __future__ import annotations

import argparse
import csv
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import ttest_1samp
from tables import write_table

from marl_common import atomic_write
from marl_runs import mean_interval, print_rows
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer

# name -> law, layout, update mode
CASES = {
    "uniform": ("uniform", "joint", "batched"),
    "shared-batched": ("shared", "joint", "batched"),
    "shared-folded": ("shared", "state", "folded"),
    "neighbor": ("neighbor", "joint", "batched"),
}
COLUMNS = ("case", "seed", "episodes", "mean_over", "return_per_agent", "processor_s")


def config_of(case: str, episodes: int) -> TrainConfig:
    """The papers' settings with the case's law, layout and mode."""
    law, layout, mode = CASES[case]
    return TrainConfig(
        world="simple_spread", law=law, layout=layout, capacity=min(10**6, 25 * episodes),
        learner=LearnerConfig(mode=mode),
    )  # fmt: skip


def train(case: str, seed: int, episodes: int, last: int) -> dict[str, Any]:
    """Train once; the mean return of an agent over the last episodes."""
    start = time.process_time()
    trainer = Trainer(config_of(case, episodes), seed)
    history = trainer.run(episodes)
    values = (case, seed, episodes, last, history.mean(last), time.process_time() - start)
    return dict(zip(COLUMNS, values, strict=True))


def read(path: Path) -> list[dict[str, Any]]:
    """The rows so far."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def done(path: Path, case: str, seed: int) -> bool:
    """Whether the run is in the file."""
    return any((row["case"], row["seed"]) == (case, str(seed)) for row in read(path))


def write(path: Path, row: dict[str, Any]) -> None:
    """Add a row."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def collect(path: Path, parts: list[Path]) -> None:
    """Write the rows of all files into one, by case and seed."""
    rows = {(r["case"], int(r["seed"])): r for part in [path, *parts] for r in read(part)}
    order = [(case, seed) for case in CASES for seed in sorted({seed for _, seed in rows})]
    with atomic_write(path) as draft:
        for key in order:
            if key in rows:
                write(draft, rows[key])


def report(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each case's mean with its interval, and its difference to uniform, seed by seed.

    ``p`` is of a t test on the differences: how often chance alone would make them as large.
    """
    by_case: dict[str, dict[str, float]] = {}
    for row in rows:
        by_case.setdefault(row["case"], {})[row["seed"]] = float(row["return_per_agent"])
    table: list[dict[str, Any]] = []
    for case, values in by_case.items():
        mean, half = map(float, mean_interval(np.array(list(values.values()))))
        line = {
            "case": case, "seeds": len(values), "mean": mean, "+-95%": half,
            "minus uniform": None, "its +-95%": None, "seeds below": None, "p": None,
        }  # fmt: skip
        both = sorted(set(values) & set(by_case.get("uniform", {})))
        if case != "uniform" and len(both) > 1:
            differences = np.array([values[s] - by_case["uniform"][s] for s in both])
            line["minus uniform"], line["its +-95%"] = map(float, mean_interval(differences))
            line["seeds below"] = int((differences < 0).sum())
            line["p"] = float(ttest_1samp(differences, 0.0).pvalue)
        table.append(line)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--episodes", type=int, default=15_000)
    parser.add_argument("--last", type=int, default=1_000, help="episodes the mean is over")
    parser.add_argument("--collect", type=Path, nargs="*", help="files of rows to take over")
    parser.add_argument("--cases-csv", type=Path, help="a row a case: means, differences, p")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.collect is None:
        for seed, case in product(args.seeds, args.cases):
            if not done(args.csv, case, seed):
                write(args.csv, train(case, seed, args.episodes, args.last))
    else:
        collect(args.csv, args.collect)
    found = report(read(args.csv))
    print_rows("Return of an agent, last episodes of training", found)
    if args.cases_csv:
        write_table(args.cases_csv, found)


if __name__ == "__main__":
    main()
