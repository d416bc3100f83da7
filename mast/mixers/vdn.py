"""VDN: the joint value is the sum (Sunehag et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor


class VdnMixer(torch.nn.Module):
    """Adds the agents' values up; it has no weights."""

    def forward(self, values: Tensor, states: Tensor) -> Tensor:
        """``(N, rows)`` values to ``(rows,)``; states are not looked at."""
        return values.sum(dim=0)
