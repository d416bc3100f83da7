"""Attention of a model, features first: the fused dense product, a mask, or visible keys alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from mst.attention.fixed import fixed_attention
from mst.attention.patterns import DENSE, FIXED, distances, mask_tensor
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
        pattern: One of :data:`mst.attention.PATTERNS`.
        window: Keys of the local part.
        stride: s.
    """

    pattern: str = DENSE
    window: int = 32
    stride: int = 64

    def skips(self, context: int, device: str) -> bool:
        """Whether hidden keys are skipped, and not only masked."""
        if self.pattern == DENSE or device != "cpu":
            return False
        return FEWER * self.computed_pairs(context) <= context**2

    def computed_pairs(self, context: int) -> int:
        """Pairs of query and key of a window that are computed where hidden keys are skipped."""
        return _computed_pairs(self, context)

    def __call__(self, qkv: Tensor, heads: int, windows: int) -> Tensor:
        """Attend, causally.

        Args:
            qkv: ``(3 D, B T)``: queries, keys and values, heads and windows side by side.
            heads: H.
            windows: B.

        Returns:
            ``(D, B T)``.
        """
        context, device = qkv.shape[1] // windows, qkv.device.type
        if self.pattern != FIXED and self.skips(context, device):
            far = distances(self.pattern, context, self.window, self.stride)
            return offset_attention(qkv, heads, windows, far)
        parts = qkv.view(3, heads, -1, windows, context).permute(0, 3, 1, 4, 2).unbind(0)
        if device == "cpu":  # the fused product takes half the time of views from a transpose
            parts = tuple(part.contiguous() for part in parts)
        return self._by_heads(*parts).permute(1, 3, 0, 2).reshape(-1, windows * context)

    def _by_heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The same of three ``(B, H, T, dh)``."""
        context, device = q.shape[2], q.device
        if self.pattern == DENSE:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.skips(context, device.type):
            return fixed_attention(q, k, v, self.stride)
        mask = mask_tensor(self.pattern, context, self.window, self.stride, str(device))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)


@lru_cache(maxsize=32)
def _computed_pairs(attention: Attention, context: int) -> int:
    """:meth:`Attention.computed_pairs`, which every block of a model asks for at every update."""
    if attention.pattern == FIXED:
        return context * (attention.stride + context // attention.stride)
    far = distances(attention.pattern, context, attention.window, attention.stride)
    tiles = [(first, min(TILE, context - first)) for first in range(0, context, TILE)]
    return sum(rows * sum(d < first + rows for d in far) for first, rows in tiles)
