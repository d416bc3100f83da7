"""AlexNet without groups: 64, 192, 384, 256, 256 channels (Krizhevsky, arXiv:1404.5997).

The first convolution pads 224 x 224 by 2 and gives 55 x 55, as in torchvision.
"""

from __future__ import annotations

from layers.network_graph import NetworkGraph
from layers.zoo.stack import Stack


def alexnet() -> NetworkGraph:
    """8 layers: 5 convolutions and 3 fully connected layers."""
    net = Stack("alexnet", channels=3, rows=224)
    net.conv("conv1", 64, taps=11, stride=4, pad=2)
    net.pool("pool1", taps=3, stride=2)
    net.conv("conv2", 192, taps=5, pad=2)
    net.pool("pool2", taps=3, stride=2)
    net.conv("conv3", 384, taps=3, pad=1)
    net.conv("conv4", 256, taps=3, pad=1)
    net.conv("conv5", 256, taps=3, pad=1)
    net.pool("pool5", taps=3, stride=2)
    net.dense("fc6", 4096)
    net.dense("fc7", 4096)
    net.dense("fc8", 1000)
    return net.graph()
