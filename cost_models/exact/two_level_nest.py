"""A mapped loop nest as the simulator takes it, and the tiles of its steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

Range = tuple[int, int]
Tile = tuple[Range, ...]
Counters = tuple[int, ...]
"""A step's counter of each dimension."""
Pe = tuple[int, int]
"""A PE: its cluster, and its place in it."""
Elements = int
"""A set of a tensor's elements, a bit each: ``|`` joins sets, ``& ~`` takes one from another."""
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
    _known: dict[tuple[int, int, int], list[Range]] = field(default_factory=dict, repr=False)

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

    @cached_property
    def pes(self) -> list[Pe]:
        """Every PE; the first is PE (0, 0)."""
        clusters, each = (range(len(units)) for units in self.places)
        return [(cluster, place) for cluster in clusters for place in each]

    def is_first(self, pe: Pe, tensor: str) -> bool:
        """Whether a PE has index 0 along all that a tensor is not coupled to."""
        dims = self.coupled[tensor]
        return all(
            index == 0 or d in dims
            for level, unit in enumerate(pe)
            for d, index in self.places[level][unit].items()
        )

    # ------------------------------------------------------------------ elements

    def elements(self, tensor: str, ranges: tuple[Range, ...]) -> Elements:
        """The elements of a tensor that MACs touch, from their ranges of its coupled dimensions."""
        whole = dict(zip(self.coupled[tensor], (range(*each) for each in ranges), strict=True))
        if tensor != "input":
            return _joined((steps, self.extents[d]) for d, steps in whole.items())
        window = [self._touched(whole[P + axis], whole[R + axis], axis) for axis in range(2)]
        return self._input_elements(whole, window[0], window[1])

    def _input_elements(
        self, plain: dict[int, range], rows: Iterable[int], columns: Iterable[int]
    ) -> Elements:
        """The input elements at the given rows and columns."""
        parts: list[tuple[Iterable[int], int]] = [
            (steps, self.extents[d]) for d, steps in plain.items() if d not in (P, Q, R, S)
        ]
        return _joined([*parts, (rows, self.input_size[0]), (columns, self.input_size[1])])

    def _touched(self, outputs: range, taps: range, axis: int) -> Iterable[int]:
        """Input rows (axis 0) or columns (1) that ranges of outputs and of taps touch."""
        stride, dilation = self.strides[axis], self.dilations[axis]
        rows = {stride * p + dilation * r for p in outputs for r in taps}
        return range(min(rows), max(rows) + 1) if self.box and rows else rows

    @cached_property
    def padding_elements(self) -> Elements:
        """The input elements that lie in the padding."""
        (top, bottom, left, right), (rows, columns) = self.padding, self.input_size
        plain = {d: range(self.extents[d]) for d in self.coupled["input"]}
        inside = self._input_elements(
            plain, range(top, rows - bottom), range(left, columns - right)
        )
        return self._input_elements(plain, range(rows), range(columns)) & ~inside

    def boxed(self, elements: Elements) -> Elements:
        """Input elements with those between their first and last rows, and columns."""
        rows, columns = self.input_size
        indices = [i for i, bit in enumerate(reversed(bin(elements))) if bit == "1"]
        ys = {i // columns % rows for i in indices}
        xs = {i % columns for i in indices}
        window = range(min(ys), max(ys) + 1), range(min(xs), max(xs) + 1)
        rest = {i // (rows * columns) for i in indices}
        return _joined([(rest, 1), (window[0], rows), (window[1], columns)])

    # ------------------------------------------------------------------ steps and tiles

    def width(self, level: int, dim: int) -> int:
        """What all units of a level cover of a dimension in one step."""
        tile = (self.outer_tiles, self.inner_tiles)[level][dim]
        return tile * self.spread[level].get(dim, 1)

    def outer_counters(self) -> Iterator[Counters]:
        """The outer steps."""
        return self._counters(0, self.extents)

    def inner_counters(self, tile: Tile) -> Iterator[Counters]:
        """The inner steps of an outer step in which cluster 0 holds `tile`."""
        return self._counters(1, [high - low for low, high in tile])

    def _counters(self, level: int, spans: Iterable[int]) -> Iterator[Counters]:
        counts = [ceil_div(span, self.width(level, d)) for d, span in enumerate(spans)]
        order = self.orders[level]
        places = [order.index(d) for d in range(len(order))]
        for values in product(*(range(counts[d]) for d in order)):
            yield tuple(values[place] for place in places)

    def cluster_tiles(self, outer: Counters) -> list[Tile]:
        """The tile of every cluster in an outer step; empty where nothing is left for it."""
        return list(zip(*(self._cluster_ranges(d, i) for d, i in enumerate(outer)), strict=True))

    def pe_tiles(self, outer: Counters, inner: Counters) -> dict[Pe, Tile]:
        """The tile of every PE in a step; a range with nothing left is empty."""
        ranges = (self._pe_ranges(d, *at) for d, at in enumerate(zip(outer, inner, strict=True)))
        return dict(zip(self.pes, zip(*ranges, strict=True), strict=True))

    def _cluster_ranges(self, dim: int, outer: int) -> list[Range]:
        """What each cluster has of a dimension at an outer counter."""
        tile, start = self.outer_tiles[dim], outer * self.width(0, dim)
        lows = [start + place.get(dim, 0) * tile for place in self.places[0]]
        return [(low, max(low, min(low + tile, self.extents[dim]))) for low in lows]

    def _pe_ranges(self, dim: int, outer: int, inner: int) -> list[Range]:
        """What each PE has of a dimension at an outer and an inner counter."""
        key = dim, outer, inner
        found = self._known.get(key)
        if found is None:
            tile, start = self.inner_tiles[dim], inner * self.width(1, dim)
            steps = [start + place.get(dim, 0) * tile for place in self.places[1]]
            found = self._known[key] = [
                (low + step, max(low + step, min(low + step + tile, high)))
                for low, high in self._cluster_ranges(dim, outer)
                for step in steps
            ]
        return found


def _joined(parts: Iterable[tuple[Iterable[int], int]]) -> Elements:
    """The elements whose indices are all combinations of the given ones, the last running fastest.

    Args:
        parts: Indices along each axis, and how many there are along it in all.
    """
    found, span = 1, 1
    for indices, size in reversed(list(parts)):
        block, found = found, 0
        for index in indices:
            found |= block << index * span
        span *= size
    return found


def ceil_div(a: int, b: int) -> int:
    """Quotient rounded up."""
    return -(-a // b)


def tile_size(tile: Tile) -> int:
    """MACs of a tile."""
    return math.prod([high - low for low, high in tile])
