"""What a training run takes where nobody says: it depends on the world and the algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marl_common import check_name
from mpe_marl.errors import MpeError
from mpe_marl.learners.config import ON_POLICY, LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.worlds import LINEAR_SCENARIOS, SCENARIOS, make_spec

PRESETS = ("fast", "paper")
"""What `train` takes where nobody says more: what is quickest here, or what the papers have."""
PAPER = {"mode": "loop", "law": "uniform", "layout": "lists", "engine": "mpe2"}
"""The papers' law, layout and update, and worlds that step in Python."""
LAW = "uniform"
"""The papers' law; each trainer draws a batch of its own."""
QUICK = {"mode": "folded", "law": "shared", "layout": "state"}
"""Where observations are linear in the state: as good in ten seeds, in a third of the time."""
PLAYED = {"n_worlds": 32, "update_every": 3200, "batch": 800, "lr": 1e-3, "entropy": 0.01}
"""What was just played is learnt from in large mini-batches, and small steps."""


def usual_config(
    train: Mapping[str, Any], learner: Mapping[str, Any], preset: str = "fast"
) -> TrainConfig:
    """A configuration of what is given; what is None is as usual.

    Args:
        train: Fields of :class:`mpe_marl.TrainConfig`.
        learner: Fields of :class:`mpe_marl.LearnerConfig`.
        preset: One of `PRESETS`; ``paper`` is for algorithms with a replay and own worlds.

    Raises:
        MpeError: The settings do not fit together, or there is no such preset.
    """
    world = train.get("world", TrainConfig.world)
    algorithm = learner.get("algorithm", LearnerConfig.algorithm)
    check_name("preset", preset, PRESETS, MpeError)
    if preset == "paper" and (algorithm in ON_POLICY or world not in SCENARIOS):
        raise MpeError(
            f"preset 'paper' with algorithm {algorithm!r} in world {world!r}: expected an "
            "algorithm with a replay, such as maddpg, in a world of this package. Leave it out."
        )
    usual: Mapping[str, Any]
    if preset == "paper":
        usual = PAPER
    elif algorithm in ON_POLICY:
        usual = PLAYED
    elif world in LINEAR_SCENARIOS and not any({**train, **learner}.get(k) for k in QUICK):
        usual = QUICK
    else:
        law, mode = train.get("law") or LAW, learner.get("mode") or "batched"
        states = mode == "folded" and law.startswith("shared")
        usual = {"law": law, "mode": mode, "layout": "state" if states else "joint"}
    n_agents = make_spec(world).n_agents if world in SCENARIOS else TrainConfig.n_agents
    of_run: dict[str, Any] = {"n_agents": n_agents}
    of_learner: dict[str, Any] = {}
    for name, value in usual.items():
        (of_learner if name in LearnerConfig.__match_args__ else of_run)[name] = value
    of_run |= {name: value for name, value in train.items() if value is not None}
    of_learner |= {name: value for name, value in learner.items() if value is not None}
    return TrainConfig(**of_run, learner=LearnerConfig(**of_learner))


def told(config: TrainConfig, preset: str) -> str:
    """What a run is made with, in one line, before it begins."""
    how = f"{config.learner.algorithm} {config.learner.mode}"
    if not config.learner.on_policy:
        how += f", law {config.law}, layout {config.layout}"
    return f"preset {preset}: {how}, batch {config.batch}, {config.engine} worlds"
