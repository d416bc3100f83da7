"""A mapped loop nest as the simulator takes it, and the tiles of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

Range = tuple[int, int]
Tile = tuple[Range, ...]
Element = tuple[int, ...]
K, C, P, Q, R, S, N, G = range(8)


@dataclass(frozen=True)
class Nest:
    """One layer's loop nest and its mapping, tiles already clipped to the extents.

    Args:
        extents: Extents in the order K C P Q R S N G; P and Q are output rows and columns.
        outer_tiles: Tile of one cluster.
        inner_tiles: Tile of one PE.
        orders: Dimension indices of the outer and the inner level, outermost loop first.
        spatial: Dimension spread over clusters, and over the PEs of a cluster.
        clusters: Number of clusters.
        cluster_size: PEs of a cluster.
        strides: Step of the filter in rows and columns.
        dilations: Distance of neighbouring taps in rows and columns.
        coupled: Dimensions whose counters decide which tile of a tensor is at hand, by tensor.
        spatial2: A second dimension spread over clusters, and over the PEs of a cluster, or None.
        units: Where there is a second one: clusters, and PEs, that the first one takes.
        box: Whether an input tile holds the rows and columns between those it touches too.
        padding: Rows at the top and bottom, columns at the left and right of the input, that are
            padding.
        input_size: Rows and columns of the input, padding included.
    """

    extents: tuple[int, ...]
    outer_tiles: tuple[int, ...]
    inner_tiles: tuple[int, ...]
    orders: tuple[tuple[int, ...], tuple[int, ...]]
    spatial: tuple[int, int]
    clusters: int
    cluster_size: int
    strides: tuple[int, int]
    dilations: tuple[int, int]
    coupled: dict[str, tuple[int, ...]]
    spatial2: tuple[int | None, int | None] = (None, None)
    units: tuple[int, int] = (0, 0)
    box: bool = False
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    input_size: tuple[int, int] = (0, 0)

    @cached_property
    def spread(self) -> tuple[dict[int, int], dict[int, int]]:
        """Dimensions that each level spreads, with the units that each of them takes."""
        found = []
        for level, count in enumerate((self.clusters, self.cluster_size)):
            second = self.spatial2[level]
            if second is None:
                found.append({self.spatial[level]: count})
                continue
            first = self.units[level]
            found.append({self.spatial[level]: first, second: count // first})
        return found[0], found[1]

    @cached_property
    def places(self) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
        """Where each unit lies along the dimensions that its level spreads; spare units idle."""
        found: list[list[dict[int, int]]] = []
        for level in self.spread:
            counts = [range(count) for count in level.values()]
            found.append([dict(zip(level, place, strict=True)) for place in product(*counts)])
        return found[0], found[1]

    def elements(self, tensor: str, tile: Tile) -> frozenset[Element]:
        """The elements of a tensor that the MACs of a tile touch."""
        ranges = [range(low, high) for low, high in tile]
        if tensor != "input":
            return frozenset(product(*(ranges[d] for d in self.coupled[tensor])))
        plain = [ranges[d] for d in self.coupled[tensor] if d not in (P, Q, R, S)]
        return frozenset(product(*plain, *(self._touched(ranges, axis) for axis in range(2))))

    def _touched(self, ranges: list[range], axis: int) -> set[int]:
        """Input rows (axis 0) or columns (1) that ranges of outputs and of taps touch."""
        stride, dilation = self.strides[axis], self.dilations[axis]
        rows = {stride * p + dilation * r for p in ranges[P + axis] for r in ranges[R + axis]}
        return set(range(min(rows), max(rows) + 1)) if self.box and rows else rows

    def is_padding(self, element: Element) -> bool:
        """Whether an input element lies in the padding."""
        row, column = element[-2:]
        top, bottom, left, right = self.padding
        rows, columns = self.input_size
        return not (top <= row < rows - bottom and left <= column < columns - right)

    def width(self, level: int, dim: int) -> int:
        """What all units of a level cover of a dimension in one step."""
        tile = (self.outer_tiles, self.inner_tiles)[level][dim]
        return tile * self.spread[level].get(dim, 1)

    def outer_counters(self) -> Iterator[dict[int, int]]:
        """The outer steps, as a counter for each dimension."""
        order = self.orders[0]
        spans = [range(ceil_div(self.extents[d], self.width(0, d))) for d in order]
        for values in product(*spans):
            yield dict(zip(order, values, strict=True))

    def inner_counters(self, tile: Tile) -> Iterator[dict[int, int]]:
        """The inner steps of an outer step in which cluster 0 holds `tile`."""
        order = self.orders[1]
        spans = [range(ceil_div(tile[d][1] - tile[d][0], self.width(1, d))) for d in order]
        for values in product(*spans):
            yield dict(zip(order, values, strict=True))

    def cluster_tile(self, outer: dict[int, int], cluster: int) -> Tile:
        """The tile of a cluster in an outer step; empty where nothing is left for it."""
        ranges, place = [], self.places[0][cluster]
        for d in range(len(self.extents)):
            low = outer[d] * self.width(0, d) + place.get(d, 0) * self.outer_tiles[d]
            ranges.append((low, max(low, min(low + self.outer_tiles[d], self.extents[d]))))
        return tuple(ranges)

    def pe_tile(self, whole: Tile, inner: dict[int, int], pe: int) -> Tile:
        """The tile of a PE whose cluster holds `whole`; a range with nothing left is empty."""
        ranges, place = [], self.places[1][pe]
        for d in range(len(self.extents)):
            low = whole[d][0] + inner[d] * self.width(1, d)
            low += place.get(d, 0) * self.inner_tiles[d]
            ranges.append((low, max(low, min(low + self.inner_tiles[d], whole[d][1]))))
        return tuple(ranges)

    def pe_tiles(self, clusters: list[Tile], inner: dict[int, int]) -> dict[tuple[int, int], Tile]:
        """The tile of every PE by cluster and place in it, empty for one that idles."""
        return {
            (c, p): self.pe_tile(whole, inner, p)
            for c, whole in enumerate(clusters)
            for p in range(len(self.places[1]))
        }


def boxed(elements: frozenset[Element]) -> frozenset[Element]:
    """Input elements with those between their first and last rows, and columns."""
    rows, columns = ([element[axis] for element in elements] for axis in (-2, -1))
    whole = range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1)
    plain = {element[:-2] for element in elements}
    return frozenset((*rest, row, column) for rest in plain for row, column in product(*whole))


def ceil_div(a: int, b: int) -> int:
    """Quotient rounded up."""
    return -(-a // b)


def tile_size(tile: Tile) -> int:
    """MACs of a tile."""
    count = 1
    for low, high in tile:
        count *= max(high - low, 0)
    return count
