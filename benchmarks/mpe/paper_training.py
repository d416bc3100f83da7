"""Fig. 6 of the papers: MADDPG on Predator-Prey, 60,000 episodes, uniform beside neighbor."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from benchmarks.frame import Row, write
from benchmarks.mpe.kept_lines import MpeEffort, Places
from benchmarks.mpe.paper_shares import WORLD
from marl_runs import Store, mean_interval, run_all
from mpe_marl.experiment import Training
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import random_rewards

LAWS = ("uniform", "neighbor")
POINTS = 100
"""Points of a run's curve."""
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
    """Fig. 6: mean reward over training, few agents and the first seeds first."""
    rows, curves = [], []
    for n in effort.trained:
        chance = places.kept(f"random-{n}", lambda n=n: _random(effort, n))
        by_law: dict[str, dict[int, float]] = {law: {} for law in LAWS}
        for seed, law in product(range(effort.seeds), LAWS):
            found = places.kept(
                f"train-{n}-{law}-{seed}-{effort.episodes}-{effort.batch}",
                lambda cell=(n, law, seed): _trained(effort, places, *cell),
            )
            if found:
                by_law[law][seed] = found["mean_reward"]
                curves += [(n, law, seed, *point) for point in found["curve"]]
        for law, means in by_law.items():
            if means and chance:
                told = {"agents": n, "law": law, "episodes": effort.episodes}
                told |= _row(means, {} if law == "uniform" else by_law["uniform"])
                rows.append(told | {"random play": chance["mean_reward"]})
    if not rows:
        return
    places.table("mpe-figure6.csv", rows)
    columns = ("agents", "law", "seed", "episodes", "mean_reward")
    points = (dict(zip(columns, point, strict=True)) for point in curves)
    write(places.data / "mpe-figure6-curves.csv", columns, points)


def _random(effort: MpeEffort, n: int) -> dict[str, float]:
    rewards = random_rewards(config_of(effort, n, "uniform"), PLAYED)
    return {"mean_reward": round(float(rewards.mean()), 4)}


def _trained(effort: MpeEffort, places: Places, n: int, law: str, seed: int) -> Row:
    """Train, or go on where the store of what is under way says; Ctrl-C ends the command."""
    run = Training(config_of(effort, n, law), seed, effort.episodes)
    places.unfinished.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(str(places.unfinished)) as store:
        if run_all([run], store, workers=1).interrupted:
            sys.exit(130)
        done = [one for one in store.runs(key=run.identity().key) if one.status == "finished"]
        if not done:
            sys.exit(f"training failed: {run.name}; see {places.unfinished}")
        points = zip(*store.metrics(done[0].id, "mean_reward"), strict=True)
        every = max(1, effort.episodes // POINTS)
        curve = [(int(e), round(float(r), 4)) for e, r in points if e % every == 0]
        return {"mean_reward": round(float(done[0].result["mean_reward"]), 5), "curve": curve}


def _row(means: dict[int, float], uniform: dict[int, float]) -> Row:
    """The mean and the mean difference to uniform, seed by seed, with half of their intervals."""
    mean, half = map(float, mean_interval(np.array(list(means.values()))))
    told: Row = {"seeds": len(means), "mean reward": mean, "+-": half}
    both = [means[seed] - uniform[seed] for seed in means if seed in uniform]
    apart = map(float, mean_interval(np.array(both))) if both else ("", "")
    return told | dict(zip(("minus uniform", "its +-"), apart, strict=True))
