"""Algorithms: what is learnt from a batch."""

from __future__ import annotations

from marl_common import named
from mast.algorithms.learner import BatchTensors, ValueLearner
from mast.config import MastConfig
from mast.episodes import TaskShape

__all__ = ["BatchTensors", "ValueLearner", "make_value_learner"]


def make_value_learner(
    config: MastConfig, shape: TaskShape, total: int, seed: int = 0
) -> ValueLearner:
    """The learner of a configuration.

    Args:
        config: What is learnt how.
        shape: The task's.
        total: Steps of the environment in the whole run.
        seed: Seeds first weights and masks.

    Raises:
        MastError: A part is not known.
        SparseTrainingError: The sparsity leaves a layer empty, or blocks cannot meet it.
    """
    made: ValueLearner = named(config.kind.learner)(config, shape, total, seed)
    return made
