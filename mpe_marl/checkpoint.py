"""What a checkpoint of a training run is called, and how older ones are read."""

from __future__ import annotations

from typing import Any

from marl_runs import CheckpointFormat


def _from_flat(tensors: dict[str, Any]) -> dict[str, Any]:
    """Version 0: all tensors side by side, ``learner/NAME`` and ``run/NAME``."""
    state: dict[str, Any] = {"learner": {}, "run": {}}
    for name, tensor in tensors.items():
        part, _, key = name.partition("/")
        state[part][key] = tensor if part == "learner" else tensor.numpy()
    return state


LEARNT = CheckpointFormat("a trained particle-world learner", 1)
"""What ``final.pt`` holds: ``config``, ``seed`` and the ``learner``'s tensors."""
FORMAT = CheckpointFormat("particle-world training", 1, {0: _from_flat})
