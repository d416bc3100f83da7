"""Attention of a model: the fused dense product, a mask, or chunks."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from mst.attention.chunked import chunk_of, chunked
from mst.attention.patterns import BOTH, DENSE, FIXED, LOCAL, STRIDED, mask_tensor

FEWER = 2
"""Chunks are computed on a processor where they have so many times fewer keys than the context:
fewer than the causal half, which the fused dense product computes (benchmarks/mst/attention.py)."""


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

    def chunks(self, context: int, device: str) -> bool:
        """Whether hidden keys are skipped, and not only masked."""
        if self.pattern == DENSE or device != "cpu":
            return False
        return FEWER * self.chunked_keys(context) <= context

    def chunked_keys(self, context: int) -> int:
        """Keys that the chunked path computes for each query."""
        rows = context // self.stride
        return {
            LOCAL: self.window + chunk_of(self.window),
            STRIDED: rows,
            BOTH: self.window + chunk_of(self.window) + rows,
            FIXED: self.stride + rows,
        }[self.pattern]

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend, causally.

        Args:
            q: ``(B, H, T, dh)`` queries.
            k: Keys.
            v: Values.
        """
        context, device = q.shape[2], q.device
        if device.type == "cpu":  # the fused product takes half the time of views from a transpose
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        if self.pattern == DENSE:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.chunks(context, device.type):
            return chunked(q, k, v, self.pattern, self.window, self.stride)
        mask = mask_tensor(self.pattern, context, self.window, self.stride, str(device))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)
