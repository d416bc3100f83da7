"""Fig. 2 to 6 of the papers: shares of the time, growth, neighbor sampling, rewards."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np

from benchmarks.frame import Row, write
from benchmarks.mpe.kept_lines import MpeEffort, Places
from marl_runs import Store, mean_interval, run_all
from mpe_marl.asked import Effort
from mpe_marl.comparing import BASELINE, against_first, measure, variant
from mpe_marl.experiment import Training
from mpe_marl.figures import draw_profiles, growth, training_shares, update_shares
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import random_rewards
from mpe_marl.worlds import BatchWorlds

WORLD = "simple_tag"
"""Predator-Prey: the predators learn, the environment moves the prey."""
ALGORITHMS = ("maddpg", "masac")
COMPARED = (BASELINE, "neighbor", "neighbor-drop")
PHASES = ("act", "environment", "store", "sample", "target_q", "q_loss", "p_loss", "target_update")


def sizes(effort: MpeEffort, places: Places) -> None:
    """Look-ups of the target actions and widths of the inputs, which grow with the agents."""
    rows = []
    for n in effort.agents:
        config = TrainConfig(world=WORLD, n_agents=n)
        assert config.spec is not None
        world = BatchWorlds(config.spec, 1)
        one, actions = config.spec.obs_dim, world.act_dim
        record = n * (2 * one + actions + 2)  # observations before and after, action, reward, end
        rows.append(
            {
                "agents": n,
                "look-ups N (N - 1)": n * (n - 1),
                "an actor's input": one,
                "a critic's input": n * (one + actions),
                "critics' inputs, all": n * n * (one + actions),
                "numbers of a batch, all trainers": n * effort.batch * record,
            }
        )
    places.table("mpe-sizes.csv", rows)


def profiles(effort: MpeEffort, places: Places) -> None:
    """Fig. 2, 3 and 4: the papers' baseline, phase by phase."""
    where = "" if effort.device == "cpu" else f"-{effort.device}"
    every = [
        places.kept(
            f"profile-{name}-{n}-{effort.rows}-{effort.repeats}{where}",
            lambda name=name, n=n: _measured(effort, n, BASELINE, effort.rows, name),
        )
        for n in effort.agents
        for name in ALGORITHMS
    ]
    found = sorted((p for p in every if p), key=lambda p: (p["algorithm"], p["n_agents"]))
    if not found:
        return
    if not where:
        for path in draw_profiles(found, places.figures):
            path.rename(path.with_name(f"mpe-{path.name}"))
    whole, papers = training_shares(found), training_shares(found, interaction=False)
    inside = update_shares(found)
    rows = []
    for p, label in zip(found, whole, strict=True):
        told = {"algorithm": p["algorithm"], "agents": p["n_agents"], "repeats": effort.repeats}
        told |= {f"{name} ms": p["phase_ms"][name] for name in PHASES}
        counters = p["counters"]
        told["counters"] = counters["source"]
        told |= {k: counters.get(k, "") for k in ("cache_misses", "dtlb_misses")}
        for definition, shares in (("whole cycle", whole), ("papers", papers)):
            for part in ("action selection", "update all trainers"):
                told[f"{part} %, {definition}"] = shares[label][part]
        told |= {f"{name} %": share for name, share in inside[label].items()}
        rows.append(told)
    places.table(f"mpe-profiles{where}.csv", rows)
    grown = (
        {"algorithm, agents": label, **parts} for label, parts in growth(found).items() if parts
    )
    places.table(f"mpe-growth{where}.csv", list(grown))


def _measured(effort: MpeEffort, n: int, name: str, rows: int, algorithm: str = "maddpg") -> Row:
    learner = LearnerConfig(algorithm=algorithm, device=effort.device)
    config = TrainConfig(world=WORLD, n_agents=n, capacity=rows, learner=learner)
    how = Effort(rows=rows, repeats=effort.repeats, rounds=1)
    return measure(variant(config, name), how)


def neighbors(effort: MpeEffort, places: Places) -> None:
    """Fig. 5: what neighbor sampling takes off sampling and off a cycle, with intervals."""
    rounds: dict[int, list[Any]] = {n: [] for n in effort.compared}
    for turn, n in product(range(effort.rounds), effort.compared):
        one = [_of_round(effort, places, n, name, turn) for name in COMPARED]
        if all(one):
            rounds[n].append(one)
    rows = []
    for n, finished in rounds.items():
        for place, name in enumerate(COMPARED[1:], 1):
            cuts = [_cuts(one, place) for one in finished]
            if cuts:
                rows.append({"agents": n, "law": name, "rounds": len(cuts), **_means(cuts)})
    if rows:
        places.table("mpe-neighbors.csv", rows)


def _of_round(effort: MpeEffort, places: Places, n: int, name: str, turn: int) -> Row | None:
    found = places.kept(
        f"round-{n}-{name}-{effort.compared_rows}-{effort.repeats}-{turn}",
        lambda: _measured(effort, n, name, effort.compared_rows),
    )
    return {"variant": name, **found} if found else None


def _cuts(turns: list[Row], place: int) -> dict[str, float]:
    """What a law takes off in one round; the papers leave the worlds' steps out."""
    papers = [
        {**one, "phase_ms": {k: v for k, v in one["phase_ms"].items() if k != "environment"}}
        for one in turns
    ]
    whole = against_first(turns)[place]
    return {
        "sample": whole["sample_cut_percent"],
        "whole cycle": whole["cycle_cut_percent"],
        "cycle, papers": against_first(papers)[place]["cycle_cut_percent"],
    }


def _means(cuts: list[dict[str, float]]) -> dict[str, float]:
    """Means and intervals over the rounds."""
    told: dict[str, float] = {}
    for what in cuts[0]:
        values = np.array([cut[what] for cut in cuts])
        mean, half = mean_interval(values)
        told |= {f"{what} cut %": float(mean), f"{what} cut, +-": float(half)}
        told |= {f"{what} cut, least": float(values.min()), f"{what} cut, most": values.max()}
    return told


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
