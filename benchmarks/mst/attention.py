"""Attention forward and backward: fused causal, masked, and visible keys alone.

All take turns on one thread, each from contiguous numbers in the order that it reads them in; of
each the least processor time counts.

    python -m benchmarks mst.attention
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.frame import Table, in_turns, shown
from mst.attention import Attention, distances, visible
from sparse_training import offset_attention

PATTERN = "local+strided"
CASES = (
    # windows, heads, context, head size, window, stride
    (16, 4, 256, 32, 32, 64),
    (16, 4, 256, 32, 128, 128),
    (4, 4, 1024, 32, 128, 128),
    (4, 4, 1024, 64, 128, 128),
    (1, 4, 4096, 64, 128, 128),
)


def measure(given: Any, *key: int) -> tuple[str, ...]:
    """Processor time of each way, forward and backward together [ms]."""
    torch.set_num_threads(1)
    windows, heads, context, size, window, stride = next(c for c in CASES if c[2:] == key)
    shape = (windows, heads, context, size)
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(shape, generator=generator, requires_grad=True) for _ in range(3))
    features = (3 * heads * size, windows * context)
    qkv = torch.randn(features, generator=generator, requires_grad=True)
    mask = torch.from_numpy(visible(PATTERN, context, window, stride))
    far = distances(PATTERN, context, window, stride)
    ways: dict[str, Callable[[], Tensor]] = {
        "fused causal": lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
        "masked": lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask),
        "visible keys": lambda: offset_attention(qkv, heads, windows, far),
    }

    def both(way: Callable[[], Tensor]) -> Callable[[], None]:
        def forward_and_backward() -> None:
            y = way()
            y.backward(torch.ones_like(y))

        return forward_and_backward

    times = in_turns({name: both(way) for name, way in ways.items()}, given.rounds)
    best = {name: min(taken) for name, taken in times.items()}
    attention = Attention(PATTERN, window, stride)
    ratio = best["fused causal"] / best["visible keys"]
    chosen = "visible keys" if attention.skips(context, "cpu") else "masked"
    return *(f"{1e3 * best[way]:.1f}" for way in ways), f"{ratio:.2f}", chosen


TABLE = Table(
    __doc__,
    (
        *("T", "head", "window", "stride", "fused causal [ms]", "masked [ms]"),
        *("visible keys [ms]", "against fused causal", "taken"),
    ),
    lambda _: (case[2:] for case in CASES),
    measure,
    "mst-attention.csv",
    {"rounds": 7},
    {"rounds": 1},
    shown,
)
