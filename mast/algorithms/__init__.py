"""Algorithms: what is learnt from a batch."""

from __future__ import annotations

from mast.algorithms.decomposed import Decomposed
from mast.algorithms.learner import BatchTensors, ValueLearner
from mast.algorithms.res import Regularised
from mast.algorithms.wqmix import Weighted
from mast.config import MastConfig
from mast.episodes import TaskShape

__all__ = ["BatchTensors", "ValueLearner", "make_value_learner"]

LEARNERS: dict[str, type[ValueLearner]] = {
    "qmix": Decomposed,
    "vdn": Decomposed,
    "cw-qmix": Weighted,
    "ow-qmix": Weighted,
    "res": Regularised,
}


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
        SparseTrainingError: The sparsity leaves a layer empty, or blocks cannot meet it.
    """
    return LEARNERS[config.algorithm](config, shape, total, seed)
