"""Tiles of a memory as grids: which fit, how many steps they take, and what is least inside."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import ChainTiles, Grid, TileAxes
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.kernel import least_in_ranges
from cost_models.exact.chain_bounds.spread import WINDOWS, ChainSpread
from cost_models.exact.nest import INPUT
from layers import footprint
from marl_common import FloatArray, IntArray


class TileGrids(TileAxes):
    """Grids of one spread.

    Args:
        spread: The spread.
        tiles: The tiles.
        redundant: By gap and dimension, units that make this spread redundant where they suffice.
    """

    def __init__(
        self,
        spread: ChainSpread,
        tiles: ChainTiles,
        redundant: tuple[tuple[int, ...], ...],
    ) -> None:
        self.spread, self.tiles, self.redundant = spread, tiles, redundant
        self.facts, self.dims = spread.facts, spread.dims
        self.shape = tuple(len(v) for v in tiles.values)
        self.places, rel = list(range(len(self.dims))), self.facts.relevant
        """Places of all dimensions."""
        self.own = [[p for p in self.places if self.dims[p] in some] for some in rel]
        """By tensor, places of dimensions that it depends on."""
        self.free = [[p for p in self.places if self.dims[p] not in some] for some in rel]
        """Places of those that it does not depend on."""
        self.halos = [self.dims.index(d) for d, taps in WINDOWS if self._overlaps(d, taps)]
        """Places of outputs' dimensions whose tiles may share rows or columns of inputs."""
        self._known: dict[tuple[int, int], tuple[IntArray, IntArray]] = {}
        self.fitting: dict[int, Grid] = {}
        """By memory what :meth:`fits` found."""
        self._ends: dict[int, tuple[slice, ...]] = {}
        self.wanted: IntArray | None = None
        """``(N, dims)`` places of the outermost memory's tiles that are looked at; None for all."""
        self._lowest = np.zeros(max(self.shape, default=1), np.int64)
        self.slowest: float = math.inf
        """MAC steps along tiled dimensions at most."""

    def turns(self) -> list[Grid]:
        """MAC steps at least, by memory (DRAM first) and its tiles, along tiled dimensions."""
        found: Grid = np.broadcast_to(self.mac_turns(), self.shape)
        rows = [found]
        for m in range(self.facts.depth, 1, -1):
            self._look_at(m)
            cost = found[self._inside] + self.fits(m)[self._inside]
            found = self._placed(m - 1, self._inner(cost, self.places))
            rows.append(found)
        return [found, *rows[::-1]]

    def _look_at(self, m: int, around: tuple[IntArray, ...] | None = None) -> None:
        """Take the tiles of memory `m`, and those `around` it that may be of interest."""
        self._reach = [self.reach(m, place) for place in self.places]
        self._around = self._places(m - 1) if around is None else around
        most = (int(r[0][a].max()) + 1 for r, a in zip(self._reach, self._around, strict=True))
        self._inside = tuple(slice(min(e.stop, n)) for e, n in zip(self.ends(m), most, strict=True))

    def _places(self, m: int) -> tuple[IntArray, ...]:
        """Along each dimension, places of a memory's tiles that may be of interest."""
        if m == 1 and self.wanted is not None:
            return tuple(np.unique(places) for places in self.wanted.T)
        return tuple(np.arange(end.stop) for end in self.ends(m))

    def _placed(self, m: int, cost: Grid) -> Grid:
        """Costs by a memory's tiles, inf for those that are of no interest."""
        if m > 1 or self.wanted is None:
            return cost
        found = np.full(self.shape, np.inf)
        found[np.ix_(*self._around)] = cost
        return found

    def _of_around(self, cost: Any) -> Any:
        """What depends on tiles around, for those that are looked at."""
        for place in range(np.ndim(cost)):
            if cost.shape[place] > 1:
                cost = np.take(cost, self._around[place], axis=place)
        return cost

    def ends(self, m: int) -> tuple[slice, ...]:
        """Along each dimension, up to the largest tile that a memory has room for."""
        if m not in self._ends:
            found, fits = [], np.isfinite(self.fits(m))
            for place in self.places:
                others = tuple(p for p in self.places if p != place)
                found.append(slice(int(np.flatnonzero(fits.any(axis=others)).max(initial=0)) + 1))
            self._ends[m] = tuple(found)
        return self._ends[m]

    def reach(self, m: int, place: int) -> tuple[IntArray, IntArray]:
        """By tile around, places of the largest tile inside and of the least that is one step."""
        if (m, place) not in self._known:
            self._known[m, place] = self._make_reach(m, place)
        return self._known[m, place]

    def _make_reach(self, m: int, place: int) -> tuple[IntArray, IntArray]:
        values, d = self.tiles.values[place], self.dims[place]
        stages = self.spread.stages(m, d)
        shared = np.array([shared_out(self.spread.spatial, m - 1, d, int(v)) for v in values])
        most = shared.copy()
        fewer = self.redundant[m - 1][d]
        if fewer:  # units must be needed: more tiles than `fewer` units take
            most = np.minimum(most, (shared - 1) // fewer)
        high = np.searchsorted(values, most, side="right") - 1
        low = np.searchsorted(values, -(-shared // stages[-1]), side="left")
        return high.astype(np.int64), low.astype(np.int64)

    def fits(self, m: int) -> Grid:
        """0 for tiles that are offered, have room, and are not too slow; else inf.

        One below the largest that is offered is that of a smaller tile around, where not its own.
        """
        if m not in self.fitting:
            found = self.room(m)
            for place, offered in enumerate(self.tiles.offered[m]):
                below = np.maximum.accumulate(offered[::-1])[::-1]
                found = found + self.axis(place, np.where(below, 0.0, np.inf))
            if m == self.facts.depth:
                found = found + self._needed()
            if m == self.facts.depth and math.isfinite(self.slowest):
                found = np.where(self.mac_turns() > self.slowest, np.inf, found)
            self.fitting[m] = found
        return self.fitting[m]

    def room(self, m: int) -> Grid:
        """0 for tiles that a memory has room for, else inf; the same for all ways alike."""
        taps = [d for d in range(len(self.spread.extents)) if d not in self.dims]
        key = m, tuple(self.spread.tile(m, d) for d in taps)
        if key not in self.tiles.rooms:
            found, sizes = np.zeros(self.shape), self.elements(m)
            for room in self.facts.rooms[m]:
                need = sum(w * size for w, size in zip(room.widths, sizes, strict=True) if w)
                found = np.where(need > room.bits, np.inf, found)
            self.tiles.rooms[key] = found
        return self.tiles.rooms[key]

    def mac_turns(self) -> Grid:
        """MAC steps along tiled dimensions at least, by the last memory's tiles."""
        found: Grid = self.product(self.places, partial(self.mac_steps, 0))
        return found

    def least_turns(self) -> float:
        """The fewest of them with room in all memories."""
        found = self.mac_turns() + sum(self.room(m) for m in range(1, self.facts.depth + 1))
        return float((found + self._needed()).min())

    def _needed(self) -> Grid:
        """0 for tiles of the last memory that need the units of its MACs, else inf."""
        found: Any = np.zeros((1,) * len(self.dims))
        for place, d in enumerate(self.dims):
            needs = self.tiles.values[place] > self.redundant[self.facts.depth][d]
            found = found + self.axis(place, np.where(needs, 0.0, np.inf))
        return found

    def elements(self, m: int) -> list[Any]:
        """Elements of each tensor's tile."""
        spread = self.spread
        found: list[Any] = []
        for tensor in range(3):
            rel = self.facts.relevant[tensor]
            apart = [d for pair in WINDOWS for d in pair] if tensor == INPUT else []
            size: Any = 1.0
            for d in rel:
                if d not in apart:
                    size = size * self._tile(m, d)
            if tensor == INPUT:
                for d, taps in WINDOWS:
                    step, gap = self.facts.stride(d), self.facts.dilation(d)
                    rows = spread.tile(m, taps)
                    if d in self.dims:
                        place = self.dims.index(d)
                        outs = self.tiles.values[place]
                        counts = [footprint(int(v), rows, step, gap) for v in outs]
                        size = size * self.axis(place, counts)
                    else:
                        size = size * footprint(spread.tile(m, d), rows, step, gap)
            found.append(size)
        return found

    def _tile(self, m: int, d: int) -> Any:
        if d in self.dims:
            place = self.dims.index(d)
            return self.axis(place, self.tiles.values[place])
        return self.spread.tile(m, d)

    def steps(self, m: int, place: int) -> FloatArray:
        """Steps of a memory along a dimension, at least, by its tile."""
        d = self.dims[place]
        n = self.spread.extents[d]
        found: FloatArray = np.ceil(n / (self.spread.units(0, m, d) * self.tiles.values[place]))
        return found

    def rounds(self, m: int, place: int, keeper: int) -> FloatArray:
        """The same for all instances of the keeper that serves it."""
        d = self.dims[place]
        pieces = np.ceil(self.spread.extents[d] / self.tiles.values[place])
        found: FloatArray = np.maximum(
            self.steps(m, place), np.ceil(pieces / self.spread.units(keeper, m, d))
        )
        return found

    def _overlaps(self, d: int, taps: int) -> bool:
        halo = self.facts.retain and self.facts.halo(d, self.spread.extents[taps]) > 0
        return halo and d in self.dims

    def _rows(self, m: int, keeper: int, kept: int | None) -> Any:
        """Rows times columns of the input that are read; those along `kept` once."""
        found: Any = 1.0
        for window, (d, _) in enumerate(WINDOWS):
            n = self.spread.extents[d]
            if d not in self.dims:
                found = found * self.spread.rows(keeper, window, 1.0, n)
            elif (place := self.dims.index(d)) == kept:
                found = found * self.once(keeper, window, n)
            else:
                counts = self.rounds(m, place, keeper)
                values = self.spread.rows(keeper, window, counts, n)
                same = values.min() == values.max()  # no two tiles share any
                found = found * (values[0] if same else self.axis(place, values))
        return found

    def once(self, keeper: int, window: int, n: int) -> float:
        """All rows, those that neighbours share once."""
        d, taps = WINDOWS[window]
        total = 0.0
        for some, times in self.spread.pieces(keeper, taps):
            total += times * self.facts.more(d, some) * n
        return total

    def elements_once(self, m: int, tensor: int) -> float:
        """Elements of a tensor that come into memory `m`, rows and columns of inputs once."""
        found, keeper = 1.0, self.facts.keeper(tensor, m)
        for window, (d, _) in enumerate(WINDOWS) if tensor == INPUT else ():
            found *= self.once(keeper, window, self.spread.extents[d])
        return float(self.spread.whole(tensor)) * found

    def mac_steps(self, m: int, place: int) -> FloatArray:
        """MAC steps along a dimension of all instances of a memory, at least, by the last tile."""
        d, depth = self.dims[place], self.facts.depth
        each = np.minimum(self.spread.inside(depth, d), self.tiles.values[place])
        found: FloatArray = np.ceil(
            self.spread.extents[d] / (each * self.spread.units(m, depth, d))
        )
        return found

    def _inner(self, cost: Grid, free: list[int], places: list[int] | None = None) -> Grid:
        """By tile around, the least over tiles inside; only loops along `free` may iterate.

        Args:
            cost: By tile inside.
            free: Places of dimensions.
            places: Those of dimensions that tiles are chosen of; None for all.
        """
        found = np.ascontiguousarray(cost)
        for place in self.places if places is None else places:
            high, low = (each[self._around[place]] for each in self._reach[place])
            low = self._lowest[: len(high)] if place in free else low
            before, size, after = found.shape[:place], found.shape[place], found.shape[place + 1 :]
            out = np.empty((*before, len(high), *after))
            outer, inner = math.prod(before), math.prod(after)
            high = np.minimum(high, size - 1)
            least_in_ranges(found, outer, size, inner, low, high, len(high), out)
            found = out
        return found
