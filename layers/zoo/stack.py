"""Writes a network's layers down one after another, following the extents of its feature map."""

from __future__ import annotations

from layers.dims import LayerKind
from layers.layer import Layer


class Stack:
    """The layers of a feed-forward network, in order, with the feature map behind the last one.

    Args:
        network: Name of the network; layers are called ``<network>.<name>``.
        channels: Channels of the network's input.
        rows: Rows and columns of the network's (square) input.
    """

    def __init__(self, network: str, channels: int, rows: int) -> None:
        self.network = network
        self.channels = channels
        self.rows = rows
        self.layers: list[Layer] = []

    def conv(self, name: str, filters: int, taps: int, stride: int = 1, pad: int = 0) -> None:
        """A convolution with `taps` x `taps` filters and `pad` rows of zeros on each side."""
        self._add(name, LayerKind.CONV, filters, taps, stride, pad)
        self.channels = filters

    def depthwise(self, name: str, taps: int, stride: int, pad: int) -> None:
        """A depthwise convolution; the number of channels stays."""
        self._add(name, LayerKind.DSCONV, 1, taps, stride, pad)

    def pool(self, taps: int, stride: int, pad: int = 0) -> None:
        """A pooling layer: no MACs, but a smaller feature map behind it."""
        self.rows = (self.rows + 2 * pad - taps) // stride + 1

    def global_pool(self) -> None:
        """An average over the whole feature map."""
        self.rows = 1

    def dense(self, name: str, outputs: int) -> None:
        """A fully connected layer over everything the feature map holds, for one sample."""
        inputs = self.channels * self.rows * self.rows
        self.layers.append(Layer.gemm(f"{self.network}.{name}", M=1, N=outputs, K=inputs))
        self.channels, self.rows = outputs, 1

    def _add(self, name: str, kind: LayerKind, K: int, taps: int, stride: int, pad: int) -> None:
        self.rows = (self.rows + 2 * pad - taps) // stride + 1
        touched = (self.rows - 1) * stride + taps
        self.layers.append(
            Layer(
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
        )
