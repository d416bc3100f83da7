"""Attention of a model, features first: the fused dense product, a mask, or visible keys alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from mst.attention.pattern import AttentionFlops, Pattern, Sizes
from mst.attention.patterns import (
    DENSE,
    PATTERNS,
    distances,
    mask_tensor,
    visible_pairs,
)
from sparse_training import offset_attention

FEWER = 2
"""Hidden keys are skipped on a processor where so many times fewer pairs than all are computed:
fewer than the causal half, which the fused dense product computes (benchmarks/mst/attention.py)."""
TILE = 64
"""Queries that the compiled product takes together, at most."""


@dataclass(frozen=True)
class Attention:
    """How queries meet keys.

    Attributes:
        pattern: One of :data:`mst.attention.PATTERNS`, or ``"module:Class"``.
        window: Keys of the local part.
        stride: s.
    """

    pattern: str = DENSE
    window: int = 32
    stride: int = 64

    @property
    def rule(self) -> Pattern:
        """Which keys are seen."""
        return PATTERNS.make(self.pattern)

    @property
    def sizes(self) -> Sizes:
        """Window and stride."""
        return Sizes(self.window, self.stride)

    def skips(self, context: int, device: str) -> bool:
        """Whether hidden keys are skipped, and not only masked; never inside of torch.compile."""
        if torch.compiler.is_compiling():
            return False
        computed = self.computed_pairs(context)
        return device == "cpu" and computed is not None and FEWER * computed <= context**2

    def computed_pairs(self, context: int) -> int | None:
        """Pairs of query and key of a window that are computed where hidden keys are skipped.

        None where they cannot be.
        """
        return _computed_pairs(self, context)

    def flops(self, width: int, context: int, device: str) -> AttentionFlops:
        """Operations of one window in one block, forward and backward."""
        pairs = visible_pairs(self.pattern, context, self.window, self.stride)
        computed = pairs if self.pattern == DENSE else context**2
        if self.skips(context, device):
            computed = self.computed_pairs(context) or computed
        return self.rule.flops(width, pairs, computed)

    def __call__(
        self, qkv: Tensor, heads: int, windows: int, learned: nn.Module | None = None
    ) -> Tensor:
        """Attend, causally.

        Args:
            qkv: ``(3 D, B T)``: queries, keys and values, heads and windows side by side.
            heads: H.
            windows: B.
            learned: What the block has learned for this pattern (:meth:`Pattern.module`).

        Returns:
            ``(D, B T)``.
        """
        context = qkv.shape[1] // windows
        if self.rule.by_distance and self.skips(context, qkv.device.type):
            far = distances(self.pattern, context, self.window, self.stride)
            wide = qkv.float() if qkv.dtype == torch.bfloat16 else qkv
            return offset_attention(wide, heads, windows, far)
        views = qkv.view(3, heads, -1, windows, context).permute(0, 3, 1, 4, 2).unbind(0)
        # fused products take half the time of views, and on a GPU do not take views at all
        q, k, v = (view.contiguous() for view in views)
        mixed = self._by_heads(q, k, v, learned)
        return mixed.permute(1, 3, 0, 2).reshape(-1, windows * context)

    def _by_heads(self, q: Tensor, k: Tensor, v: Tensor, learned: nn.Module | None) -> Tensor:
        """The same of three ``(B, H, T, dh)``."""
        context, device = q.shape[2], q.device
        if self.pattern == DENSE:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        if learned is not None:
            bias: Tensor = learned(context)
            return scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        if self.skips(context, device.type):
            return self.rule.attend(q, k, v, self.sizes)
        mask = mask_tensor(self.pattern, context, self.window, self.stride, str(device))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)


@lru_cache(maxsize=256)
def _computed_pairs(attention: Attention, context: int) -> int | None:
    """:meth:`Attention.computed_pairs`, which every block of a model asks for at every update."""
    if not attention.rule.by_distance:
        return attention.rule.computed_pairs(context, attention.sizes)
    far = distances(attention.pattern, context, attention.window, attention.stride)
    tiles = [(first, min(TILE, context - first)) for first in range(0, context, TILE)]
    return sum(rows * sum(d < first + rows for d in far) for first, rows in tiles)
