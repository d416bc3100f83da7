"""MobileNetV2, width 1.0, 224 x 224 (Sandler et al., CVPR 2018, tables 1 and 2)."""

from __future__ import annotations

from layers.network_graph import NetworkGraph
from layers.zoo.stack import Stack

BOTTLENECKS = (
    # expansion t, channels c, repeats n, stride s of the first one: table 2
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenetv2() -> NetworkGraph:
    """53 layers: the stem, 17 bottlenecks, the last 1 x 1 convolution and the classifier."""
    net = Stack("mobilenetv2", channels=3, rows=224)
    net.conv("conv1", 32, taps=3, stride=2, pad=1)
    block = 0
    for expansion, channels, repeats, stride in BOTTLENECKS:
        for repeat in range(repeats):
            block += 1
            entry, narrow = net.at, net.channels
            if expansion > 1:
                net.conv(f"block{block}_expand", net.channels * expansion, taps=1)
            net.depthwise(
                f"block{block}_depthwise", taps=3, stride=stride if repeat == 0 else 1, pad=1
            )
            net.conv(f"block{block}_project", channels, taps=1)
            if repeat > 0 and narrow == channels:
                net.add(f"block{block}_add", entry)
    net.conv("conv_last", 1280, taps=1)
    net.global_pool()
    net.conv("classifier", 1000, taps=1)
    return net.graph()
