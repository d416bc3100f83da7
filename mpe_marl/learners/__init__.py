"""Learners: MADDPG, MASAC and their kin in four update modes that compute the same; PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpe_marl.learners.config import ALGORITHMS, MODES, ON_POLICY, LearnerConfig

if TYPE_CHECKING:
    from mpe_marl.learners.base import Learner
    from mpe_marl.replay import Schema

__all__ = ["ALGORITHMS", "MODES", "ON_POLICY", "LearnerConfig", "make_learner"]


def make_learner(schema: Schema, config: LearnerConfig, seed: int = 0) -> Learner[Any]:
    """Make a learner for the config's algorithm and update mode.

    Args:
        schema: Shapes of observations and actions.
        config: Settings.
        seed: Seeds networks, exploration and noise.

    Raises:
        MpeError: The mode does not fit the world, or the device cannot be used.
    """
    from mpe_marl.learners.loop import LoopLearner
    from mpe_marl.learners.one_network import FoldedOneNetwork, OneNetwork
    from mpe_marl.learners.ppo import PpoLearner
    from mpe_marl.learners.shared import FoldedLearner, SharedLearner
    from mpe_marl.learners.stacked import StackedLearner

    modes: dict[str, type[Learner[Any]]] = {
        "loop": LoopLearner,
        "batched": StackedLearner,
        "shared": SharedLearner,
        "folded": FoldedLearner,
    }
    if config.share_parameters:
        modes = {"shared": OneNetwork, "folded": FoldedOneNetwork}
    if config.on_policy:
        modes = {"batched": PpoLearner}
    return modes[config.mode](schema, config, seed)
