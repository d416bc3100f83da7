"""What tiles yet to be chosen cost at least, for every tile around them: tables of one spread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import NOTHING, ChainTiles, Grid, RestCosts
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.running import ANY, Around
from cost_models.exact.chain_bounds.running_grids import RunningGrids
from cost_models.exact.chain_bounds.spread import WINDOWS, ChainSpread, MoveCosts
from cost_models.exact.nest import INPUT, OUTPUT
from marl_common import FloatArray, IntArray


class CostsToGo(RunningGrids):
    """Tables of one spread.

    Args:
        spread: The spread.
        tiles: The tiles.
        redundant: By gap and dimension, units that make this spread redundant where they suffice.
        costs: What elements cost that move.
        like: Grids of the same spread.
    """

    def __init__(
        self,
        spread: ChainSpread,
        tiles: ChainTiles,
        redundant: tuple[tuple[int, ...], ...],
        costs: MoveCosts,
        like: RunningGrids | None = None,
    ) -> None:
        super().__init__(spread, tiles, redundant, like)
        self.costs, self.weights = costs, spread.weights(costs)
        self.rest: list[list[RestCosts]] = [[] for _ in range(self.facts.depth + 1)]

    def is_empty(self) -> bool:
        """Whether nothing inside the outermost memory costs anything."""
        costs = self.costs
        inner = [
            *costs.reads[2:],
            *costs.fills[2:],
            [w for m, (_, w) in self.weights.items() if m > 1],
        ]
        return (
            not any(map(any, inner))
            and not any(costs.serve)
            and not costs.add[self.spread.sums[-1]]
        )

    def fill(self) -> None:
        """Work the tables out."""
        zeros = np.zeros(self.shape)[self.ends(self.facts.depth)]
        self.rest[-1] = [RestCosts(NOTHING, NOTHING, zeros)]
        for m in range(self.facts.depth, 1, -1):
            self._level(m)

    def _rows(self, m: int, keeper: int, kept: int | None) -> Any:
        """Rows times columns of the input that are read; those along `kept` once."""
        found: Any = 1.0
        for window, (d, _) in enumerate(WINDOWS):
            n = self.spread.extents[d]
            if d not in self.dims:
                found = found * self.spread.rows(keeper, window, 1.0, n)
            elif d == kept:
                found = found * self.once(keeper, window, n)
            else:
                place = self.dims.index(d)
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

    def _level(self, m: int) -> None:
        """From what is inside memory `m` to what is inside the one around it."""
        self._look_at(m)
        self.rest[m - 1] = [
            RestCosts(reads, fills, self._placed(m - 1, cost))
            for reads, fills, cost in self._by_what_stays(m)
        ]

    def beside(self, m: int, around: Around, places: tuple[IntArray, ...]) -> list[RestCosts]:
        """The table of some of memory `m`'s tiles, the pieces of which are known.

        Args:
            m: The memory.
            around: Its pieces.
            places: By dimension, places of tiles, ascending.
        """
        self._look_at(m + 1, places)
        self.known, found = around, []
        for reads, fills, cost in self._by_what_stays(m + 1):
            grid = np.full(self.shape, np.inf)
            grid[np.ix_(*places)] = cost
            found.append(RestCosts(reads, fills, grid))
        self.known = ANY
        return found

    def _by_what_stays(self, m: int) -> list[RestCosts]:
        """The least costs inside the memory around `m`, by what tensors cost that stay."""
        found: dict[Any, Grid] = {}
        for reads, fills, cost in self._all_modes(m):
            key = reads, fills
            found[key] = np.minimum(found[key], cost) if key in found else cost
        return [RestCosts(reads, fills, cost) for (reads, fills), cost in found.items()]

    def _all_modes(self, m: int) -> Iterator[tuple[Any, Any, Grid]]:
        fits = (self.fits(m) + (self._served() if m == self.facts.depth else 0.0))[self._inside]
        for rest in self.rest[m]:
            yield from self._modes(m, rest, fits)

    def _served(self) -> Any:
        """What the MACs read of memories, and write there, by the last memory's tiles."""
        total: Any = 0.0
        for tensor in range(3):
            each, m = self.costs.serve[tensor], self.facts.innermost[tensor]
            if tensor == OUTPUT and m in self.weights:
                each += self.weights[m][0] * self.costs.add[m]
            if each:
                reads = self.spread.mac_reads(tensor, m, 1.0)
                free = self._free(tensor)
                total = total + each * reads * self._product(free, partial(self.mac_steps, m))
        return total

    def _weights(self, m: int, rest: RestCosts) -> tuple[list[float], list[float]]:
        """What a fetch of all of each tensor costs, with that into memory `m` if it keeps it."""
        reads, fills = list(rest.reads), list(rest.fills)
        for tensor in range(3):
            if not self.facts.keeps[m][tensor]:
                continue
            if tensor == OUTPUT:
                reads[tensor] += self.weights[m][1]
            else:
                reads[tensor] += self.costs.reads[m][tensor]
            fills[tensor] += self.costs.fills[m][tensor]
        return reads, fills

    def _modes(self, m: int, rest: RestCosts, fits: Grid) -> Any:
        """Which loop is innermost, and which tensors stay while none of theirs iterates."""
        reads, fills = self._weights(m, rest)
        self._own = reads, fills
        base = rest.cost[self._inside] + fits
        every = list(range(len(self.dims)))
        for place, h in self._innermost():
            yield NOTHING, NOTHING, self._general(m, place, h, base, every)
        for tensor in range(3):
            if reads[tensor] + fills[tensor] > 0:
                others = [t for t in range(3) if t != tensor]
                free = self._free(tensor)
                for place in free:
                    once, more = self._moving(m, others, self._kept(place))
                    cost = self._running(m, place, base + once, more, free)
                    yield (*self._pending([tensor]), cost)
        yield (*self._pending([0, 1, 2]), self._inner(base, []))

    def _innermost(self) -> Iterator[tuple[int, int | None]]:
        """Places of innermost loops, and the dimension whose neighbours share rows."""
        halos = self.halos()
        for place, e in enumerate(self.dims):
            apart = e not in self.facts.relevant[INPUT] and halos
            for h in halos if apart else [self._kept(place)]:
                yield place, h

    def _kept(self, place: int) -> int | None:
        """The dimension of an innermost loop if its neighbours share rows."""
        return self.dims[place] if self.dims[place] in self.halos() else None

    def _pending(self, tensors: list[int]) -> tuple[Any, Any]:
        reads, fills = self._own
        return (
            tuple(reads[t] if t in tensors else 0.0 for t in range(3)),
            tuple(fills[t] if t in tensors else 0.0 for t in range(3)),
        )

    def _volume(self, m: int, tensor: int, kept: int | None) -> Any:
        """Elements of a tensor: inputs as often as windows share them."""
        found: Any = float(self.spread.whole(tensor))
        if tensor == INPUT:
            return found * self._rows(m, self.facts.keeper(tensor, m), kept)
        if tensor == OUTPUT:
            return found * self.spread.still(tensor, self.facts.keeper(tensor, m))
        return found

    def _counted(self, m: int, tensor: int, kept: int | None) -> Any:
        """A tensor that all loops around move."""
        reads, fills = self._own[0][tensor], self._own[1][tensor]
        if reads + fills == 0:
            return 0.0
        free, keeper = self._free(tensor), self.facts.keeper(tensor, m)
        read = self._product(free, lambda p: self.rounds(m, p, keeper))
        fill = self._product(
            free, lambda p: np.ceil(self.spread.extents[self.dims[p]] / self.tiles.values[p])
        )
        found = self._volume(m, tensor, kept) * (reads * read + fills * fill)
        found = np.asarray(found)[self._inside] if np.ndim(found) else found
        return found + (reads * self._begun(keeper, kept) if tensor == INPUT else 0.0)

    def rows_once(self, m: int, tensor: int) -> float:
        """Rows times columns of the input for memory `m`, each once; 1 of other tensors."""
        found, keeper = 1.0, self.facts.keeper(tensor, m)
        for window, (d, _) in enumerate(WINDOWS) if tensor == INPUT else ():
            found *= self.once(keeper, window, self.spread.extents[d])
        return found

    def _once(self, m: int, tensor: int) -> float:
        """A tensor that moves once."""
        found = float(self.spread.whole(tensor)) * self.rows_once(m, tensor)
        found *= self._own[0][tensor] + self._own[1][tensor]
        keeper = self.facts.keeper(tensor, m)
        return found * (self.spread.still(tensor, keeper) if tensor == OUTPUT else 1.0)

    def _moving(self, m: int, tensors: list[int], kept: int | None) -> tuple[float, Any]:
        """Tensors that move once, and what comes to it where all loops around move them."""
        once = sum(self._once(m, t) for t in tensors)
        return once, sum(self._counted(m, t, kept) for t in tensors) - once

    def _begun(self, keeper: int, kept: int | None) -> float:
        """Input elements of the first run along `kept` that no tile before it can have held."""
        found = float(self.spread.whole(INPUT)) if kept is not None else 0.0
        for window, (d, taps) in enumerate(WINDOWS):
            if d == kept:
                pieces = self.spread.pieces(keeper, taps)
                found *= sum((some - self.facts.more(d, some)) * times for some, times in pieces)
            else:
                found *= self.spread.rows(keeper, window, 1.0, self.spread.extents[d])
        return found

    def _stays(self, m: int, tensor: int) -> Any:
        """What a tensor costs that stays over loops of memory `m`, by the tile around."""
        reads, fills = self._own[0][tensor], self._own[1][tensor]
        free = self._free(tensor)
        keeper = min(self.facts.keeper(tensor, m), m - 1)

        def times(place: int) -> FloatArray:
            values, d = self.tiles.values[place], self.dims[place]
            units = self.spread.filled(m, d)
            shared = np.array([shared_out(self.spread.spatial, m - 1, d, int(v)) for v in values])
            tile = values[np.maximum(self._reach[place][0], 0)]
            each = np.minimum(units / shared, 1.0 / tile)
            n = self.spread.extents[d]
            found: FloatArray = np.maximum(np.ceil(n * each - 1e-9), np.ceil(n / values))
            return found

        read = self._product(free, lambda p: self.rounds(m - 1, p, keeper))
        return self._of_around(reads * read + fills * self._product(free, times))

    def _general(self, m: int, place: int, kept: int | None, base: Grid, every: list[int]) -> Grid:
        e = self.dims[place]
        still = [t for t in range(3) if e not in self.facts.relevant[t]]
        once, more = self._moving(m, [t for t in range(3) if t not in still], kept)
        cost = base + once
        found = self._running(m, place, cost, more, every)
        if not still or not self._own[0][still[0]] + self._own[1][still[0]]:
            return found
        tensor = still[0]
        stays, share = self._stays(m, tensor), self._share_of(m, tensor)
        rest = (1.0 - share) * self._once(m, tensor)
        volume = self._volume(m, tensor, kept)
        if np.ndim(volume) == 0 or volume.size == 1:
            return found + share * stays * float(np.asarray(volume).ravel()[0]) + rest
        volume = volume[self._inside]
        stays = np.broadcast_to(stays, [len(places) for places in self._around])
        joined = self._joined(m, place, (cost, more), volume, stays, tensor)
        known = np.isfinite(found)
        least = np.where(
            known,
            share * np.where(known, joined, 0.0) + (1.0 - share) * np.where(known, found, 0.0),
            np.inf,
        )
        return least + rest

    def _share_of(self, m: int, tensor: int) -> Any:
        """By tile around, the share of a tensor where a loop of its own runs, at least."""
        own = [p for p, d in enumerate(self.dims) if d in self.facts.relevant[tensor]]
        found: Any = np.ones((1,) * len(self.dims))
        for place in own:
            found = np.minimum(found, self._least_run_shares(m, place))
        return found

    def _joined(
        self, m: int, place: int, costs: tuple[Grid, Any], volume: Any, stays: Any, tensor: int
    ) -> Grid:
        """The same where what stays costs by tiles around and inside: one by one."""
        free = self._free(tensor)
        others = [p for p in range(len(self.dims)) if p not in free]
        found = np.full(stays.shape, np.inf)
        cost, more = costs[0], np.broadcast_to(costs[1], costs[0].shape)
        if not cost.size:  # no tile inside needs all units of this spread
            return found
        shares = self._run_shares(m, place)
        for index in product(*(range(stays.shape[p]) for p in free)):
            around: list[Any] = [slice(None)] * len(self.dims)
            inside, first = list(around), [0] * len(self.dims)
            for p, i in zip(free, index, strict=True):
                around[p], first[p] = slice(i, i + 1), i
                high, low = (int(each[self._around[p][i]]) for each in self._reach[p])
                inside[p] = slice(0, (min(high, low - 1) if p == place else high) + 1)
            share = shares[self._around[place][first[place]], : cost.shape[place]]
            part = cost[tuple(inside)] + (self.axis(place, share) * more)[tuple(inside)]
            part = part.min(axis=tuple(free), keepdims=True, initial=np.inf)
            part = part + float(stays[tuple(first)]) * volume
            found[tuple(around)] = self._inner(part, others, others)
        return found
