"""Groups of a network's layers that may be fused, and their tilings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from cost_models import Accelerator
from layers import GraphNode, Layer, LayerKind, NetworkGraph
from mapper.fusing.axis_plan import AxisLayer, AxisPlan, Piece, axis_plans
from mapper.staying.shape_facts import Resident

LONGEST = 4
"""Layers of a group."""


@dataclass(frozen=True)
class FusedGroup:
    """Layers of which each reads what the one before writes, and nobody else does.

    Args:
        layers: Their shapes, without names.
        rows: The layers along their rows.
        columns: The layers along their columns.
        bits: Of an element of each tensor between two layers.
    """

    layers: tuple[Layer, ...]
    rows: tuple[AxisLayer, ...]
    columns: tuple[AxisLayer, ...]
    bits: tuple[int, ...]

    @cached_property
    def row_plans(self) -> list[AxisPlan]:
        """All ways to cut its rows."""
        return axis_plans(self.rows)

    @cached_property
    def column_plans(self) -> list[AxisPlan]:
        """All ways to cut its columns."""
        return axis_plans(self.columns)

    def window_bits(self, tensor: int, rows: AxisPlan, columns: AxisPlan) -> tuple[int, int]:
        """What a tensor between two layers takes of L2 [bits].

        It has room for the window that a fused tile reads, and for those rows of all other columns
        that the next row of tiles reads again.

        Returns:
            While it is written or read, and in between: then only what later tiles read again.
        """
        width = self.columns[tensor].outputs
        line, held = rows.kept[tensor], (rows.held[tensor], columns.held[tensor])
        touched = held[0] * held[1] + line * (width - held[1])
        kept = line * width + columns.kept[tensor] * (held[0] - line)
        deep = self.layers[tensor].output_size // (self.rows[tensor].outputs * width)
        return touched * deep * self.bits[tensor], kept * deep * self.bits[tensor]


@dataclass(frozen=True)
class FusedTiling:
    """How a group is cut.

    Args:
        rows: Its rows.
        columns: Its columns; tiles of a row come one after another.
        filters: Layers whose filters stay in L2 meanwhile; others are read for each tile.
    """

    rows: AxisPlan
    columns: AxisPlan
    filters: frozenset[int]

    @property
    def tiles(self) -> int:
        """Number of fused tiles."""
        return self.rows.tiles * self.columns.tiles

    def parts(self, group: FusedGroup, place: int) -> Iterator[tuple[Layer, int]]:
        """What a layer computes in fused tiles, as layers, and how often each occurs."""
        layer = group.layers[place]
        for row, often in self.rows.pieces[place].items():
            for column, times in self.columns.pieces[place].items():
                yield _part(layer, row, column), often * times

    def room_bits(
        self, group: FusedGroup, chip: Accelerator, place: int, filter_bits: tuple[int, ...]
    ) -> int:
        """What tensors of the group take of L2 during a layer [bits]."""
        taken = sum(filter_bits[other] for other in self.filters)
        for tensor in range(len(group.layers) - 1):
            touched, kept = group.window_bits(tensor, self.rows, self.columns)
            if tensor == place:  # sums may be wider until they are finished
                touched = touched * max(group.bits[tensor], chip.widths.psum) // group.bits[tensor]
            taken += touched if place in (tensor, tensor + 1) else kept
        return taken


def resident_of(group: FusedGroup, place: int, tiling: FusedTiling, outside: Resident) -> Resident:
    """Those of a layer's tensors that are in L2 while it runs.

    Args:
        group: The group.
        place: Of the layer.
        tiling: How the group is cut.
        outside: Those of the group's own input and output that are whole in L2.
    """
    found = {"filter"} if place in tiling.filters else set()
    if place or "input" in outside:
        found.add("input")
    if place < len(group.layers) - 1 or "output" in outside:
        found.add("output")
    return frozenset(found)


def groups_of(graph: NetworkGraph, chip: Accelerator) -> dict[int, list[FusedGroup]]:
    """The groups of two to four consecutive layers that begin at each node's place."""
    found: dict[int, list[FusedGroup]] = {}
    for place in range(len(graph.nodes)):
        for end in range(place + 2, min(place + LONGEST, len(graph.nodes)) + 1):
            if not _linked(graph, end - 1):
                break
            if end == place + 2 and not _fusible(graph.nodes[place]):
                break
            found.setdefault(place, []).append(_group(graph.nodes[place:end], chip))
    return found


def _fusible(node: GraphNode) -> bool:
    """Whether a node is a layer whose only tensor is its input; zeros inside one are not cut."""
    known = node.layer is not None and node.layer.kind is not LayerKind.TRCONV
    return known and len(node.inputs) == 1


def _linked(graph: NetworkGraph, place: int) -> bool:
    """Whether a layer reads what the one before it writes, and alone does so."""
    node, before = graph.nodes[place], graph.nodes[place - 1]
    if not (_fusible(node) and _fusible(before)) or node.inputs[0] != before.name:
        return False
    if before.name in graph.leaving or graph.readers[before.name] != (place,):
        return False
    assert node.layer is not None
    assert before.layer is not None
    products = before.layer.kind is LayerKind.GEMM, node.layer.kind is LayerKind.GEMM
    return before.layer.N == node.layer.N and products[0] == products[1]


def _axes(layer: Layer, before: Layer | None) -> tuple[AxisLayer, AxisLayer]:
    """A layer along its rows and its columns; padding that it does not tell lies on both sides."""
    top, bottom, left, right = layer.given_padding
    inputs = layer.given_y - top - bottom, layer.given_x - left - right
    if before is not None:
        inputs = before.out_y, before.out_x
    lows = top, left
    if not any(layer.given_padding):
        lows = max(0, layer.given_y - inputs[0]) // 2, max(0, layer.given_x - inputs[1]) // 2
    return (
        AxisLayer(layer.out_y, inputs[0], layer.stride_y, layer.reach_y, lows[0]),
        AxisLayer(layer.out_x, inputs[1], layer.stride_x, layer.reach_x, lows[1]),
    )


def _group(nodes: tuple[GraphNode, ...], chip: Accelerator) -> FusedGroup:
    shapes = [node.layer.renamed("") for node in nodes if node.layer is not None]
    axes = [_axes(shapes[0], None), *(_axes(b, a) for a, b in pairwise(shapes))]
    width = max(chip.widths.input, chip.widths.output)
    return FusedGroup(
        tuple(shapes),
        tuple(rows for rows, _ in axes),
        tuple(columns for _, columns in axes),
        tuple(node.bits or width for node in nodes[:-1]),
    )


def _part(layer: Layer, row: Piece, column: Piece) -> Layer:
    told = any(layer.given_padding)
    return replace(
        layer,
        Y=(row.outputs - 1) * layer.stride_y + layer.reach_y,
        X=(column.outputs - 1) * layer.stride_x + layer.reach_x,
        padding=(row.low, row.high, column.low, column.high) if told else (0, 0, 0, 0),
    )


def filter_bits(group: FusedGroup, chip: Accelerator) -> tuple[int, ...]:
    """What the filters of each layer take [bits]."""
    return tuple(layer.filter_size * chip.widths.filter for layer in group.layers)
