"""A window that each head learns: Sukhbaatar et al., Adaptive attention span, 2019."""

from __future__ import annotations

import torch
from torch import Tensor

from mst.attention.pattern import Dense

HIDDEN = 1e-9
"""What a key beyond the span weighs: scores need a logarithm."""


class LearnedSpan(Dense):
    """Keys weighed by ``clamp((ramp + z - distance) / ramp, 0, 1)``, z a head's own, learned.

    An example of a pattern with parameters: every pair is computed, as spans are only known while
    a model learns.

    Args:
        ramp: Keys over which weights fall from 1 to 0.
    """

    keeps_scores = True

    def __init__(self, ramp: int = 32) -> None:
        if not (isinstance(ramp, int) and ramp > 0):
            raise ValueError(f"ramp {ramp}, expected a whole number from 1")
        self._ramp = ramp

    def module(self, heads: int, context: int) -> torch.nn.Module:
        """See :meth:`Pattern.module`."""
        return SpanBias(heads, context, self._ramp)


class SpanBias(torch.nn.Module):
    """Logarithms of the weights of keys.

    Args:
        heads: H.
        context: The longest span.
        ramp: See :class:`LearnedSpan`.
    """

    def __init__(self, heads: int, context: int, ramp: int) -> None:
        super().__init__()
        self._context, self._ramp = context, ramp
        self.share = torch.nn.Parameter(torch.full((heads,), 0.5))
        """``(H,)`` spans as shares of the context."""

    def forward(self, length: int) -> Tensor:
        """``(H, T, T)`` for T keys."""
        place = torch.arange(length, device=self.share.device)
        behind = (place[:, None] - place[None, :]).clamp(min=0)
        reach = self._ramp + self._context * self.share.clamp(0, 1)[:, None, None]
        weight = ((reach - behind) / self._ramp).clamp(HIDDEN, 1)
        return weight.log().masked_fill(place[:, None] < place[None, :], -torch.inf)
