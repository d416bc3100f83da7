"""What the checkpoint of a run is called, and what a finished run keeps."""

from __future__ import annotations

from runs import CheckpointFormat

FORMAT = CheckpointFormat("sparse pre-training", 1)
"""A run on its way."""
LEARNT = CheckpointFormat("a pre-trained model", 1)
"""What ``model.pt`` holds: ``config``, the ``model``'s tensors and its ``masks``."""
MODEL = "model.pt"
