"""Policy gradient of the pre-trained agents: RLlib's trainer against ours, after equal samples.

    python benchmarks/pretrained_rllib.py --seed 0 --out FILE.csv
    python benchmarks/pretrained_rllib.py --collect DIR --out docs/data/pretrained-rllib.csv

Both begin with the same networks and do the same short schedule from untrained agents. What counts
is the mean over 20 held-out random problems of the best of 16 plain draws (no judge picks), over
the best that the genetic algorithm found.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import torch
from scipy import stats

import cost_models
from mapper.pretrained.network import Weights
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.rllib_trainer import RllibTrainer
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.trainer import PolicyTrainer
from mapper.pretrained.training.validation import Validation
from runs import ray_session

SCHEDULE = Schedule(
    explore_steps=30,
    imitate_steps=0,
    refine_steps=0,
    problems=6,
    samples=8,
    blocks=1,
    visits=1,
    learning_rate=3e-3,
)
PROBLEMS, DRAWS = 20, 16
COST_MODEL = "exact"
HEADER = ["trainer", "seed", "samples", "mean_log_best_of_16", "cpu_s"]


def loss_of(weights: Weights, held_out: Validation, seed: int) -> float:
    """Mean log of the best of 16 plain draws over the reference; 2 where none is feasible."""
    batch = held_out.batch
    rng = np.random.default_rng(seed)
    values = batch.price(batch.propose(Proposer(weights), DRAWS, rng)).values
    best = values.reshape(PROBLEMS, DRAWS).min(axis=1)
    return float(np.minimum(np.log(best / held_out.reference), 2.0).mean())


def measure(seed: int) -> list[list[str]]:
    """Train with both and measure; the untrained networks beside them."""
    torch.set_num_threads(1)
    model = cost_models.load(COST_MODEL)
    held_out = Validation.build(model, PROBLEMS, 2000)
    ours = PolicyTrainer(model, SCHEDULE, seed)
    samples = SCHEDULE.explore_steps * SCHEDULE.problems * SCHEDULE.samples
    rows = [["untrained", str(seed), "0", f"{loss_of(ours.weights, held_out, seed):.5f}", "0"]]
    begin = time.process_time()
    for _ in range(SCHEDULE.steps):
        ours.step()
    spent = time.process_time() - begin
    rows.append(_row("ours", seed, samples, loss_of(ours.weights, held_out, seed), spent))
    with ray_session("local"):
        theirs = RllibTrainer(COST_MODEL, SCHEDULE, seed)
        begin = time.process_time()
        for _ in range(SCHEDULE.steps):
            theirs.step()
        spent = time.process_time() - begin
        rows.append(_row("RLlib", seed, samples, loss_of(theirs.weights(), held_out, seed), spent))
        theirs.stop()
    return rows


def _row(name: str, seed: int, samples: int, loss: float, spent: float) -> list[str]:
    return [name, str(seed), str(samples), f"{loss:.5f}", f"{spent:.1f}"]


def summary(rows: list[list[str]]) -> None:
    """Means and their 95 % intervals over seeds."""
    for name in dict.fromkeys(row[0] for row in rows):
        found = np.array([float(row[3]) for row in rows if row[0] == name])
        half = 0.0
        if len(found) > 1:
            half = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
        print(f"{name}: mean log {found.mean():.3f} +- {half:.3f} over {len(found)} seeds")


def main() -> None:
    """Measure one seed, or collect the files of several."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--collect", type=Path, help="folder of files of single seeds")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.collect:
        rows = []
        for path in sorted(given.collect.glob("*.csv")):
            with path.open(newline="", encoding="utf-8") as file:
                rows += list(csv.reader(file))[1:]
    else:
        rows = measure(given.seed)
    with given.out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])
    summary(rows)


if __name__ == "__main__":
    main()
