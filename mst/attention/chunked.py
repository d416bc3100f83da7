"""Attention that never computes hidden keys: neighbours in chunks, strided keys by residue.

One softmax over the union of the parts, so the result is the masked one's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from mst.attention.patterns import BOTH, FIXED, LOCAL, STRIDED

CHUNK = 64
"""Queries of a chunk, at most."""


@dataclass(frozen=True)
class _Part:
    """Some of the keys that each query sees.

    Attributes:
        scores: ``(B, H, T, n)``, -inf where hidden.
        mix: Weights ``(B, H, T, n)`` to the mean of their values, ``(B, H, T, dh)``.
    """

    scores: Tensor
    mix: Callable[[Tensor], Tensor]


def chunked(q: Tensor, k: Tensor, v: Tensor, pattern: str, window: int, stride: int) -> Tensor:
    """Attention by a sparse pattern.

    Args:
        q: ``(B, H, T, dh)`` queries.
        k: Keys of the same shape.
        v: Values of the same shape.
        pattern: ``local``, ``strided``, ``local+strided`` or ``fixed``.
        window: Keys of the local part, itself included; divides T.
        stride: s; divides T.

    Returns:
        ``(B, H, T, dh)``.
    """
    q = q * (1 / math.sqrt(q.shape[-1]))
    parts = {
        LOCAL: lambda: [_local(q, k, v, window)],
        STRIDED: lambda: [_strided(q, k, v, stride, 0)],
        BOTH: lambda: [_local(q, k, v, window), _strided(q, k, v, stride, window)],
        FIXED: lambda: [_blocks(q, k, v, stride), _last_columns(q, k, v, stride)],
    }[pattern]()
    weights = torch.softmax(torch.cat([part.scores for part in parts], -1), -1)
    shares = torch.split(weights, [part.scores.shape[-1] for part in parts], -1)
    return sum(
        (p.mix(w) for p, w in zip(parts[1:], shares[1:], strict=True)), parts[0].mix(shares[0])
    )


def chunk_of(window: int) -> int:
    """Queries of a chunk: a divisor of the window."""
    return math.gcd(window, CHUNK)


def _local(q: Tensor, k: Tensor, v: Tensor, window: int) -> _Part:
    """Keys with 0 <= q - k < window: a chunk of queries meets itself and the window before it."""
    batch, heads, context, size = q.shape
    chunk = chunk_of(window)
    chunks, back = context // chunk, window // chunk
    keys, values = (_with_earlier(x, chunk, back) for x in (k, v))
    scores = q.view(batch, heads, chunks, chunk, size) @ keys.transpose(-1, -2)
    scores = scores + _local_bias(context, window, chunk, scores.dtype, scores.device)

    def mix(weights: Tensor) -> Tensor:
        return (weights.view(batch, heads, chunks, chunk, -1) @ values).view(q.shape)

    return _Part(scores.view(batch, heads, context, -1), mix)


def _with_earlier(x: Tensor, chunk: int, back: int) -> Tensor:
    """``(B, H, T, dh)`` to ``(B, H, T / chunk, (back + 1) chunk, dh)``: with so many chunks before.

    Before the first stand zeros.
    """
    batch, heads, context, size = x.shape
    padded = torch.nn.functional.pad(x, (0, 0, back * chunk, 0))
    padded = padded.view(batch, heads, -1, chunk, size)
    chunks = context // chunk
    return torch.cat([padded[:, :, i : i + chunks] for i in range(back + 1)], dim=3)


@lru_cache(maxsize=16)
def _local_bias(
    context: int, window: int, chunk: int, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """``(T / chunk, chunk, window + chunk)``: 0 where seen, -inf where hidden."""
    query = torch.arange(context, device=device).view(-1, chunk, 1)
    key = torch.arange(-window, chunk, device=device) + query[:, :1]
    seen = (key >= 0) & (query >= key) & (query - key < window)
    return _bias(seen, dtype)


def _bias(seen: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, -math.inf)


def _strided(q: Tensor, k: Tensor, v: Tensor, stride: int, nearest: int) -> _Part:
    """Keys with (q - k) mod stride = 0 and q - k >= nearest: queries of one residue are a group."""
    q, k, v = (_by_residue(x, stride) for x in (q, k, v))
    row = torch.arange(q.shape[3], device=q.device)
    apart = (row[:, None] - row[None, :]) * stride
    scores = q @ k.transpose(-1, -2) + _bias((apart >= nearest) & (apart >= 0), q.dtype)

    def mix(weights: Tensor) -> Tensor:
        return _in_order(_by_residue(weights, stride) @ v)

    return _Part(_in_order(scores), mix)


def _by_residue(x: Tensor, stride: int) -> Tensor:
    """``(B, H, T, n)`` to ``(B, H, stride, T / stride, n)``."""
    batch, heads, context, size = x.shape
    return x.reshape(batch, heads, context // stride, stride, size).transpose(2, 3)


def _in_order(x: Tensor) -> Tensor:
    """The way back of :func:`_by_residue`."""
    batch, heads, stride, rows, size = x.shape
    return x.transpose(2, 3).reshape(batch, heads, rows * stride, size)


def _blocks(q: Tensor, k: Tensor, v: Tensor, stride: int) -> _Part:
    """Earlier keys of the query's own block of `stride`."""
    batch, heads, context, size = q.shape
    blocks = (batch, heads, context // stride, stride, size)
    place = torch.arange(stride, device=q.device)
    scores = q.view(blocks) @ k.reshape(blocks).transpose(-1, -2)
    scores = scores + _bias(place[:, None] >= place[None, :], q.dtype)
    values = v.reshape(blocks)

    def mix(weights: Tensor) -> Tensor:
        return (weights.view(batch, heads, -1, stride, stride) @ values).view(q.shape)

    return _Part(scores.view(batch, heads, context, stride), mix)


def _last_columns(q: Tensor, k: Tensor, v: Tensor, stride: int) -> _Part:
    """The last key of every earlier block."""
    keys, values = (x[:, :, stride - 1 :: stride] for x in (k, v))
    block = torch.arange(q.shape[2], device=q.device) // stride
    column = torch.arange(keys.shape[2], device=q.device)
    scores = q @ keys.transpose(-1, -2) + _bias(block[:, None] > column[None, :], q.dtype)
    return _Part(scores, lambda weights: weights @ values)
