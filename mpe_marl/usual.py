"""What a training run takes where nobody says: it depends on the world and the algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpe_marl.learners.config import ON_POLICY, LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.worlds import LINEAR_SCENARIOS, SCENARIOS, make_spec

LAW = "uniform"
"""The papers' law; each trainer draws a batch of its own."""
QUICK = {"mode": "folded", "law": "shared", "layout": "state"}
"""Where observations are linear in the state: as good in ten seeds, in a third of the time."""
# What was just played is learnt from in large mini-batches, and small steps.
_PLAYED = {"n_worlds": 32, "update_every": 3200, "batch": 800}
_PLAYED_LEARNER = {"lr": 1e-3, "entropy": 0.01}


def usual_config(train: Mapping[str, Any], learner: Mapping[str, Any]) -> TrainConfig:
    """A configuration of what is given; what is None is as usual.

    Args:
        train: Fields of :class:`mpe_marl.TrainConfig`, ``world`` among them.
        learner: Fields of :class:`mpe_marl.LearnerConfig`, ``algorithm`` among them.

    Raises:
        MpeError: The settings do not fit together.
    """
    world, algorithm = train["world"], learner["algorithm"]
    usual: dict[str, Any] = {"n_agents": usual_agents(world)}
    usual_learner: dict[str, Any] = {}
    if algorithm in ON_POLICY:
        usual |= _PLAYED
        usual_learner |= _PLAYED_LEARNER
    elif world in LINEAR_SCENARIOS and not any({**train, **learner}.get(k) for k in QUICK):
        usual |= {"law": QUICK["law"], "layout": QUICK["layout"]}
        usual_learner["mode"] = QUICK["mode"]
    else:
        usual["law"] = law = train["law"] or LAW
        usual_learner["mode"] = mode = learner["mode"] or "batched"
        usual["layout"] = "state" if mode == "folded" and law.startswith("shared") else "joint"
    return TrainConfig(
        **{**usual, **_given(train)}, learner=LearnerConfig(**{**usual_learner, **_given(learner)})
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def usual_agents(world: str) -> int:
    """How many agents learn in a world when nobody says how many."""
    return make_spec(world).n_agents if world in SCENARIOS else TrainConfig.n_agents
