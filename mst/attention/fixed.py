"""Attention by the fixed pattern that never computes hidden keys: blocks, and their last columns.

One softmax over the union of the parts, so the result is the masked one's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


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
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, -math.inf)
