"""Tiles of one memory after another: the choices that may be below a value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import (
    ChainChoices,
    ChainNode,
    Class,
    LastMove,
    TileOptions,
)
from cost_models.exact.chain_bounds.choice_costs import ChoiceCosts
from cost_models.exact.chain_bounds.spread import WINDOWS
from cost_models.exact.nest import OUTPUT
from marl_common import FloatArray, IntArray

AT_ONCE = 1 << 14
"""Choices that are bounded together; arrays of so many stay in a cache."""


class ChainBrancher(ChoiceCosts):
    """Choices of one spread, from the outermost memory inwards: see :class:`ChoiceCosts`."""

    bounded = 0
    """Vectors of tiles that were bounded."""
    frontier: Any = None
    """What all spreads reach, see :class:`Frontier`; None where that is not known."""

    def root(self) -> ChainNode:
        """Nothing is chosen."""
        spread, facts = self.spread, self.facts
        outputs = float(spread.whole(OUTPUT))
        whole = [((spread.extents[d], 1),) for d in self.dims]
        rows = tuple(
            spread.rows(0, window, 1.0, spread.extents[d]) for window, (d, _) in enumerate(WINDOWS)
        )
        held = [
            LastMove(1.0, 1.0, tuple(whole[p] for p in self.togo.free[t]), rows) for t in range(3)
        ]
        return ChainNode(
            (),
            (),
            tuple(len(v) - 1 for v in self.togo.tiles.values),
            tuple(whole),
            tuple(whole),
            facts.mac_energy + facts.prices[0].write.output * outputs,
            (0, outputs),
            (held[0], held[1], held[2]),
            (held[0], held[1], held[2]),
            ((0.0, 0.0, 0.0),) * (facts.depth + 1),
        )

    @cached_property
    def least_turns(self) -> float:
        """MAC steps of the whole layer, at least, with tiles that all memories have room for."""
        return float(self.togo.least_turns() * self.spread.lead_turns() / self.facts.chip.lanes)

    def reaches(self, below: float) -> tuple[IntArray, FloatArray]:
        """Choices of the first memory that may be below a value.

        Returns:
            ``(N, dims)`` places of tiles; ``(3, N)`` energy but for leakage [nJ], cycles, and
            cycles of DRAM's loads, at least.
        """
        node = self.root()
        options = self._options(node, below)
        self.combine(options)
        tiles = [np.empty((0, len(options)), np.int64)]  # where none has room
        figures = [np.empty((3, 0))]
        for bound, after in self._bounds(node, options):
            may = bound < below
            off = len(after["ports"])
            each = after["energy"] + after["rest"], after["cycles"] - off, after["loads"] - off
            tiles.append(np.stack(self.tables.at(options), axis=1)[may])
            figures.append(np.array([np.broadcast_to(one, may.shape)[may] for one in each]))
        self.tables.cells = None
        return np.concatenate(tiles), np.concatenate(figures, axis=1)

    def first_turns(self, tiles: IntArray) -> FloatArray:
        """Cycles of MACs in the first memory's first step, by ``(N, dims)`` places of tiles."""
        values = self.togo.tiles.values
        self.tables.cells = tuple(tiles.T)
        found: FloatArray = np.ceil(self.time.first_turns(values) - 1e-9)
        self.tables.cells = None
        return found

    def slower_than(self, cycles: float) -> None:
        """Leave out tiles whose MAC steps take longer."""
        self.togo.slowest = cycles * self.facts.chip.lanes / self.spread.lead_turns()

    # -------------------------------------------------------------- one choice of loops

    def children(self, node: ChainNode, below: float) -> ChainChoices:
        """All choices of the next memory whose bounds are below a value."""
        options = self._options(node, below)
        assert self.tables.cells is not None
        self.bounded += len(self.tables.cells[0])
        rows = np.flatnonzero(self.floor(node, options) < below)
        self.tables.cells = tuple(cell[rows] for cell in self.tables.cells)
        classes = self.combine(options)
        rows, bounds = self._keep(node, options, below)
        if len(rows) and 0 < node.depth < self.facts.depth - 1:
            classes = classes[rows]
            self._look_beside(node, options)
            rows, bounds = self._keep(node, options, below)
            self.beside = {}
        tiles = np.stack(self.tables.at(options), axis=1)
        self.tables.cells = None
        order = np.argsort(bounds, kind="stable")
        return ChainChoices(classes[rows][order], tiles[order], bounds[order])

    def _keep(
        self, node: ChainNode, options: list[TileOptions], below: float
    ) -> tuple[IntArray, FloatArray]:
        """Go on with the choices below a value: which they are, and their bounds."""
        found = np.concatenate([[], *(bound for bound, _ in self._bounds(node, options))])
        rows, tables = np.flatnonzero(found < below), self.tables
        assert tables.cells is not None
        tables.look_at([cell[rows] for cell in tables.cells], tables.kinds[rows])
        return rows, found[rows]

    def _bounds(
        self, node: ChainNode, options: list[TileOptions]
    ) -> Iterator[tuple[FloatArray, Any]]:
        """Bounds of some choices after others, which are looked at meanwhile."""
        tables = self.tables
        assert tables.cells is not None
        cells, kinds = tables.cells, tables.kinds
        for first in range(0, len(kinds), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            tables.look_at([cell[some] for cell in cells], kinds[some])
            yield self.bound(node, options)
        tables.look_at(cells, kinds)

    def _look_beside(self, node: ChainNode, options: list[TileOptions]) -> None:
        """Work out tables of the tiles that are looked at, whose pieces are known."""
        places = tuple(np.unique(at) for at in self.tables.at(options))
        around = self.tables.around(options)
        tables = [self.togo, *self.time.filled]
        self.beside = {t: t.beside(node.depth + 1, around, places) for t in tables}

    def _options(self, node: ChainNode, below: float) -> list[TileOptions]:
        """Tiles of the next memory; of their vectors those that may be below a value are chosen."""
        options = self.tables.options(node)
        if node.depth == 0 and self.frontier is not None:
            tiles = self.frontier.tiles(self, below)
            places = [np.searchsorted(o.at, at) for o, at in zip(options, tiles.T, strict=True)]
            offered = np.all([o.at[np.minimum(place, len(o.at) - 1)] == at for o, place, at in
                              zip(options, places, tiles.T, strict=True)], axis=0)  # fmt: skip
            self.tables.cells = tuple(place[offered] for place in places)
            fits = self.tables.fits(node, options)
            self.tables.cells = tuple(place[fits] for place in self.tables.cells)
            return options
        self.tables.cells = np.nonzero(self.tables.fits(node, options))
        return options

    @property
    def table_cells(self) -> int:
        """Vectors of tiles of all memories inside the outermost one."""
        return math.prod(self.togo.shape) * max(self.facts.depth - 1, 0)

    def child(self, node: ChainNode, kind: Class, tiles: Any) -> ChainNode:
        """The node of one choice."""
        return self.nodes(node, [kind], np.array([tiles]))[0]

    def nodes(self, node: ChainNode, kinds: list[Class], tiles: IntArray) -> list[ChainNode]:
        """The nodes of some choices.

        Args:
            node: The node around them.
            kinds: Their classes of orders.
            tiles: ``(N, dims)`` places of their tiles.
        """
        options = self.tables.options(node)
        cells = [np.searchsorted(o.at, at) for o, at in zip(options, tiles.T, strict=True)]
        self.tables.look_at(cells, np.array(kinds))
        after = self.after(node, options)
        states = [self.moves.state(options, t) for t in range(3)]
        found = []
        for row, (kind, places) in enumerate(zip(kinds, tiles.tolist(), strict=True)):
            mine = [o.one(int(cell[row])) for o, cell in zip(options, cells, strict=True)]
            known = of_row(after, row)
            moves = [
                self.moves.frozen(node, mine, kind, t, known["moves"][t], of_row(states[t], row))
                for t in range(3)
            ]
            held, sure = zip(*moves, strict=True)
            found.append(
                ChainNode(
                    (*node.tiles, tuple(places)),
                    (*node.classes, kind),
                    tuple(places),
                    tuple(o.pieces[0] for o in mine),
                    tuple(o.lead[0] for o in mine),
                    known["energy"],
                    known["sums"],
                    held,
                    sure,
                    known["ports"],
                    known["start"],
                    known["waits"],
                )
            )
        self.tables.cells = None
        return found

    def fill(self) -> None:
        """Work out tables of MAC steps and of energy."""
        self.time.turns = self.togo.turns()
        self.togo.fill()

    def fill_all(self) -> None:
        """Work out tables of MAC steps, energy and ports."""
        self.fill()
        self.time.fill_ports()

    def fill_ports(self) -> None:
        """Work out tables of what ports take that have a limit, and those of energy by parts."""
        if not self.time.turns:
            self.time.turns = self.togo.turns()
        self.togo.by_parts = True
        self.togo.fill()
        self.time.fill_ports()


def of_row(values: Any, row: int) -> Any:
    """One row of arrays, or of containers of them; numbers as they are."""
    if isinstance(values, dict):
        return {name: of_row(value, row) for name, value in values.items()}
    if isinstance(values, tuple | list):
        return tuple(of_row(value, row) for value in values)
    return values if np.ndim(values) == 0 else values[row].item()
