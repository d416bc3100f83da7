"""The tiles of a memory along each dimension, given what is around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import ChainNode, TileOptions
from cost_models.exact.chain_bounds.chain_tables import TileAxes
from cost_models.exact.chain_bounds.pieces import (
    Pieces,
    Stages,
    number,
    of_all,
    of_first,
    of_lead,
    share_out,
    steps,
)
from cost_models.exact.chain_bounds.running import Around
from cost_models.exact.chain_bounds.togo import CostsToGo
from marl_common import BoolArray, IntArray

TILE_BYTES = 500
"""What is remembered of a tile, pieces and their sizes, takes about so much."""


class OptionTables(TileAxes):
    """Tiles of one spread, remembered by what is around them.

    Args:
        togo: Tables of the spread.
    """

    def __init__(self, togo: CostsToGo) -> None:
        self.spread, self.togo, self.facts, self.dims = togo.spread, togo, togo.facts, togo.dims
        self.cells: tuple[IntArray, ...] | None = None
        """Vectors of tiles that are looked at, by dimension; None for all."""
        self.kinds = np.empty((0, 2), np.int64)
        """The class of orders that each of them is looked at with."""
        self.free, self.own = togo.free, togo.own
        self._sizes: dict[int, Any] = {}
        self._options: dict[Any, TileOptions] = {}
        self._counts: dict[Any, IntArray] = {}

    @property
    def held_bytes(self) -> int:
        """Memory of what is remembered, about."""
        sizes = sum(np.asarray(size).nbytes for row in self._sizes.values() for size in row)
        tiles = sum(len(found.at) for found in self._options.values())
        tiles += sum(map(len, self._counts.values()))
        return sizes + TILE_BYTES * tiles

    def options(self, node: ChainNode) -> list[TileOptions]:
        """Tiles of the next memory along each dimension."""
        return [self._of(node, place) for place in self.togo.places]

    def _of(self, node: ChainNode, place: int) -> TileOptions:
        m = node.depth + 1
        key = (m, place, node.around[place], node.pieces[place], node.lead[place])
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = self._make(m, place, node)
        return found

    def _make(self, m: int, place: int, node: ChainNode) -> TileOptions:
        d, values = self.dims[place], self.togo.tiles.values[place]
        around, stages = int(values[node.around[place]]), self.spread.stages(m, d)
        before, shared = share_out(node.pieces[place], around, stages)
        at = self._offered(m, place, node.around[place], shared)
        tiles = values[at]
        each = tiles.tolist()
        pieces = [of_all(node.pieces[place], around, stages, tile) for tile in each]
        lead = [of_lead(node.lead[place], around, stages, tile) for tile in each]
        first = [tuple((min(n, tile), c) for n, c in node.lead[place]) for tile in each]
        inside, step = self.spread.inside(m, d), stages[-1] * tiles
        lengths, counts = np.array(before).T[..., None]
        runs = (lengths > step) * counts
        length = (runs * lengths).sum(axis=0)
        return TileOptions(
            at=at,
            tile=tiles,
            many=np.array([number(some) for some in pieces], np.float64),
            steps=np.array([number(some) for some in lead], np.float64),
            iterates=step < shared,
            share=length / self.spread.extents[d],
            runs=runs.sum(axis=0),
            apart=((-(-shared // step) - 1) * step - tiles).astype(np.float64),
            turns=np.array([steps(some, inside) for some in lead], np.float64),
            each=np.array([steps(some, inside) for some in pieces], np.float64),
            firsts=np.array([steps(some, inside) for some in first], np.float64),
            front=step * runs.sum(axis=0) / np.maximum(length, 1),
            pieces=pieces,
            lead=lead,
        )

    def _offered(self, m: int, place: int, around: int, shared: int) -> IntArray:
        """Places of the tiles of a memory; one as large as what is `shared` stands for larger."""
        values, offered = self.togo.tiles.values[place], self.togo.tiles.offered[m][place]
        found = offered | ((values == shared) & (values[offered].max(initial=0) >= shared))
        found[self.togo.reach(m, place)[0][around] + 1 :] = False
        at: IntArray = np.flatnonzero(found)
        if m == 1 and self.togo.wanted is not None:
            at = at[np.isin(at, self.togo.wanted[:, place])]
        return at

    def first_counts(
        self, source: Pieces, around: int, stages: Stages, tiles: IntArray
    ) -> IntArray:
        """How many pieces of first steps there are, by tile: see :func:`of_first`."""
        key = source, around, stages, tiles.tobytes()
        found = self._counts.get(key)
        if found is None:
            each = (of_first(source, around, stages, tile) for tile in tiles.tolist())
            found = self._counts[key] = np.array([number(pieces) for pieces in each])
        return found

    def around(self, options: list[TileOptions]) -> Around:
        """Pieces of tiles, for what is inside them."""
        found = []
        for o, values in zip(options, self.togo.tiles.values, strict=True):
            kinds = max(map(len, o.pieces))
            rows = np.zeros((len(values), kinds, 2), np.int64)
            for at, pieces in zip(o.at, o.pieces, strict=True):
                rows[at, : len(pieces)] = pieces
            found.append((rows[..., 0], rows[..., 1]))
        return Around(found)

    def look_at(self, cells: Sequence[IntArray], kinds: IntArray) -> None:
        """Look at vectors of tiles, each with an order of loops.

        Args:
            cells: By dimension, ``(N,)`` which of its tiles.
            kinds: ``(N, 2)`` classes of orders.
        """
        self.cells, self.kinds = tuple(cells), kinds
        self.loops, self.windows = kinds.T

    def of_loop(self, columns: Iterable[Any]) -> Any:
        """Values of the innermost loops that iterate, of the columns of all dimensions."""
        values = [self.axis(place, column) for place, column in enumerate(columns)]
        return np.choose(self.loops, values, mode="wrap")

    def is_loop(self, places: list[int]) -> BoolArray:
        """Whether innermost loops that iterate are among those of some dimensions."""
        among = np.zeros(len(self.dims) + 1, np.bool_)  # the last one for no loop
        among[places] = True
        found: BoolArray = among[self.loops]
        return found

    def at(self, options: list[TileOptions]) -> Any:
        """Where tiles stand in tables."""
        if self.cells is not None:
            return tuple(o.at[cell] for o, cell in zip(options, self.cells, strict=True))
        return np.ix_(*(o.at for o in options))

    def axis(self, place: int, values: Any) -> Any:
        """Values along one dimension, as a grid, or of the cells that are looked at."""
        if self.cells is not None:
            return np.asarray(values)[self.cells[place]]
        return super().axis(place, values)

    def fits(self, node: ChainNode, options: list[TileOptions]) -> Any:
        """Whether tiles fit the memory, beside those of its entries around that are chosen."""
        m, facts = node.depth + 1, self.facts
        found = np.isfinite(self.togo.fits(m)[self.at(options)])
        entries = [q for q in range(1, m + 1) if facts.memories[q] is facts.memories[m]]
        if len(entries) == 1:
            return found
        sizes: list[Any] = [0.0] * 3
        for q in entries:
            for t in range(3):
                if facts.keeps[q][t]:
                    sizes[t] = self.elements(m, options, t) if q == m else self._size(q, node, t)
        for room in facts.rooms[m]:
            found = found & (sum(map(mul, room.widths, sizes)) <= room.bits)
        return found

    def _size(self, m: int, node: ChainNode, tensor: int) -> float:
        """Elements of a tensor's tile that is chosen."""
        one = tuple(slice(at, at + 1) for at in node.tiles[m - 1])
        return float(np.broadcast_to(self._sizes_of(m)[tensor], self.togo.shape)[one].item())

    def elements(self, m: int, options: list[TileOptions], tensor: int) -> Any:
        """Elements of a tensor's tile."""
        at = self.at(options)
        return np.broadcast_to(self._sizes_of(m)[tensor], self.togo.shape)[at]

    def _sizes_of(self, m: int) -> Any:
        if m not in self._sizes:
            self._sizes[m] = self.togo.elements(m)
        return self._sizes[m]
