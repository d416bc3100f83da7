"""Attention of a model: the fused dense product, a mask, or chunks."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from mst.attention.chunked import chunk_of, chunked
from mst.attention.patterns import BOTH, DENSE, FIXED, LOCAL, STRIDED, mask_tensor

CHUNKED_FROM = 512
"""Shortest context at which chunks are faster than a mask on a processor (benchmarks/mst)."""


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
        return self.pattern != DENSE and context >= CHUNKED_FROM and device == "cpu"

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
        if self.pattern == DENSE:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.chunks(context, device.type):
            return chunked(q, k, v, self.pattern, self.window, self.stride)
        mask = mask_tensor(self.pattern, context, self.window, self.stride, str(device))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)
