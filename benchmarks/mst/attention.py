"""Attention forward and backward: fused causal, masked, and visible keys alone.

All take turns on one thread, each from contiguous numbers in the order that it reads them in; of
each the least processor time counts.

    python benchmarks/mst/attention.py --json attention.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

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


def measure(case: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """Processor time of each way, forward and backward together [ms]."""
    windows, heads, context, size, window, stride = case
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
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            y = way()
            y.backward(torch.ones_like(y))
            best[name] = min(best[name], time.process_time() - start)
    attention = Attention(PATTERN, window, stride)
    return {
        "windows": windows, "heads": heads, "context": context, "head size": size,
        "window": window, "stride": stride,
        "ms": {name: 1e3 * s for name, s in best.items()},
        "against fused causal": best["fused causal"] / best["visible keys"],
        "against masked": best["masked"] / best["visible keys"],
        "chosen": "visible keys" if attention.skips(context, "cpu") else "masked",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for case in CASES:
        rows.append(row := measure(case, arguments.rounds))
        times = "  ".join(f"{name} {ms:.1f} ms" for name, ms in row["ms"].items())
        print(
            f"T {row['context']} head {row['head size']} window {row['window']}: {times}; "
            f"{row['against fused causal']:.2f}x of fused causal",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
