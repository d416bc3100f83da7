"""Writes a network's graph down node after node."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from layers.layer import Layer
from layers.network_graph import GraphNode, NetworkGraph, NodeKind, output_shape

Shape = tuple[int, ...]
LONGEST_NAME = 200
"""Bytes of a node's name; longer ones are no names of files any more."""


def plain_name(name: str) -> str:
    """A name without control characters, and of a length that file names can have."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
    if len(shown.encode()) <= LONGEST_NAME:
        return shown
    return shown.encode()[: LONGEST_NAME - 3].decode(errors="ignore") + "..."


class GraphBuilder:
    """The nodes of a network, in order; methods return the name of the tensor that they add.

    A node whose name is taken gets a number.
    """

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.sources: dict[str, Shape] = {}
        self.results: list[str] = []
        self._shapes: dict[str, Shape] = {}
        self._names: Counter[str] = Counter()

    def source(self, name: str, shape: Sequence[int]) -> str:
        """A tensor that comes from outside."""
        name = self._own(name)
        self.sources[name] = self._shapes[name] = tuple(shape)
        return name

    def mac(self, layer: Layer, *inputs: str, shape: Shape | None = None) -> str:
        """A layer; `inputs` are its input and, where it is no weight, its filter."""
        shape = output_shape(layer) if shape is None else shape
        return self._add(GraphNode(layer.name, NodeKind.MAC, inputs, shape, layer))

    def move(
        self, kind: NodeKind, name: str, inputs: Iterable[str], shape: Shape | None = None
    ) -> str:
        """A node without MACs; without a `shape` it has that of its first operand."""
        inputs = tuple(inputs)
        shape = self._shapes[inputs[0]] if shape is None else shape
        return self._add(GraphNode(name, kind, inputs, shape))

    def join(self, name: str, inputs: Iterable[str], shape: Shape) -> str:
        """Tensors, or rows of them, put together into one of another shape."""
        return self.move(NodeKind.CONCAT, name, inputs, shape)

    def add(self, name: str, *inputs: str) -> str:
        """An elementwise node."""
        return self.move(NodeKind.ELEMENTWISE, name, inputs)

    def norm(self, name: str, tensor: str) -> str:
        """A normalisation or a softmax."""
        return self.move(NodeKind.NORM, name, (tensor,))

    def part(self, name: str, tensor: str, shape: Shape) -> str:
        """A part of a tensor."""
        return self.move(NodeKind.CONCAT, name, (tensor,), shape)

    def shape(self, tensor: str) -> Shape:
        """The shape of a tensor."""
        return self._shapes[tensor]

    def elements(self, tensor: str) -> int:
        """Elements of a tensor."""
        return math.prod(self._shapes[tensor])

    def _own(self, name: str) -> str:
        name = wanted = plain_name(name)
        while name in self._names:
            self._names[wanted] += 1
            name = f"{wanted}_{self._names[wanted]}"
        self._names[name] = 1
        return name

    def _add(self, node: GraphNode) -> str:
        name = self._own(node.name)
        if name != node.name:
            layer = node.layer and node.layer.renamed(name)
            node = replace(node, name=name, layer=layer)
        self.nodes.append(node)
        self._shapes[name] = node.shape
        return name

    def graph(self) -> NetworkGraph:
        """The graph.

        Raises:
            LayerError: It is none, see :class:`NetworkGraph`.
        """
        return NetworkGraph(tuple(self.nodes), self.sources, tuple(self.results))
