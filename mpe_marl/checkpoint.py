"""Checkpoints: a file of tensors and nothing else, read without unpickling objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from common import atomic_write
from mpe_marl.errors import MpeError

if TYPE_CHECKING:
    from mpe_marl.trainer import Trainer

_LEARNER, _RUN = "learner/", "run/"


def save(trainer: Trainer, path: Path) -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        trainer: The run.
        path: File to write.
    """
    import numpy as np
    import torch

    tensors = {_LEARNER + k: v for k, v in trainer.learner.dump().items()}
    for name, array in trainer.dump().items():
        tensors[_RUN + name] = torch.from_numpy(np.ascontiguousarray(array))
    with atomic_write(path) as draft:
        torch.save(tensors, draft)


def load(trainer: Trainer, path: Path) -> None:
    """Continue a run from a checkpoint.

    Raises:
        MpeError: The file is no checkpoint of such a run.
    """
    import torch

    try:
        tensors = torch.load(path, weights_only=True)
        learner = {k[len(_LEARNER) :]: v for k, v in tensors.items() if k.startswith(_LEARNER)}
        run = {k[len(_RUN) :]: v.numpy() for k, v in tensors.items() if k.startswith(_RUN)}
        trainer.learner.restore(learner)
        trainer.restore(run)
    except MpeError:
        raise
    except Exception as error:
        raise MpeError(
            f"{path}: no checkpoint of this run ({type(error).__name__}: {error}); "
            "remove it to start anew."
        ) from error
