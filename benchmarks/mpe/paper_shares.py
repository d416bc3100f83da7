"""Fig. 2 to 4 of the papers: shares of the time, and growth."""

from __future__ import annotations

from typing import Any

from benchmarks.mpe.paper_effort import MpeEffort, Places
from mpe_marl.asked import Effort
from mpe_marl.comparing import BASELINE, measure, variant
from mpe_marl.figures import draw_profiles, growth, training_shares, update_shares
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.worlds import BatchWorlds

WORLD = "simple_tag"
"""Predator-Prey: the predators learn, the environment moves the prey."""
ALGORITHMS = ("maddpg", "masac")
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
    every = [
        places.kept(
            f"profile-{name}-{n}-{effort.rows}-{effort.repeats}",
            lambda name=name, n=n: _profile(effort, name, n),
        )
        for n in effort.agents
        for name in ALGORITHMS
    ]
    found = sorted((p for p in every if p), key=lambda p: (p["algorithm"], p["n_agents"]))
    if not found:
        return
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
    places.table("mpe-profiles.csv", rows)
    grown = (
        {"algorithm, agents": label, **parts} for label, parts in growth(found).items() if parts
    )
    places.table("mpe-growth.csv", list(grown))


def _profile(effort: MpeEffort, algorithm: str, n: int) -> dict[str, Any]:
    config = TrainConfig(
        world=WORLD, n_agents=n, capacity=effort.rows, learner=LearnerConfig(algorithm=algorithm)
    )
    how = Effort(rows=effort.rows, repeats=effort.repeats, rounds=1)
    return measure(variant(config, BASELINE), how)
