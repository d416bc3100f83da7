"""What a training run takes where nobody says: it depends on the world and the algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marl_common import not_known
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
# What was just played is learnt from in large mini-batches, and small steps.
_PLAYED = {"n_worlds": 32, "update_every": 3200, "batch": 800}
_PLAYED_LEARNER = {"lr": 1e-3, "entropy": 0.01}


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
    world, algorithm = _named(train, learner)
    if preset not in PRESETS:
        raise MpeError(not_known("preset", preset, PRESETS))
    if preset == "paper":
        return _as_printed(train, learner)
    usual: dict[str, Any] = {"n_agents": usual_agents(world)}
    usual_learner: dict[str, Any] = {}
    if algorithm in ON_POLICY:
        usual |= _PLAYED
        usual_learner |= _PLAYED_LEARNER
    elif world in LINEAR_SCENARIOS and not any({**train, **learner}.get(k) for k in QUICK):
        usual |= {"law": QUICK["law"], "layout": QUICK["layout"]}
        usual_learner["mode"] = QUICK["mode"]
    else:
        usual["law"] = law = train.get("law") or LAW
        usual_learner["mode"] = mode = learner.get("mode") or "batched"
        usual["layout"] = "state" if mode == "folded" and law.startswith("shared") else "joint"
    return TrainConfig(
        **{**usual, **_given(train)}, learner=LearnerConfig(**{**usual_learner, **_given(learner)})
    )


def _as_printed(train: Mapping[str, Any], learner: Mapping[str, Any]) -> TrainConfig:
    """The papers' settings, but for what is given."""
    world, algorithm = _named(train, learner)
    if algorithm in ON_POLICY or world not in SCENARIOS:
        raise MpeError(
            f"preset 'paper' with algorithm {algorithm!r} in world {world!r}: expected an "
            "algorithm with a replay, such as maddpg, in a world of this package. Leave it out."
        )
    usual = {"n_agents": usual_agents(world), **{k: v for k, v in PAPER.items() if k != "mode"}}
    return TrainConfig(
        **{**usual, **_given(train)},
        learner=LearnerConfig(**{"mode": PAPER["mode"], **_given(learner)}),
    )


def _named(train: Mapping[str, Any], learner: Mapping[str, Any]) -> tuple[str, str]:
    """World and algorithm."""
    world, algorithm = TrainConfig.world, LearnerConfig.algorithm
    return train.get("world", world), learner.get("algorithm", algorithm)


def told(config: TrainConfig, preset: str) -> str:
    """What a run is made with, in one line, before it begins."""
    how = f"{config.learner.algorithm} {config.learner.mode}"
    if not config.learner.on_policy:
        how += f", law {config.law}, layout {config.layout}"
    return f"preset {preset}: {how}, batch {config.batch}, {config.engine} worlds"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def usual_agents(world: str) -> int:
    """How many agents learn in a world when nobody says how many."""
    return make_spec(world).n_agents if world in SCENARIOS else TrainConfig.n_agents
