"""ResNet-18 and ResNet-50, 224 x 224 (He et al., CVPR 2016, table 1).

Layers stand in the order of the blocks; a block's projection shortcut (the paper's option B)
follows the convolutions it runs beside. In ResNet-50 the 3 x 3 convolution of a bottleneck carries
the stride, as in the authors' later code and in torchvision ("v1.5"); the table leaves it open.
"""

from __future__ import annotations

from layers.network_graph import NetworkGraph
from layers.zoo.stack import Stack

STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Channels of the 3 x 3 convolutions and stride of the first block, for conv2_x to conv5_x."""


def resnet18() -> NetworkGraph:
    """21 layers: the stem, 16 convolutions in 8 basic blocks, 3 projections, the classifier."""
    net = _stem("resnet18")
    for stage, (channels, first_stride) in enumerate(STAGES, start=2):
        for block in (1, 2):
            stride = first_stride if block == 1 else 1
            entry = (net.at, net.channels, net.rows)
            net.conv(f"conv{stage}_{block}a", channels, taps=3, stride=stride, pad=1)
            net.conv(f"conv{stage}_{block}b", channels, taps=3, pad=1)
            _shortcut(net, f"conv{stage}_{block}", entry, stride)
    return _head(net)


def resnet50() -> NetworkGraph:
    """54 layers: the stem, 48 convolutions in 16 bottlenecks, 4 projections, the classifier."""
    net = _stem("resnet50")
    for stage, ((channels, first_stride), blocks) in enumerate(
        zip(STAGES, (3, 4, 6, 3), strict=True), start=2
    ):
        for block in range(1, blocks + 1):
            stride = first_stride if block == 1 else 1
            entry = (net.at, net.channels, net.rows)
            net.conv(f"conv{stage}_{block}a", channels, taps=1)
            net.conv(f"conv{stage}_{block}b", channels, taps=3, stride=stride, pad=1)
            net.conv(f"conv{stage}_{block}c", 4 * channels, taps=1)
            _shortcut(net, f"conv{stage}_{block}", entry, stride)
    return _head(net)


def _stem(network: str) -> Stack:
    net = Stack(network, channels=3, rows=224)
    net.conv("conv1", 64, taps=7, stride=2, pad=3)
    net.pool("pool", taps=3, stride=2, pad=1)
    return net


def _shortcut(net: Stack, name: str, entry: tuple[str, int, int], stride: int) -> None:
    """Add the block's entry to its exit: where shapes differ, through a 1 x 1 projection."""
    exit_, channels, rows = net.at, net.channels, net.rows
    net.at, net.channels, net.rows = entry
    if (net.channels, net.rows) != (channels, rows):
        net.conv(f"{name}s", channels, taps=1, stride=stride)
    shortcut, net.at = net.at, exit_
    net.add(f"{name}_add", shortcut)


def _head(net: Stack) -> NetworkGraph:
    net.global_pool()
    net.dense("fc", 1000)
    return net.graph()
