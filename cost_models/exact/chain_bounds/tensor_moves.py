"""How often tensors move over the loops of a memory, given those around it."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import ChainNode, Class, LastMove, TileOptions
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.pieces import number
from cost_models.exact.chain_bounds.spread import WINDOWS
from cost_models.exact.nest import INPUT
from marl_common import FloatArray


class TensorMoves:
    """Moves of one spread.

    Args:
        tables: Its tiles.
        classes: Orders of loops that differ.
    """

    def __init__(self, tables: OptionTables, classes: list[Class]) -> None:
        self.tables, self.classes = tables, classes
        self.spread, self.togo, self.facts = tables.spread, tables.togo, tables.facts
        self.dims = tables.dims

    def state(self, options: list[TileOptions], kind: Class, tensor: int) -> tuple[bool, Any]:
        """Whether all loops of the memory count for a tensor, and whether any of its own run."""
        e = kind[0]
        if e < 0:
            return False, False
        if e in self.tables.own[tensor]:
            return True, True
        anchored: Any = False
        for place in self.tables.own[tensor]:
            anchored = anchored | self.tables.axis(place, options[place].iterates)
        return False, anchored

    def _rounds(self, m: int, place: int, o: TileOptions, keeper: int) -> FloatArray:
        units = self.spread.units(keeper, m, self.dims[place])
        return np.maximum(o.steps, np.ceil(o.many / units))

    def _around_rounds(self, m: int, place: int, node: ChainNode, keeper: int) -> float:
        """Rounds of the memory around."""
        keeper = min(keeper, m - 1)
        units = self.spread.units(keeper, m - 1, self.dims[place])
        return max(number(node.lead[place]), -(-number(node.pieces[place]) // units))

    def moves(self, node: ChainNode, options: list[TileOptions], kind: Class, tensor: int) -> Any:
        """Reads, share, fills and rows of a tensor whose taker is the next memory or one inside.

        Last come reads and fills of all of it: those of the share that moves more rarely.
        """
        m = node.depth + 1
        keeper, free = self.facts.keeper(tensor, m), self.tables.free[tensor]
        counted, anchored = self.state(options, kind, tensor)
        held = node.held[tensor]
        sure = self.sure(node, options, tensor)
        if counted:
            e = kind[0]
            reads: Any = 1.0
            fills: Any = 1.0
            for p in free:
                reads = reads * self.tables.axis(p, self._rounds(m, p, options[p], keeper))
                fills = fills * self.tables.axis(p, options[p].many)
            share: Any = self.tables.axis(e, options[e].share)
            if tensor == INPUT and kind[1] == e:
                share = 1.0  # rows know where the loop runs
            rows: Any = ((1.0, 1.0), ())
            if tensor == INPUT:
                rows = self._rows(node, options, kind, keeper, reads)
            return reads, share, fills, rows, sure
        passed, passing = self._passing(node, options, tensor, held)
        staying = self._first(node, options, free, [node.pieces[p] for p in free])
        before = math.prod(self._around_rounds(m, p, node, keeper) for p in free)
        share = self._best_share(options, kind, tensor)
        rows = ((1.0, 1.0), ())
        if tensor == INPUT:
            (y, x), own = self._rows(node, options, kind, keeper, before)
            rows = (
                (np.where(anchored, y, held.rows[0]), np.where(anchored, x, held.rows[1])),
                own,
            )
        return (
            np.where(anchored, before, passed),
            np.where(anchored, share, held.share),
            np.where(anchored, staying, passing),
            rows,
            sure,
        )

    def sure(self, node: ChainNode, options: list[TileOptions], tensor: int) -> tuple[float, Any]:
        """Reads and fills of all of a tensor, at least."""
        return self._passing(node, options, tensor, node.sure[tensor])

    def _passing(
        self, node: ChainNode, options: list[TileOptions], tensor: int, last: LastMove
    ) -> tuple[float, Any]:
        """Reads and fills of what moves only when it moved into the memory around."""
        m, free = node.depth + 1, self.tables.free[tensor]
        passed = last.reads
        if self.facts.keeper(tensor, m) == m - 1:
            passed = max(passed, math.prod(number(source) for source in last.fills))
        return passed, self._first(node, options, free, last.fills)

    def _first(
        self, node: ChainNode, options: list[TileOptions], free: list[int], sources: Any
    ) -> Any:
        """Instances that the first step of each piece of the memory around fills, along `free`."""
        m, found = node.depth + 1, 1.0
        for p, source in zip(free, sources, strict=True):
            around = int(self.togo.tiles.values[p][node.around[p]])
            counts = self.tables.first_counts(m, p, source, around, options[p].tile)
            found = found * self.tables.axis(p, counts)
        return found

    def _best_share(self, options: list[TileOptions], kind: Class, tensor: int) -> Any:
        """The share of a tensor that moves when the loops around do, at least."""
        halos = [h for _, h in self.classes if h >= 0]
        share: Any = 0.0
        for p in self.tables.own[tensor]:
            if tensor == INPUT and p in halos and p != kind[1]:
                continue
            share = np.maximum(
                share, self.tables.axis(p, np.where(options[p].iterates, options[p].share, 0.0))
            )
        return share

    def _rows(
        self, node: ChainNode, options: list[TileOptions], kind: Class, keeper: int, reads: Any
    ) -> Any:
        """Rows and columns of the input that are read, and that are written into all instances."""
        m = node.depth + 1
        read: list[Any] = []
        fill: list[Any] = []
        for window, (d, _) in enumerate(WINDOWS):
            n = self.spread.extents[d]
            if d not in self.dims:
                read.append(self.spread.rows(keeper, window, 1.0, n))
                fill.append(self.spread.rows(m, window, 1.0, n))
                continue
            place = self.dims.index(d)
            o = options[place]
            counts = self._rounds(m, place, o, keeper)
            read.append(self.tables.axis(place, self.spread.rows(keeper, window, counts, n)))
            fill.append(self.tables.axis(place, self.spread.rows(m, window, o.many, n)))
        for window, (d, _) in enumerate(WINDOWS):
            if kind[1] < 0 or self.dims[kind[1]] != d:
                continue
            o, other = options[kind[1]], 1 - window
            kept, back = self._kept(node, o, window, keeper)
            # what the tile before the run holds, it does not when the run is the first of all
            once = self.spread.rows(keeper, other, 1.0, self.spread.extents[WINDOWS[other][0]])
            kept = self.tables.axis(kind[1], kept)
            kept = kept + self.tables.axis(kind[1], back) * once / (read[other] * reads)
            iterates = self.tables.axis(kind[1], o.iterates)
            read[window] = np.where(iterates, np.minimum(kept, read[window]), read[window])
            fill[window] = np.where(iterates, np.minimum(read[window], fill[window]), fill[window])
        return (read[0], read[1]), (fill[0], fill[1])

    def _kept(
        self, node: ChainNode, o: TileOptions, window: int, keeper: int
    ) -> tuple[FloatArray, FloatArray]:
        """Rows that are read where neighbours keep what they share, at least.

        Returns:
            All rows where the loop runs but those that the tile before a run may hold; and those
            that come once at least: what it may hold of one run, and rows where no loop runs.
        """
        d, taps = WINDOWS[window]
        outer = number(node.lead[self.dims.index(d)]) > 1
        total: Any = np.zeros(len(o.tile))
        held: Any = np.zeros(len(o.tile))
        stride = self.facts.stride(d)
        for some, times in self.spread.pieces(keeper, taps):
            more, halo = self.facts.more(d, some), self.facts.halo(d, some)
            back = np.full(len(o.tile), float(halo))
            if not outer:
                back = np.maximum(0.0, halo - stride * np.maximum(o.apart, 0.0))
            length = o.share * self.spread.extents[d]
            rows = more * length + (some - more) * o.runs
            left = np.maximum(rows - back * o.runs, 0.0)
            total = total + times * left
            held = held + times * np.where(o.runs > 0, np.minimum(back, rows - left), 0.0)
            held = held + times * more * (self.spread.extents[d] - length)
        return total, held

    def frozen(
        self, node: ChainNode, options: list[TileOptions], kind: Class, tensor: int, after: Any
    ) -> tuple[LastMove, LastMove]:
        """How a tensor moved last after one choice, most of it and all of it."""
        reads, share, _, rows, (passed, _) = after["moves"][tensor]
        one = [float(np.asarray(x).ravel()[0]) for x in (reads, share, *rows)]
        counted, anchored = self.state(options, kind, tensor)
        anchored = bool(np.asarray(anchored).ravel()[0])
        held, sure = node.held[tensor].fills, node.sure[tensor].fills
        fills, all_fills = [], []
        for place, last, of_all in zip(self.tables.free[tensor], held, sure, strict=True):
            tile = int(options[place].tile[0])
            around = int(self.togo.tiles.values[place][node.around[place]])
            first = partial(self.tables.first_count, node.depth + 1, place)
            all_fills.append(first(of_all, around, tile))
            if counted:
                fills.append(options[place].pieces[0])
            else:
                fills.append(first(node.pieces[place] if anchored else last, around, tile))
        move = LastMove(one[0], one[1], tuple(fills), (one[2], one[3]))
        if (counted or anchored) and move.share == 1.0 and (tensor != INPUT or kind[1] < 0):
            return move, move
        return move, LastMove(passed, 1.0, tuple(all_fills), (1.0, 1.0))
