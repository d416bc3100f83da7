"""A multi-layer perceptron for 28 x 28 images: 784-512-256-10, one sample."""

from __future__ import annotations

from itertools import pairwise

from layers.layer import Layer

WIDTHS = (784, 512, 256, 10)


def mlp() -> tuple[Layer, ...]:
    """3 fully connected layers."""
    return tuple(
        Layer.gemm(f"mlp.fc{i}", M=1, N=outputs, K=inputs)
        for i, (inputs, outputs) in enumerate(pairwise(WIDTHS), start=1)
    )
