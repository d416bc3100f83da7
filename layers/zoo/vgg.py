"""VGG-16, 224 x 224 (Simonyan and Zisserman, ICLR 2015, table 1, configuration D)."""

from __future__ import annotations

from layers.network_graph import NetworkGraph
from layers.zoo.stack import Stack

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels and number of 3 x 3 convolutions before each pooling layer."""


def vgg16() -> NetworkGraph:
    """16 layers: 13 convolutions and 3 fully connected layers."""
    net = Stack("vgg16", channels=3, rows=224)
    for stage, (channels, convs) in enumerate(STAGES, start=1):
        for conv in range(1, convs + 1):
            net.conv(f"conv{stage}_{conv}", channels, taps=3, pad=1)
        net.pool(f"pool{stage}", taps=2, stride=2)
    net.dense("fc6", 4096)
    net.dense("fc7", 4096)
    net.dense("fc8", 1000)
    return net.graph()
