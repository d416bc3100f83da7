"""How often tensors move over the loops of a memory, given those around it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import ChainNode, Class, LastMove, TileOptions
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.pieces import number, of_first
from cost_models.exact.chain_bounds.spread import WINDOWS
from cost_models.exact.nest import INPUT
from marl_common import FloatArray


class TensorMoves:
    """Moves of one spread.

    Args:
        tables: Its tiles.
    """

    def __init__(self, tables: OptionTables) -> None:
        self.tables = tables
        self.spread, self.togo, self.facts = tables.spread, tables.togo, tables.facts
        self.dims = tables.dims

    def state(self, options: list[TileOptions], tensor: int) -> tuple[Any, Any]:
        """Whether all loops of the memory count for a tensor, and whether any of its own run."""
        counted = self.tables.is_loop(self.tables.own[tensor])
        runs: Any = False
        for place in self.tables.own[tensor]:
            runs = runs | self.tables.axis(place, options[place].iterates)
        return counted, counted | (runs & (self.tables.loops >= 0))

    def _rounds(self, m: int, place: int, o: TileOptions, keeper: int) -> FloatArray:
        units = self.spread.units(keeper, m, self.dims[place])
        return np.maximum(o.steps, np.ceil(o.many / units))

    def _around_rounds(self, m: int, place: int, node: ChainNode, keeper: int) -> float:
        """Rounds of the memory around."""
        keeper = min(keeper, m - 1)
        units = self.spread.units(keeper, m - 1, self.dims[place])
        return max(number(node.lead[place]), -(-number(node.pieces[place]) // units))

    def moves(self, node: ChainNode, options: list[TileOptions], tensor: int) -> Any:
        """Reads, share, fills and rows of a tensor whose taker is the next memory or one inside.

        Last come reads and fills of all of it: those of the share that moves more rarely.
        """
        m, held = node.depth + 1, node.held[tensor]
        keeper, free = self.facts.keeper(tensor, m), self.tables.free[tensor]
        counted, anchored = self.state(options, tensor)
        passed, passing = self._passing(node, options, tensor, held)
        alike = node.sure[tensor] is held
        sure = (passed, passing) if alike else self.sure(node, options, tensor)
        reads: Any = math.prod(self._around_rounds(m, p, node, keeper) for p in free)
        fills: Any = self._first(node, options, free, [node.pieces[p] for p in free])
        share: Any = self._best_share(options, tensor)
        if counted.any():
            steps = self.tables.product(free, lambda p: self._rounds(m, p, options[p], keeper))
            pieces = self.tables.product(free, lambda p: options[p].many)
            reads, fills = np.where(counted, steps, reads), np.where(counted, pieces, fills)
            runs = self.tables.of_loop(o.share for o in options)
            if tensor == INPUT:  # rows know where the loop runs
                runs = np.where(self.tables.loops == self.tables.windows, 1.0, runs)
            share = np.where(counted, runs, share)
        rows: Any = ((1.0, 1.0), ())
        if tensor == INPUT:
            given, own = self._rows(node, options, keeper, reads)
            rows = tuple(np.where(anchored, *both) for both in zip(given, held.rows, strict=True))
            rows = rows, own
        return (
            np.where(anchored, reads, passed),
            np.where(anchored, share, held.share),
            np.where(anchored, fills, passing),
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
            stages = self.spread.stages(m, self.dims[p])
            counts = self.tables.first_counts(source, around, stages, options[p].tile)
            found = found * self.tables.axis(p, counts)
        return found

    def _best_share(self, options: list[TileOptions], tensor: int) -> Any:
        """The share of a tensor that moves when the loops around do, at least."""
        share: Any = 0.0
        for p in self.tables.own[tensor]:
            runs = self.tables.axis(p, np.where(options[p].iterates, options[p].share, 0.0))
            if tensor == INPUT and p in self.togo.halos:
                runs = np.where(self.tables.windows == p, runs, 0.0)
            share = np.maximum(share, runs)
        return share

    def _rows(self, node: ChainNode, options: list[TileOptions], keeper: int, reads: Any) -> Any:
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
            place = self.dims.index(d) if d in self.dims else len(self.dims)
            mine = self.tables.windows == place
            if not mine.any():
                continue
            o, other = options[place], 1 - window
            mine = mine & self.tables.axis(place, o.iterates)
            kept, back = self._kept(node, o, window, keeper)
            # what the tile before the run holds, it does not when the run is the first of all
            once = self.spread.rows(keeper, other, 1.0, self.spread.extents[WINDOWS[other][0]])
            kept = self.tables.axis(place, kept)
            kept = kept + self.tables.axis(place, back) * once / (read[other] * reads)
            read[window] = np.where(mine, np.minimum(kept, read[window]), read[window])
            fill[window] = np.where(mine, np.minimum(read[window], fill[window]), fill[window])
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
        self, node: ChainNode, options: list[TileOptions], kind: Class, tensor: int, moves: Any,
        state: tuple[bool, bool],
    ) -> tuple[LastMove, LastMove]:  # fmt: skip
        """How a tensor moved last after one choice, most of it and all of it."""
        reads, share, _, given, (passed, _) = moves
        counted, anchored = state
        held, sure = node.held[tensor].fills, node.sure[tensor].fills
        fills, all_fills = [], []
        for place, last, of_all in zip(self.tables.free[tensor], held, sure, strict=True):
            tile = int(options[place].tile[0])
            around = int(self.togo.tiles.values[place][node.around[place]])
            stages = self.spread.stages(node.depth + 1, self.dims[place])
            all_fills.append(of_first(of_all, around, stages, tile))
            if counted:
                fills.append(options[place].pieces[0])
            else:
                mine = node.pieces[place] if anchored else last
                fills.append(of_first(mine, around, stages, tile))
        move = LastMove(reads, share, tuple(fills), given)
        if anchored and share == 1.0 and (tensor != INPUT or kind[1] < 0):
            return move, move
        return move, LastMove(passed, 1.0, tuple(all_fills), (1.0, 1.0))
