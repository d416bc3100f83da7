"""Figure 6: mean reward under four sampling laws, five seeds, with intervals.

    python benchmarks/mpe/rewards.py --store rewards.db --json rewards.json

Every run goes to the store, so the same command continues where it was stopped. The default is a
short schedule for two cores; ``--full`` is the papers' (60,000 episodes, batch 1024, one update of
all trainers every 100 samples, Adam 0.01).
"""

from __future__ import annotations

import argparse
import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from marl_runs import Store, mean_interval, print_rows, run_all
from mpe_marl.experiment import Training
from mpe_marl.learners import ALGORITHMS, LearnerConfig
from mpe_marl.replay import Replay, Schema, Transition
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import make_env, random_rewards

WORLDS = ("simple_spread", "simple_tag")
LAWS = ("uniform", "shared", "neighbor", "small")
SHORT_EPISODES = {"simple_spread": 1200, "simple_tag": 2500}
SHORT_LR = {"maddpg": 0.01, "masac": 0.003}
SHORT_ENTROPY = {"simple_spread": 0.05, "simple_tag": 0.01}  # contacts are rare at first


def config_of(args: argparse.Namespace, world: str, algorithm: str, law: str) -> TrainConfig:
    """The run's settings; `small` is the uniform law with a smaller batch."""
    batch = args.small_batch if law == "small" else args.batch
    shared = law == "shared"
    learner = LearnerConfig(
        algorithm=algorithm,
        mode="folded" if shared else "batched",
        lr=0.01 if args.full else SHORT_LR[algorithm],
        entropy=0.05 if args.full or algorithm == "maddpg" else SHORT_ENTROPY[world],
    )
    return TrainConfig(
        world=world,
        n_agents=3,
        layout="state" if shared else "joint",
        law="uniform" if law == "small" else law,
        capacity=args.capacity,
        batch=batch,
        update_every=args.update_every,
        warmup=args.warmup,
        learner=learner,
    )


def effective_batch(config: TrainConfig, draws: int = 400) -> float:
    """Independent transitions that a neighbor batch is worth, for the mean reward of a batch.

    The batch size times the variance of a uniform batch's mean over that of a neighbor batch's,
    on one world's random play.
    """
    env = make_env(config)
    rng, obs = np.random.default_rng(0), env.reset(0).copy()
    replays = [Replay(Schema.of(env), 20_000, "joint", law, config.batch, 1)
               for law in ("uniform", "neighbor")]  # fmt: skip
    none = np.zeros((0, 0), dtype=np.float32)
    for _ in range(20_000):
        actions = rng.integers(0, env.act_dim, (1, env.n_agents))
        step = env.step(actions)
        after = step.obs.copy()
        move = Transition(
            obs, actions, step.rewards, after, step.terminated, step.ended, none, none
        )
        for replay in replays:
            replay.add(move)
        obs = env.restart(step.ended).copy() if step.ended[0] else after
    spread = [np.var([np.mean(r.sample().rewards) for _ in range(draws)]) for r in replays]
    return float(config.batch * spread[0] / spread[1])


def write_curves(path: Path, store: Store, runs: dict[Any, Training]) -> None:
    """Write what every run reported while it trained: a row of each hundred episodes."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("world", "algorithm", "law", "seed", "episodes", "mean_reward"))
        for (cell, seed), run in runs.items():
            for found in store.runs(key=run.identity().key):
                for episodes, reward in zip(*store.metrics(found.id, "mean_reward"), strict=True):
                    writer.writerow((*cell, seed, episodes, round(float(reward), 4)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="rewards.db")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path, help="write the table there too")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS[:2])
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=LAWS)
    parser.add_argument("--curves", type=Path, help="CSV of mean rewards while training")
    parser.add_argument("--full", action="store_true", help="the papers' schedule")
    parser.add_argument("--report-only", action="store_true", help="tabulate what is in the store")
    args = parser.parse_args()
    paper = {"batch": 1024, "small_batch": 186, "update_every": 100, "warmup": None,
             "capacity": 1_000_000}  # fmt: skip
    short = {"batch": 128, "small_batch": 23, "update_every": 25, "warmup": 1000,
             "capacity": 100_000}  # fmt: skip
    for name, value in (paper if args.full else short).items():
        setattr(args, name, value)

    cells = list(product(args.worlds, args.algorithms, args.laws))
    runs = {
        (cell, seed): Training(
            config_of(args, *cell), seed, 60_000 if args.full else SHORT_EPISODES[cell[0]]
        )
        for seed in range(args.seeds)
        for cell in cells
    }
    with Store.open(args.store) as store:
        if not args.report_only:
            run_all(list(runs.values()), store, workers=args.workers)
        rows = table(args, store, cells, runs)
        if args.curves:
            write_curves(args.curves, store, runs)
    print_rows("Mean reward an episode, last tenth of training", rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2))
    if args.csv:
        with args.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def table(args: argparse.Namespace, store: Store, cells: list[Any], runs: Any) -> list[Any]:
    """One row a world, algorithm and law."""
    rows = []
    plain = {w: config_of(args, w, "maddpg", "uniform") for w in args.worlds}
    chance = {w: random_rewards(config, 1000) for w, config in plain.items()}
    worth = {w: effective_batch(config) for w, config in plain.items()}
    for cell in cells:
        world, algorithm, law = cell
        found = [store.runs(key=runs[cell, s].identity().key) for s in range(args.seeds)]
        done = [f[0].result["mean_reward"] for f in found if f and f[0].status == "finished"]
        if not done:
            continue
        mean, half = map(float, mean_interval(np.array(done)))
        rows.append(
            {
                "world": world, "algorithm": algorithm, "law": law, "seeds": len(done),
                "mean": round(mean, 3), "+-95%": round(half, 3),
                "low": round(min(done), 3), "high": round(max(done), 3),
                "random": round(float(chance[world].mean()), 3),
                "neighbor batch worth": round(worth[world], 1),
            }
        )  # fmt: skip
    return rows


if __name__ == "__main__":
    main()
