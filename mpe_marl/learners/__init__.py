"""Learners: MADDPG and MASAC in four update modes that compute the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpe_marl.learners.config import ALGORITHMS, MODES, LearnerConfig

if TYPE_CHECKING:
    from mpe_marl.learners.base import Learner
    from mpe_marl.replay import Schema

__all__ = ["ALGORITHMS", "MODES", "LearnerConfig", "make_learner"]


def make_learner(schema: Schema, config: LearnerConfig, seed: int = 0) -> Learner:
    """Make a learner for the config's update mode.

    Args:
        schema: Shapes of observations and actions.
        config: Settings.
        seed: Seeds networks, exploration and noise.

    Raises:
        MpeError: The mode does not fit the world, or the device cannot be used.
    """
    from mpe_marl.learners.loop import LoopLearner
    from mpe_marl.learners.one_network import FoldedOneNetwork, OneNetwork
    from mpe_marl.learners.shared import FoldedLearner, SharedLearner
    from mpe_marl.learners.stacked import StackedLearner

    modes: dict[str, type[Learner]] = {
        "loop": LoopLearner,
        "batched": StackedLearner,
        "shared": SharedLearner,
        "folded": FoldedLearner,
    }
    if config.share_parameters:
        modes = {"shared": OneNetwork, "folded": FoldedOneNetwork}
    return modes[config.mode](schema, config, seed)
