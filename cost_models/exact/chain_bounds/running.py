"""The share of a dimension that a memory's loop runs over, where pieces around may be smaller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import ChainTiles
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.spread import ChainSpread
from marl_common import BoolArray, FloatArray, IntArray

EXACT, MOST = 3, 1 << 20
"""Memories of which all pieces that there may be are listed, where they are so many numbers at
most; of others those of one whole tile around are, and the share of the dimension in such tiles."""


class Around:
    """What is known of the pieces around a memory's tiles.

    Args:
        pieces: By dimension lengths of pieces and their numbers, ``(tiles around, kinds)`` each;
            None where nothing is: tiles further out may be any.
    """

    def __init__(self, pieces: Sequence[tuple[IntArray, IntArray]] | None = None) -> None:
        self.pieces = pieces
        self.shares: dict[Any, FloatArray] = {}
        """What is found of them."""


ANY = Around()
"""Nothing is known."""


class MemoryPieces(NamedTuple):
    """Pieces that a memory may have along a dimension.

    Args:
        lengths: ``(cases, tiles, kinds)`` lengths.
        counts: ``(cases, tiles, kinds)`` how many there are of each.
        possible: ``(cases, tiles)`` whether there is such a tile.
        weight: ``(cases,)`` what share of the dimension a unit of length stands for, at least.
    """

    lengths: IntArray
    counts: IntArray
    possible: BoolArray
    weight: FloatArray


class RunningShares:
    """Shares of one spread, by tile.

    A loop that runs in a whole piece may not in a smaller last one. Tiles further out decide which
    pieces there are; of all that they may be, those count that leave the least.

    Args:
        spread: The spread.
        tiles: The tiles.
    """

    def __init__(self, spread: ChainSpread, tiles: ChainTiles) -> None:
        self.spread, self.values, self._found = spread, tiles.values, tiles.shares

    def shares(self, m: int, place: int, around: Around) -> FloatArray:
        """``(around, tiles)`` share of a dimension in pieces that a loop runs over, at least.

        Args:
            m: The memory, 2 or more.
            place: The dimension's place.
            around: What is known of the pieces around.
        """
        known = around.shares if around.pieces else self._found
        stages, values = self.spread.stages(m, self.spread.dims[place]), self.values[place]
        key = (*self._key(m - 1, place), stages)
        if key not in known:
            cases = None if around.pieces else self._pieces(m - 1, place)
            pieces = around.pieces[place] if around.pieces else self._pieces(m - 1, place)[:2]
            lengths, counts = _share_out(*pieces, values, stages[:-1])
            sizes, reach = lengths * counts, stages[-1] * values
            if cases is None:
                known[key] = ((lengths[..., None] > reach) * sizes[..., None]).sum(-2) / values[-1]
            else:
                parts = ((lengths > step) * sizes for step in reach)
                known[key] = np.stack([_least(part.sum(-1), cases) for part in parts], axis=1)
        return known[key]

    def _key(self, m: int, place: int) -> tuple[Any, ...]:
        """What the pieces of a memory depend on, besides tiles."""
        d = self.spread.dims[place]
        return m, place, *(self.spread.stages(q, d)[:-1] for q in range(1, m + 1))

    def _pieces(self, m: int, place: int) -> MemoryPieces:
        key = *self._key(m, place), "pieces"
        if key not in self._found:
            self._found[key] = self._cut(m, place, *self._around(m, place))
        found: MemoryPieces = self._found[key]
        return found

    def _around(self, m: int, place: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Cases of what is around a memory: lengths, numbers, the tile's place, and weight."""
        values = self.values[place]
        places = np.arange(len(values))
        if m == 1:
            one = np.ones((1, 1), np.int64)
            return one * values[-1], one, places[-1:], 1.0 / values[-1:]
        rows = self._listed(m, place) if m <= EXACT else None
        if rows is None or rows.size * 2 * len(values) > MOST:
            whole = values[:, None]
            return whole, np.ones_like(whole), places, self._whole(m - 1, place) / values
        kinds = rows.shape[-1] // 2
        lengths, sizes = rows[:, 1 : kinds + 1], rows[:, kinds + 1 :]
        counts = sizes // np.maximum(lengths, 1)
        return lengths, counts, rows[:, 0], np.full(len(rows), 1.0 / values[-1])

    def _listed(self, m: int, place: int) -> IntArray:
        """``(cases, 1 + 2 * kinds)`` all that may be around a memory that differs.

        The place of the tile, lengths of its pieces, and how long all of each are.
        """
        lengths, counts, possible, _ = self._pieces(m - 1, place)
        places = np.broadcast_to(np.arange(len(self.values[place])), possible.shape)
        rows = np.concatenate([places[..., None], lengths, lengths * counts], axis=-1)
        found: IntArray = np.unique(rows[possible], axis=0)
        return found

    def _cut(
        self, m: int, place: int, lengths: IntArray, counts: IntArray, tile: IntArray,
        weight: FloatArray,
    ) -> MemoryPieces:  # fmt: skip
        """What is around a memory, in cases, cut into its tiles."""
        d, values = self.spread.dims[place], self.values[place]
        stages = self.spread.stages(m, d)[:-1]
        lengths, counts = _share_out(lengths, counts, values[tile], stages)
        shared = np.array([shared_out(self.spread.spatial, m - 1, d, int(values[t])) for t in tile])
        possible = values[None, :] <= shared[:, None]
        return MemoryPieces(*_cut(lengths[:, None], counts[:, None], values), possible, weight)

    def _whole(self, m: int, place: int) -> FloatArray:
        """``(tiles,)`` share of a dimension in pieces as large as a memory's tile, at least."""
        found = self._pieces(m, place)
        same = (found.lengths == self.values[place][:, None]) * found.lengths * found.counts
        return _least(same.sum(axis=-1), found)


def _share_out(
    lengths: IntArray, counts: IntArray, tile: IntArray, stages: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Pieces, by the tile that they come from, shared out to the units of some fan-outs."""
    for units in stages:
        tile = -(-tile // units)
        lengths, counts = _cut(lengths, counts, tile)
    return lengths, counts


def _cut(lengths: IntArray, counts: IntArray, tile: IntArray) -> tuple[IntArray, IntArray]:
    """Lengths and numbers of pieces cut into tiles, of which the last may be smaller."""
    tile = tile[..., None]
    whole, rest = lengths // tile, lengths % tile
    rest, tile, once = np.broadcast_arrays(rest, tile, counts)
    return np.concatenate([tile, rest], axis=-1), np.concatenate([whole * counts, once], axis=-1)


def _least(parts: IntArray, cases: MemoryPieces) -> FloatArray:
    """What ``(cases, tiles)`` parts are of a dimension, at least over possible cases."""
    shares = np.where(cases.possible, parts * cases.weight[:, None], 1.0)
    found: FloatArray = shares.min(axis=0)
    return found
