"""How well a model predicts text: bits per byte."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from mst.attention import Attention
from mst.data.sampler import cut, spread_windows
from mst.model import SparseGpt

WHILE_TRAINING = 32
"""Windows of the held-out files that a point of the learning curve takes."""
AT_ONCE = 32
"""Windows of a batch."""


@torch.no_grad()
def bits_per_byte(
    model: SparseGpt, text: NDArray[np.uint8], windows: int, attention: Attention | None = None
) -> float:
    """Mean over evenly spread windows of a text, each read from its beginning.

    Args:
        model: The model.
        text: ``(N,)`` uint8, longer than a window.
        windows: How many, at most.
        attention: Its pattern; dense where None.
    """
    context = model.shape.context
    device = model.positions.device
    bytes_ = torch.from_numpy(text).to(device)
    reach = torch.arange(context + 1, device=device)
    starts = torch.from_numpy(spread_windows(len(text), context, windows)).to(device)
    total = torch.zeros((), dtype=torch.float64, device=device)
    for part in torch.split(starts, AT_ONCE):
        inputs, targets = cut(bytes_, part, reach)
        total += model.loss(inputs, targets, attention).double() * len(part)
    return float(total) / len(starts) / math.log(2)
