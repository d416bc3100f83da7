"""Groups of a network's layers that may be fused, and their tilings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from cost_models import Accelerator, Chain
from layers import Layer, LayerKind, NetworkGraph, NodeKind
from mapper.fusing.axis_plan import AxisLayer, AxisPlan, Piece, axis_plans
from mapper.staying.rooms import can_stay, home_of
from mapper.staying.shape_facts import Resident

LONGEST = 4
"""Layers of a group that is searched."""
Outside = frozenset[tuple[int, str]]
"""What is whole in L2 of what a group reads and writes, by a layer's place and its tensor."""


@dataclass(frozen=True)
class FusedGroup:
    """Layers of which each reads what the one before writes, and nobody else does.

    Between matrix products there may be passes in place, such as a softmax; their columns are the
    independent products, the heads of an attention block.

    Args:
        layers: Their shapes, without names.
        places: Of the layers' nodes, from that of the first on.
        rows: The layers along their rows.
        columns: The layers along their columns.
        bits: Of an element of each tensor between two layers.
    """

    layers: tuple[Layer, ...]
    places: tuple[int, ...]
    rows: tuple[AxisLayer, ...]
    columns: tuple[AxisLayer, ...]
    bits: tuple[int, ...]

    @property
    def nodes(self) -> int:
        """Number of its nodes, passes among them."""
        return self.places[-1] + 1

    def passes(self, tensor: int) -> int:
        """How many passes a tensor goes through before the next layer reads it."""
        return self.places[tensor + 1] - self.places[tensor] - 1

    @cached_property
    def row_plans(self) -> list[AxisPlan]:
        """All ways to cut its rows."""
        return axis_plans(self.rows)

    @cached_property
    def column_plans(self) -> list[AxisPlan]:
        """All ways to cut its columns."""
        return axis_plans(self.columns)

    @cached_property
    def key_tiles(self) -> list[int]:
        """Keys in a tile of scores: all (0), or a half, a quarter and so on of a pair's.

        The second product then adds up what each tile of the first one's columns gives.
        """
        first = self.layers[0]
        if len(self.layers) != 2 or first.kind is not LayerKind.GEMM:
            return [0]
        sizes = {-(-first.K // (1 << halvings)) for halvings in range(1, first.K.bit_length())}
        return [0, *sorted(sizes - {first.K}, reverse=True)]

    def cuts(self, place: int, keys: int) -> Iterator[tuple[Layer, int]]:
        """A layer for each size of a tile of keys, and how many tiles have it."""
        layer, extent = self.layers[place], self.layers[0].K
        if not keys:
            yield layer, 1
            return
        for size, often in ((keys, extent // keys), (extent % keys, 1)):
            if size and often:
                yield (replace(layer, C=size) if place else replace(layer, K=size)), often

    def deep(self, tensor: int, keys: int) -> int:
        """Elements of a tensor between two layers at each row and column."""
        outputs = self.rows[tensor].outputs * self.columns[tensor].outputs
        return keys or self.layers[tensor].output_size // outputs

    def window_bits(
        self, tensor: int, rows: AxisPlan, columns: AxisPlan, keys: int = 0
    ) -> tuple[int, int]:
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
        deep = self.deep(tensor, keys)
        return touched * deep * self.bits[tensor], kept * deep * self.bits[tensor]


@dataclass(frozen=True)
class FusedTiling:
    """How a group is cut.

    Args:
        rows: Its rows.
        columns: Its columns; tiles of a row come one after another, but rows of the same products.
        filters: Layers whose filters stay in L2 meanwhile; others are read for each tile.
        keys: Keys in a tile of scores, which come one after another in a fused tile; 0: all.
    """

    rows: AxisPlan
    columns: AxisPlan
    filters: frozenset[int]
    keys: int = 0

    @property
    def tiles(self) -> int:
        """Number of fused tiles."""
        return self.rows.tiles * self.columns.tiles

    def key_steps(self, group: FusedGroup) -> int:
        """Number of tiles of keys in a fused tile."""
        return sum(often for _, often in group.cuts(0, self.keys))

    def parts(self, group: FusedGroup, place: int) -> Iterator[tuple[Layer, int]]:
        """What a layer computes in fused tiles, as layers, and how often each occurs."""
        for layer, steps in group.cuts(place, self.keys):
            for row, often in self.rows.pieces[place].items():
                for column, times in self.columns.pieces[place].items():
                    yield _part(layer, row, column), steps * often * times

    def room_bits(self, group: FusedGroup, chip: Accelerator | Chain, place: int) -> int:
        """What tensors of the group take of L2 during a layer [bits]."""
        taken = sum(filter_bits(group, chip, other, self.columns) for other in self.filters)
        for tensor in range(len(group.layers) - 1):
            touched, kept = group.window_bits(tensor, self.rows, self.columns, self.keys)
            if tensor == place:  # sums may be wider until they are finished
                touched = touched * max(group.bits[tensor], chip.widths.psum) // group.bits[tensor]
            taken += touched if place in (tensor, tensor + 1) else kept
        if self.keys:
            taken += sum(sums_of(group, self.rows.tile, self.columns.tile)) * chip.widths.psum
        return taken


def sums_of(group: FusedGroup, rows: int, products: int) -> tuple[int, int]:
    """Elements of sums of a fused tile that is cut into tiles of keys.

    Returns:
        The output that is added up, and what each row has: its maximum, and its sum.
    """
    return rows * products * group.layers[-1].K, 2 * rows * products


def filter_loads(group: FusedGroup, place: int, columns: AxisPlan) -> dict[int, int]:
    """Elements of a layer's filter that are brought into L2 at a time, and how often.

    Of independent products, those of a fused tile's; they stay for all its rows.
    """
    layer = group.layers[place]
    if layer.kind is not LayerKind.GEMM:
        return {layer.filter_size: 1}
    each = layer.filter_size // layer.N
    return {each * piece.outputs: times for piece, times in columns.pieces[place].items()}


def filter_bits(group: FusedGroup, chip: Accelerator | Chain, place: int, columns: AxisPlan) -> int:
    """What a layer's filter that stays takes of L2 [bits]."""
    return max(filter_loads(group, place, columns)) * chip.widths.filter


def resident_of(
    group: FusedGroup, place: int, filters: frozenset[int], outside: Outside, keys: int = 0
) -> Resident:
    """Those of a layer's tensors that are in L2 while it runs.

    Args:
        group: The group.
        place: Of the layer.
        filters: Layers whose filters stay.
        outside: What is whole in L2 of what the group reads and writes.
        keys: Keys in a tile of scores, in which the output is added up in L2; 0: all.
    """
    found = {"filter"} if place in filters or (place, "filter") in outside else set()
    if place or (place, "input") in outside:
        found.add("input")
    if place < len(group.layers) - 1 or keys or (place, "output") in outside:
        found.add("output")
    return frozenset(found)


def groups_of(
    graph: NetworkGraph, chip: Accelerator | Chain, longest: int = LONGEST
) -> dict[int, list[FusedGroup]]:
    """The groups of two or more layers, one after another, that begin at each node's place.

    On a chip whose level next to DRAM does not hold what is between layers there are none.
    """
    found: dict[int, list[FusedGroup]] = {}
    if not can_stay(home_of(chip)):
        return found
    for place, node in enumerate(graph.nodes):
        places = [place] if node.layer is not None else []
        for end in range(place + 1, len(graph.nodes)):
            if not places or len(places) == longest or not _linked(graph, places, end):
                break
            if graph.nodes[end].layer is not None:
                places.append(end)
                found.setdefault(place, []).append(_group(graph, places, chip))
    return found


def _linked(graph: NetworkGraph, places: Sequence[int], place: int) -> bool:
    """Whether a node reads what the one before it writes, alone does so, and may be fused."""
    node, before = graph.nodes[place], graph.nodes[place - 1]
    first, layer = graph.nodes[places[-1]].layer, node.layer
    assert first is not None
    if node.inputs[0] != before.name or graph.readers[before.name] != (place,):
        return False
    if before.name in graph.leaving or LayerKind.TRCONV in (first.kind, layer and layer.kind):
        return False  # zeros inside a transposed convolution are not cut
    product = first.kind is LayerKind.GEMM
    if layer is None:
        row_by_row = node.kind in (NodeKind.ELEMENTWISE, NodeKind.NORM) and len(node.reads) == 1
        same = (node.elements, node.bits) == (before.elements, before.bits)
        return product and row_by_row and same  # a layout may turn rows into columns
    inside = {graph.nodes[n].name for n in range(places[0], place)}
    return (
        not inside.intersection(node.inputs[1:])
        and product == (layer.kind is LayerKind.GEMM)
        and _meet(first, layer)
    )


def _meet(before: Layer, layer: Layer) -> bool:
    """Whether what a layer writes is what the next one reads, axis by axis, padding apart."""
    if layer.kind is LayerKind.GEMM:
        return (before.N, before.Y, before.K) == (layer.N, layer.Y, layer.C)
    top, bottom, left, right = layer.given_padding
    pads = (top + bottom, left + right)
    if not any(pads):  # it is not told apart: at most all that the filter reaches beyond an edge
        pads = (layer.reach_y - 1, layer.reach_x - 1)
    # behind the last step of a wide stride, rows are left out of a layer
    written = before.N, before.C if before.depthwise else before.K * before.groups
    return written == (layer.N, layer.C * layer.groups) and all(
        given - pad <= extent < given + stride
        for given, pad, extent, stride in (
            (layer.given_y, pads[0], before.out_y, layer.stride_y),
            (layer.given_x, pads[1], before.out_x, layer.stride_x),
        )
    )


def _axes(layer: Layer, before: Layer | None) -> tuple[AxisLayer, AxisLayer]:
    """A layer along its rows and its columns; padding that it does not tell lies on both sides."""
    if layer.kind is LayerKind.GEMM:
        return AxisLayer(layer.Y, layer.Y, 1, 1, 0), AxisLayer(layer.N, layer.N, 1, 1, 0)
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


def _group(graph: NetworkGraph, places: Sequence[int], chip: Accelerator | Chain) -> FusedGroup:
    nodes = [graph.nodes[place] for place in places]
    shapes = [node.layer.renamed("") for node in nodes if node.layer is not None]
    axes = [_axes(shapes[0], None), *(_axes(b, a) for a, b in pairwise(shapes))]
    width = max(chip.widths.input, chip.widths.output)
    return FusedGroup(
        tuple(shapes),
        tuple(place - places[0] for place in places),
        tuple(rows for rows, _ in axes),
        tuple(columns for _, columns in axes),
        tuple(node.bits or width for node in nodes[:-1]),
    )


def _part(layer: Layer, row: Piece, column: Piece) -> Layer:
    if layer.kind is LayerKind.GEMM:
        return replace(layer, Y=row.outputs, N=column.outputs)
    told = any(layer.given_padding)
    return replace(
        layer,
        Y=(row.outputs - 1) * layer.stride_y + layer.reach_y,
        X=(column.outputs - 1) * layer.stride_x + layer.reach_x,
        padding=(row.low, row.high, column.low, column.high) if told else (0, 0, 0, 0),
    )
