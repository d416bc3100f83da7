"""Attention by the fixed pattern that never computes hidden keys: blocks, and their last columns.

One softmax over the union of the parts, so the result is the masked one's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marl_common import BoolArray, IntArray
from mst.attention.pattern import Pattern, Sizes

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Fixed(Pattern):
    """k in the query's block of s, or k the last column of an earlier one."""

    uses = ("stride",)
    keeps_scores = True

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        s = sizes.stride
        return np.asarray((query // s == key // s) | (key % s == s - 1))

    def computed_pairs(self, context: int, sizes: Sizes) -> int:
        """See :meth:`Pattern.computed_pairs`."""
        return context * (sizes.stride + context // sizes.stride)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, sizes: Sizes) -> Tensor:
        """See :meth:`Pattern.attend`."""
        return fixed_attention(q, k, v, sizes.stride)


def fixed_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    """Each query meets the earlier keys of its own block, and the last key of every earlier block.

    Args:
        q: ``(B, H, T, dh)`` queries.
        k: Keys of the same shape.
        v: Values of the same shape.
        stride: Keys of a block; divides T.

    Returns:
        ``(B, H, T, dh)``.
    """
    import torch

    batch, heads, context, size = q.shape
    q = q * (1 / math.sqrt(size))
    blocks = (batch, heads, context // stride, stride, size)
    place = torch.arange(stride, device=q.device)
    own = q.view(blocks) @ k.reshape(blocks).transpose(-1, -2)
    own = own + _bias(place[:, None] >= place[None, :], q.dtype)
    last_keys, last_values = (x[:, :, stride - 1 :: stride] for x in (k, v))
    block = torch.arange(context, device=q.device) // stride
    column = torch.arange(context // stride, device=q.device)
    others = q @ last_keys.transpose(-1, -2) + _bias(block[:, None] > column[None, :], q.dtype)
    scores = torch.cat([own.view(batch, heads, context, stride), others], -1)
    weights = torch.softmax(scores, -1)
    near = weights[..., :stride].reshape(*blocks[:-1], stride) @ v.reshape(blocks)
    return near.view(q.shape) + weights[..., stride:] @ last_values


def _bias(seen: Tensor, dtype: torch.dtype) -> Tensor:
    import torch

    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, -math.inf)
