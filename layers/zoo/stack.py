"""Writes a network down node after node, following the extents of its feature map."""

from __future__ import annotations

from layers.dims import LayerKind
from layers.graph_builder import GraphBuilder
from layers.layer import Layer
from layers.network_graph import NetworkGraph, NodeKind


class Stack:
    """The nodes of a feed-forward network, in order, with the feature map behind the last one.

    Activations, biases and normalisations by constants are part of the layer before them.

    Args:
        network: Name of the network; layers are called ``<network>.<name>``.
        channels: Channels of the network's input.
        rows: Rows and columns of the network's (square) input.
    """

    def __init__(self, network: str, channels: int, rows: int) -> None:
        self.network = network
        self.channels = channels
        self.rows = rows
        self._nodes = GraphBuilder()
        self.at = self._nodes.source(f"{network}.image", self._shape)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (1, self.channels, self.rows, self.rows)

    def graph(self) -> NetworkGraph:
        """The network."""
        return self._nodes.graph()

    def conv(self, name: str, filters: int, taps: int, stride: int = 1, pad: int = 0) -> None:
        """A convolution with `taps` x `taps` filters and `pad` rows of zeros on each side."""
        self._add(name, LayerKind.CONV, filters, taps, stride, pad)
        self.channels = filters

    def depthwise(self, name: str, taps: int, stride: int, pad: int) -> None:
        """A depthwise convolution; the number of channels stays."""
        self._add(name, LayerKind.DSCONV, 1, taps, stride, pad)

    def pool(self, name: str, taps: int, stride: int, pad: int = 0) -> None:
        """A pooling node: no MACs, but a smaller feature map behind it."""
        self._pool(name, (self.rows + 2 * pad - taps) // stride + 1)

    def global_pool(self) -> None:
        """An average over the whole feature map."""
        self._pool("average", 1)

    def _pool(self, name: str, rows: int) -> None:
        self.rows = rows
        name = f"{self.network}.{name}"
        self.at = self._nodes.move(NodeKind.POOLING, name, (self.at,), self._shape)

    def add(self, name: str, other: str) -> None:
        """Add the tensor `other` to the feature map."""
        self.at = self._nodes.add(f"{self.network}.{name}", self.at, other)

    def dense(self, name: str, outputs: int) -> None:
        """A fully connected layer over everything the feature map holds, for one sample."""
        inputs = self.channels * self.rows * self.rows
        layer = Layer.gemm(f"{self.network}.{name}", M=1, N=outputs, K=inputs)
        self.at = self._nodes.mac(layer, self.at)
        self.channels, self.rows = outputs, 1

    def _add(self, name: str, kind: LayerKind, K: int, taps: int, stride: int, pad: int) -> None:
        self.rows = (self.rows + 2 * pad - taps) // stride + 1
        touched = (self.rows - 1) * stride + taps
        layer = Layer(
            f"{self.network}.{name}",
            kind,
            K,
            self.channels,
            touched,
            touched,
            taps,
            taps,
            stride,
        )
        self.at = self._nodes.mac(layer, self.at)
