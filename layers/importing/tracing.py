"""Follows the tensors of another tool's graph through the nodes of ours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from layers.graph_builder import GraphBuilder, Shape
from layers.importing.building import add_attention
from layers.layer import Layer
from layers.network_graph import KEEPS_SIZE, OUTSIDE, NodeKind, meets, operand_sizes

WORDS = {
    NodeKind.NORM: ("norm", "softmax", "lrn", "softmin"),
    NodeKind.POOLING: ("pool", "reduce", "argm", "mean", "amax", "amin", "topk", "cumsum"),
    NodeKind.CONCAT: (
        *("concat", "cat", "split", "chunk", "slice", "gather", "select", "pad", "resize"),
        *("upsample", "expand", "repeat", "tile", "stack", "index", "embedding", "roll"),
    ),
    NodeKind.LAYOUT: (
        *("reshape", "view", "transpose", "permute", "flatten", "squeeze", "contiguous"),
        *("identity", "depthtospace", "spacetodepth", "pixel_", "clone", "movedim"),
    ),
}
"""Words in an operator's name that tell its kind; others are elementwise."""
ELEMENTWISE = ("batchnorm", "batch_norm", "batchnormalization")
"""Normalisations by constants."""


def kind_of(operator: str, operands: Sequence[Shape], result: Shape) -> NodeKind:
    """The kind of an operator without MACs, by its name and the shapes that it reads and writes."""
    name, before, after = operator.lower(), max(map(math.prod, operands)), math.prod(result)
    found = NodeKind.ELEMENTWISE
    if not any(word in name for word in ELEMENTWISE):
        kinds = (kind for kind, words in WORDS.items() if any(word in name for word in words))
        found = next(kinds, NodeKind.ELEMENTWISE)
    if found in KEEPS_SIZE and before > after:
        return NodeKind.CONCAT if found is NodeKind.LAYOUT else NodeKind.POOLING
    if found is NodeKind.LAYOUT and before != after:
        return NodeKind.CONCAT
    met = found is not NodeKind.ELEMENTWISE or all(meets(one, result) for one in operands)
    return found if met else NodeKind.CONCAT


class Tracer:
    """The tensors of another graph by their names there, as tensors of the graph that is built.

    What no node has written (weights, constants, what could not be read) comes from outside.

    Args:
        graph: Gets the nodes.
    """

    def __init__(self, graph: GraphBuilder) -> None:
        self._graph = graph
        self._at: dict[str, str] = {}

    def source(self, tensor: str, shape: Shape) -> None:
        """A tensor that is given to the network."""
        if shape and all(shape):
            self._at[tensor] = self._graph.source(f"{tensor}:source", shape)

    def follow(self, tensor: str, same: str) -> None:
        """A tensor that is another one under its own name."""
        self._at[tensor] = self._at.get(same, OUTSIDE)

    def layers(
        self, layers: Sequence[Layer], operands: Sequence[str], result: str, shape: Shape
    ) -> None:
        """An operator with MACs: a layer, an attention's products, or a convolution's phases."""
        graph, given = self._graph, [self._at.get(name, OUTSIDE) for name in operands]
        *before, last = layers
        if last.name.endswith(".values"):
            query, key, value = (*given, OUTSIDE, OUTSIDE)[:3]
            if len(layers) == 3:  # one projection before the attention
                whole = graph.mac(layers[0], *self._meet(layers[0], [query]))
                query = key = value = whole
            self._at[result] = add_attention(graph, layers[-2:], query, key, value)
            return
        found = [graph.mac(layer, *self._meet(layer, given)) for layer in layers]
        zeros = bool(shape) and graph.elements(found[0]) < math.prod(shape)  # no tap meets them
        if before or zeros:
            found = [graph.join(f"{result}:concat", found, shape)]
        self._at[result] = found[0]

    def move(
        self,
        operator: str,
        name: str,
        operands: Sequence[str],
        results: Sequence[tuple[str, Shape]],
    ) -> None:
        """An operator without MACs, a node for each of its results."""
        given = [at for name in operands if (at := self._at.get(name, OUTSIDE)) != OUTSIDE]
        for result, shape in results:
            if given and shape and all(shape):
                kind = kind_of(operator, [self._graph.shape(one) for one in given], shape)
                self._at[result] = self._graph.move(kind, f"{name}:{kind}", given, shape)

    def _meet(self, layer: Layer, given: Sequence[str]) -> list[str]:
        """The operands of a layer: as large as it reads them, without weights at the end."""
        found = []
        for tensor, (low, high) in zip(given, operand_sizes(layer), strict=False):
            if tensor != OUTSIDE and not low <= self._graph.elements(tensor) <= high:
                tensor = self._graph.part(f"{layer.name}:part", tensor, (high,))
            found.append(tensor)
        while found and found[-1] == OUTSIDE:
            found.pop()
        return found
