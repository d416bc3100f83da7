"""A network as a graph: every tensor is a node's output, and nodes run in the order of the file.

A node is a layer with MACs, or one of five kinds that move elements without MACs. What comes from
outside (images, caches, and weights, which are not named) is in DRAM from the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from layers.dims import LayerKind
from layers.layer import Layer, LayerError
from marl_common import suggest

OUTSIDE = ""
"""In place of an operand that is a weight."""


class NodeKind(StrEnum):
    """What a node does: the MACs of a layer, or a pass over elements without any."""

    MAC = "mac"
    ELEMENTWISE = "elementwise"
    POOLING = "pooling"
    CONCAT = "concat"
    LAYOUT = "layout"
    NORM = "norm"


PASSES = tuple(kind for kind in NodeKind if kind is not NodeKind.MAC)
"""The kinds without MACs: pooling takes reductions over a window or an axis in, concat splits,
norm softmax."""
KEEPS_SIZE = (NodeKind.ELEMENTWISE, NodeKind.LAYOUT, NodeKind.NORM)
"""Kinds whose output has as many elements as their first operand, and may take its place."""


@dataclass(frozen=True)
class GraphNode:
    """A node, and the tensor of its name that it writes.

    Args:
        name: Of the node and its tensor.
        kind: What it does.
        inputs: Tensors that it reads; of a layer its input and, where it is no weight, its filter.
        shape: Extents of its tensor.
        layer: The layer of a node with MACs.
        bits: Of an element of its tensor; None for what the chip gives to inputs and outputs.
    """

    name: str
    kind: NodeKind
    inputs: tuple[str, ...]
    shape: tuple[int, ...]
    layer: Layer | None = None
    bits: int | None = None

    @property
    def elements(self) -> int:
        """Elements of its tensor."""
        return math.prod(self.shape)

    @property
    def reads(self) -> tuple[str, ...]:
        """The tensors that it reads, weights left out."""
        return tuple(name for name in self.inputs if name != OUTSIDE)


@dataclass(frozen=True)
class NetworkGraph:
    """A network's nodes in the order in which they run.

    Args:
        nodes: The nodes; each reads tensors of earlier ones, or sources.
        sources: Shapes of tensors that come from outside, by name.
        results: Tensors that are wanted in DRAM in the end, besides those that nobody reads.

    Raises:
        LayerError: A name is taken twice, a tensor is read that nobody writes or before it is
            written, or shapes do not meet.
    """

    nodes: tuple[GraphNode, ...]
    sources: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    results: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        written: dict[str, tuple[int, ...]] = {name: tuple(of) for name, of in self.sources.items()}
        later = {node.name for node in self.nodes}
        for node in self.nodes:
            if node.name in written:
                raise LayerError(
                    f"tensor {node.name!r}: written twice; expected a name of its own for each"
                )
            for name in node.reads:
                if name not in written:
                    raise LayerError(_unwritten(node.name, name, later, [*written, *later]))
            _check_shapes(node, [written.get(name) for name in node.inputs])
            written[node.name] = node.shape
        for name in self.results:
            if name not in written:
                hint = suggest(name, written)
                raise LayerError(f"results: {name!r} is never written; expected a tensor.{hint}")

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The layers with MACs, in order."""
        return tuple(node.layer for node in self.nodes if node.layer is not None)

    @cached_property
    def readers(self) -> dict[str, tuple[int, ...]]:
        """Of each tensor and source the places of the nodes that read it."""
        found: dict[str, list[int]] = {name: [] for name in self.sources}
        for place, node in enumerate(self.nodes):
            found[node.name] = []
            for name in set(node.reads):
                found[name].append(place)
        return {name: tuple(places) for name, places in found.items()}

    @cached_property
    def leaving(self) -> frozenset[str]:
        """Tensors that are wanted in DRAM in the end."""
        unread = (node.name for node in self.nodes if not self.readers[node.name])
        return frozenset((*unread, *self.results))


