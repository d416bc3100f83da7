"""Sets of tensor elements as integers, a bit for each element: ``|`` joins, ``& ~`` takes away."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cost_models.exact.nest import INPUT, Nest, P, Q, R, S, Window

Tile = tuple[range, ...]
Elements = int


class Touched:
    """Elements that tiles of a nest's MACs touch.

    Args:
        nest: The nest.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        n = nest.extents
        self._windows = [
            (w, w.stride * (n[p] - 1) + w.dilation * (n[r] - 1) + 1, p, r)
            for w, (p, r) in zip(nest.windows, ((P, R), (Q, S)), strict=True)
        ]
        self._memo: list[dict[Tile, Elements]] = [{}, {}, {}]
        whole = tuple(map(range, n))
        real = [w.real or (0, size) for w, size, _, _ in self._windows]
        self._real = self._joined(INPUT, whole, [range(*rows) for rows in real])

    def of(self, tensor: int, tile: Tile) -> Elements:
        """Elements of a tensor that the MACs of a tile touch; of a box the rows between, too."""
        key = tuple([tile[d] for d in self.nest.coupled[tensor]])
        found = self._memo[tensor].get(key)
        if found is None:
            rows = [rows_of(w, tile[p], tile[r]) for w, _, p, r in self._windows]
            found = self._memo[tensor][key] = self._joined(tensor, tile, rows)
        return found

    def counted(self, tensor: int, elements: Elements) -> Elements:
        """Elements that are traffic: padding is none where it is free."""
        return elements & self._real if tensor == INPUT else elements

    def _joined(self, tensor: int, tile: Tile, rows: list[Iterable[int]]) -> Elements:
        windowed = (P, Q, R, S) if tensor == INPUT else ()
        axes: list[tuple[Iterable[int], int]] = [
            (tile[d], self.nest.extents[d]) for d in self.nest.coupled[tensor] if d not in windowed
        ]
        if windowed:
            axes += [(found, w[1]) for found, w in zip(rows, self._windows, strict=True)]
        return combined(axes)


def tile_size(tile: Tile) -> int:
    """MACs of a tile."""
    return math.prod(map(len, tile))


def rows_of(window: Window, outputs: range, taps: range) -> Iterable[int]:
    """Input rows that ranges of outputs and of taps touch."""
    rows = {window.stride * p + window.dilation * r for p in outputs for r in taps}
    return range(min(rows), max(rows) + 1) if window.box and rows else rows


def combined(axes: Iterable[tuple[Iterable[int], int]]) -> Elements:
    """Elements whose indices are all combinations of those given along each axis.

    Args:
        axes: Indices along an axis, and how many there are; the last axis runs fastest.
    """
    found, span = 1, 1
    for indices, size in reversed(list(axes)):
        block, found = found, 0
        for index in indices:
            found |= block << index * span
        span *= size
    return found
