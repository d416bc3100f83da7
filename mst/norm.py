"""Layer normalisation of features-first activations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from sparse_training import layer_norm as fused_layer_norm

EPSILON = 1e-5


class FeatureNorm(torch.nn.Module):
    """Layer normalisation over the first axis of ``(D, rows)``, with a weight and no bias.

    On a processor it is one fused kernel each way; elsewhere torch's, between two transpositions.

    Args:
        width: D.
        options: Device and type of the weight.
    """

    def __init__(self, width: int, **options: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width, **options))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each column of ``(D, rows)``."""
        if x.is_cpu and not torch.compiler.is_compiling():
            return fused_layer_norm(x, self.weight, None, EPSILON)
        return layer_norm(x.t(), self.weight.shape, self.weight, None, EPSILON).t().contiguous()