def _unwritten(node: str, name: str, later: set[str], known: Sequence[str]) -> str:
    """Why a node cannot read a tensor."""
    if name in later:
        return (
            f"node {node!r}: reads {name!r}, which is written later or by itself; expected no "
            "cycle, and nodes in the order in which they run"
        )
    return (
        f"node {node!r}: reads {name!r}, which is never written; expected a node before it or a "
        f"source.{suggest(name, known)}"
    )


def output_shape(layer: Layer) -> tuple[int, ...]:
    """The extents of a layer's output: N, channels, rows and columns, or N, rows, columns."""
    channels, _, rows, columns, _, _, batch, groups = layer.extents
    if layer.kind is LayerKind.GEMM:
        return (rows, channels) if batch == 1 else (batch, rows, channels)
    return (batch, layer.C if layer.depthwise else channels * groups, rows, columns)


def meets(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a tensor has an element for each of another's: as many, or repeated along axes."""
    if math.prod(shape) == math.prod(other):
        return True
    axes = zip(reversed(shape), reversed(other), strict=False)
    return len(shape) <= len(other) and all(extent in (1, wanted) for extent, wanted in axes)


def _check_shapes(node: GraphNode, shapes: Sequence[tuple[int, ...] | None]) -> None:
    """Check a node's operands against what it does."""
    sizes = [None if shape is None else math.prod(shape) for shape in shapes]
    if not node.shape or any(extent < 1 for extent in node.shape):
        raise LayerError(f"node {node.name!r}: got shape {node.shape}, expected extents above 0")
    if node.layer is None:
        if not node.reads:
            raise LayerError(f"node {node.name!r}: reads nothing; expected a tensor")
        _check_pass(node, shapes)
        return
    layer = node.layer
    if node.elements != layer.output_size:
        raise LayerError(
            f"node {node.name!r}: got shape {node.shape}, expected the {layer.output_size} "
            "elements that its layer writes"
        )
    if len(sizes) > 2:
        raise LayerError(f"node {node.name!r}: reads {len(sizes)} tensors, expected at most two")
    named = zip(("input", "filter"), operand_sizes(layer), strict=True)
    for size, (what, (low, high)) in zip(sizes, named, strict=False):
        if size is not None and not low <= size <= high:
            expected = f"{low}" if low == high else f"{low} to {high}"
            raise LayerError(
                f"node {node.name!r}: shapes do not meet: its {what} has {size} elements, expected "
                f"{expected}"
            )


def _check_pass(node: GraphNode, shapes: Sequence[tuple[int, ...] | None]) -> None:
    """Check the operands of a node without MACs."""
    if node.kind not in KEEPS_SIZE:
        return
    for name, shape in zip(node.inputs, shapes, strict=True):
        if shape is None or meets(shape, node.shape):
            continue
        if node.kind is NodeKind.ELEMENTWISE or math.prod(shape) > node.elements:
            raise LayerError(
                f"node {node.name!r}: shapes do not meet: reads {name!r} of {_extents(shape)} and "
                f"writes {_extents(node.shape)}; expected as many elements, or 1 along an axis"
            )


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def operand_sizes(layer: Layer) -> tuple[tuple[int, int], tuple[int, int]]:
    """Elements that a layer's input and its filter may have, at least and at most.

    Of an input they differ by padding that the layer does not tell apart, and by what lies behind
    the last step of a wide stride.
    """
    top, bottom, left, right = layer.given_padding
    deep = layer.repeats * layer.C
    most = deep * layer.given_y * layer.given_x
    least = deep * (layer.given_y - top - bottom) * (layer.given_x - left - right)
    if not any(layer.given_padding) and layer.R * layer.S > 1:
        # padding that is not told apart: at most all that the filter reaches beyond its middle
        rows, columns = layer.given_y - layer.reach_y + 1, layer.given_x - layer.reach_x + 1
        least = deep * rows * columns
    if layer.stride != 1:  # rows behind the last step of the filter are left out of a layer
        most = deep * (layer.given_y + layer.stride_y - 1) * (layer.given_x + layer.stride_x - 1)
    return (least, most), (layer.filter_size, layer.filter_size)
