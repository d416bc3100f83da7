"""A multi-layer perceptron for 28 x 28 images: 784-512-256-10, one sample."""

from __future__ import annotations

from layers.network_graph import NetworkGraph
from layers.zoo.stack import Stack

WIDTHS = (512, 256, 10)


def mlp() -> NetworkGraph:
    """3 fully connected layers."""
    net = Stack("mlp", channels=1, rows=28)
    for number, outputs in enumerate(WIDTHS, start=1):
        net.dense(f"fc{number}", outputs)
    return net.graph()
