"""The model's bounds of one way of spreading units over a chain: all of them that checkers ask."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cost_models import (
    ChainBrancher,
    ChainFacts,
    ChainSpread,
    ChainTiles,
    CostsToGo,
    Frontier,
    WidestSpread,
    chain_facts_of,
)
from layers import DIMS
from maestro_env import Problem
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.chain_grid import ChainGrid
from marl_common import FloatArray, IntArray

Kind = tuple[int, int]
"""The innermost loop that iterates, and the first inside over rows or columns; -1 for none."""
Tiles = tuple[int, ...]
"""Of one memory, along each tiled dimension."""


class Children(NamedTuple):
    """Choices of the next memory: ``(n, 2)`` kinds, ``(n, dims)`` tiles, and ``(n,)`` bounds."""

    kinds: IntArray
    tiles: IntArray
    bounds: FloatArray

    def at(self, row: int) -> tuple[Kind, Tiles]:
        """One of them."""
        innermost, window = self.kinds[row].tolist()
        return (innermost, window), tuple(self.tiles[row].tolist())


class ModelBounds:
    """Bounds of a problem's ways.

    Args:
        problem: The problem.
        grid: What its space offers.
        figures: What is bounded.

    Raises:
        CertificateError: The model offers none.
    """

    def __init__(self, problem: Problem, grid: ChainGrid, figures: tuple[str, ...]) -> None:
        facts = chain_facts_of(
            problem.cost_model, problem.layer, problem.accelerator, problem.limits
        )
        if not isinstance(facts, ChainFacts):
            raise CertificateError(f"problem: {facts}")
        self.grid, self.facts = grid, facts
        late = sum(name == "latency_cycles" for name in figures)
        self.powers = late, len(figures) - late
        energies = (
            problem.limits.get(f"max_{n}", math.inf) for n in ("energy_nj", "energy_total_nj")
        )
        self.most = problem.limits.get("max_latency_cycles", math.inf), min(energies)
        values, offered = [], []
        counts = {n for level in grid.chip.levels for n in range(1, level.fanout.units + 1)}
        bare = not all(level.is_memory for level in grid.chip.inner)
        for place, d in enumerate(grid.dims):
            found = {grid.extents[d]}.union(*(row[place].tolist() for row in grid.tiles))
            if bare:  # units of levels that hold nothing share tiles
                found |= {-(-tile // n) for tile in found for n in counts}
            values.append(np.array(sorted(found), np.int64))
        offered.append(tuple(np.ones(len(v), np.bool_) for v in values))
        for row in grid.tiles:
            offered.append(tuple(np.isin(v, t) for v, t in zip(values, row, strict=True)))
        self.tiles = ChainTiles(tuple(values), tuple(offered), {}, {})
        self._frontier: Frontier | None = None

    def of(self, way: IntArray) -> WayBounds:
        """The bounds of one way."""
        spread = ChainSpread(self.facts, self.grid.spatial(way), self.grid.dims)
        return WayBounds(self._brancher(spread, self.grid.fewer(way)))

    def _brancher(self, spread: ChainSpread, fewer: tuple[Tiles, ...]) -> ChainBrancher:
        togo = CostsToGo(spread, self.tiles, fewer)
        return ChainBrancher(togo, self.powers, self.most)

    def reach(self, way: WayBounds, below: float) -> float:
        """What bounds of all ways at once, with the MAC steps of one, say of it below a value."""
        if self._frontier is None:
            gaps, fans = self.grid.gaps, self.grid.fans
            if any(len(gap) > 1 for gap in gaps):
                return 0.0
            most = (np.max([fan.units for fan in fans[gap[0]]], axis=0).tolist() for gap in gaps)
            spread = WidestSpread(self.facts, tuple((tuple(n),) for n in most), self.grid.dims)
            bounds = self._brancher(spread, ((0,) * len(DIMS),) * len(gaps))
            bounds.fill_all()
            self._frontier = Frontier(bounds, below)
        way.model.frontier = self._frontier  # its first memory is bounded by them, too
        return self._frontier.reach(way.model)


class WayBounds:
    """Bounds of one way.

    Args:
        model: The model's.
    """

    def __init__(self, model: ChainBrancher) -> None:
        self.model, self._values = model, model.togo.tiles.values

    def fill(self) -> None:
        """Work out tables of MAC steps and of energy."""
        if not self.model.time.turns:
            self.model.fill()

    def options(self, node: Any) -> list[IntArray]:
        """The tiles of the next memory along each dimension that :meth:`children` bounds."""
        options = self.model.tables.options(node)
        return [values[o.at] for values, o in zip(self._values, options, strict=True)]

    def children(self, node: Any, below: float) -> Children:
        """Choices of the next memory whose bounds are below a value."""
        found = self.model.children(node, below)
        kinds = np.array(self.model.classes, np.int64).reshape(-1, 2)[found.classes]
        tiles = np.empty((len(kinds), len(self._values)), np.int64)
        for place, values in enumerate(self._values):
            tiles[:, place] = values[found.tiles[:, place]]
        return Children(kinds, tiles, found.bounds)

    def child(self, node: Any, kind: Kind, tiles: Tiles) -> Any:
        """The node of one choice."""
        places = [int(np.searchsorted(v, t)) for v, t in zip(self._values, tiles, strict=True)]
        return self.model.child(node, kind, places)
