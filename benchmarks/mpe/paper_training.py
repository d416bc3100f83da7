"""Fig. 6 of the papers: MADDPG on Predator-Prey, 60,000 episodes, uniform beside neighbor."""

from __future__ import annotations

import csv
import sys
import time
from itertools import product
from typing import Any

import numpy as np

from benchmarks.mpe.paper_effort import MpeEffort, Places
from benchmarks.mpe.paper_shares import WORLD
from common import atomic_write
from mpe_marl.experiment import Training
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import random_rewards
from runs import Store, mean_interval, run_all

LAWS = ("uniform", "neighbor")
LARGE = 12
"""Agents from which on a run takes half an hour."""
PLAYED = 500
"""Episodes of random play."""


def config_of(effort: MpeEffort, n: int, law: str) -> TrainConfig:
    """The papers' values in the batched engine: the same batches and updates, faster."""
    return TrainConfig(
        world=WORLD,
        n_agents=n,
        law=law,
        layout="joint",
        batch=effort.batch,
        learner=LearnerConfig(algorithm="maddpg", mode="batched"),
    )


def rewards(effort: MpeEffort, places: Places) -> None:
    """Fig. 6: mean reward over training, small worlds first; large ones while there is time."""
    places.runs.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    cells = list(product(effort.trained, range(effort.seeds), LAWS))
    runs = {
        cell: Training(config_of(effort, cell[0], cell[2]), cell[1], effort.episodes)
        for cell in sorted(cells)
    }
    with Store.open(str(places.runs / "rewards.db")) as store:
        for (n, seed, law), run in runs.items():
            if n >= LARGE and time.monotonic() - begun > 3600 * effort.hours:
                print(f"left: {n} agents, {law}, seed {seed}", file=sys.stderr)
                continue
            summary = run_all([run], store, workers=1)
            if summary.interrupted:
                sys.exit(130)
        rows, curves = _tables(effort, store, runs)
    if not rows:
        sys.exit("no training run is finished; the same command goes on")
    places.table("mpe-figure6.csv", rows)
    with (
        atomic_write(places.data / "mpe-figure6-curves.csv") as draft,
        draft.open("w", newline="") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("agents", "law", "seed", "episodes", "mean_reward"))
        writer.writerows(curves)


def _tables(effort: MpeEffort, store: Store, runs: dict[Any, Training]) -> tuple[list[Any], Any]:
    rows, curves = [], []
    for n in effort.trained:
        chance = float(random_rewards(config_of(effort, n, "uniform"), PLAYED).mean())
        by_law: dict[str, dict[int, float]] = {}
        for law in LAWS:
            for seed in range(effort.seeds):
                for found in store.runs(key=runs[n, seed, law].identity().key)[:1]:
                    if found.status != "finished":
                        continue
                    by_law.setdefault(law, {})[seed] = found.result["mean_reward"]
                    points = zip(*store.metrics(found.id, "mean_reward"), strict=True)
                    every = max(1, effort.episodes // 100)
                    curves += [(n, law, seed, e, round(float(r), 4))
                               for e, r in points if e % every == 0]  # fmt: skip
        for law, means in by_law.items():
            rows.append(_row(effort, n, law, means, by_law.get("uniform", {}), chance))
    return rows, curves


def _row(
    effort: MpeEffort,
    n: int,
    law: str,
    means: dict[int, float],
    uniform: dict[int, float],
    chance: float,
) -> dict[str, Any]:
    mean, half = map(float, mean_interval(np.array(list(means.values()))))
    both = [means[seed] - uniform[seed] for seed in means if seed in uniform]
    over, error = map(float, mean_interval(np.array(both))) if both else (np.nan, np.nan)
    other = law != "uniform"
    return {
        "agents": n,
        "law": law,
        "episodes": effort.episodes,
        "seeds": len(means),
        "mean reward": mean,
        "+-": half,
        "minus uniform": over if other else "",
        "its +-": error if other else "",
        "random play": chance,
    }
