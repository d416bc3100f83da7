"""What tiles yet to be chosen cost at least, for every tile around them: tables of one spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import ALL, NOTHING, ChainTiles, Grid, RestCosts
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.running import ANY, Around
from cost_models.exact.chain_bounds.running_grids import RunningGrids, bands
from cost_models.exact.chain_bounds.spread import WINDOWS, ChainSpread, MoveCosts
from cost_models.exact.nest import INPUT, OUTPUT
from marl_common import FloatArray, IntArray


class CostsToGo(RunningGrids):
    """Tables of one spread.

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
        super().__init__(spread, tiles, redundant)
        self._count(spread.energy)

    def _count(self, costs: MoveCosts) -> None:
        """Take what elements cost that move; the tables are still to be filled."""
        self.costs, self.weights = costs, self.spread.weights(costs)
        self.by_parts = False
        """Whether parts of tensors are followed that stay: a nearer bound, which takes longer."""
        self.rest: list[list[RestCosts]] = [[] for _ in range(self.facts.depth + 1)]

    def anew(self) -> CostsToGo:
        """The same tables, still to be filled."""
        found = CostsToGo(self.spread, self.tiles, self.redundant)
        found.wanted, found.slowest = self.wanted, self.slowest
        return found

    def of(self, costs: MoveCosts) -> CostsToGo:
        """Tables of the same grids of what else elements cost that move, still to be filled."""
        found = copy(self)
        found._count(costs)
        return found

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
        self.rest[-1] = [RestCosts(NOTHING, NOTHING, ALL, zeros)]
        for m in range(self.facts.depth, 1, -1):
            self._level(m)

    def _level(self, m: int) -> None:
        """From what is inside memory `m` to what is inside the one around it."""
        self._look_at(m)
        self.rest[m - 1] = [
            rest._replace(cost=self._placed(m - 1, rest.cost)) for rest in self._by_what_stays(m)
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
        for rest in self._by_what_stays(m + 1):
            grid = np.full(self.shape, np.inf)
            grid[np.ix_(*places)] = rest.cost
            found.append(rest._replace(cost=grid))
        self.known = ANY
        return found

    def _by_what_stays(self, m: int) -> list[RestCosts]:
        """The least costs inside the memory around `m`, by what tensors cost that stay."""
        found: dict[Any, RestCosts] = {}
        for rest in self._all_modes(m):
            known = found.setdefault(rest[:-1], rest)
            if known is not rest:
                found[rest[:-1]] = rest._replace(cost=np.minimum(known.cost, rest.cost))
        return list(found.values())

    def _all_modes(self, m: int) -> Iterator[RestCosts]:
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
                reads = self.spread.mac_reads(tensor, m)
                free = self.free[tensor]
                total = total + each * reads * self.product(free, partial(self.mac_steps, m))
        return total

    def _weights(self, m: int, rest: RestCosts) -> float:
        """Work out what a fetch of all of each tensor costs, with that into memory `m`.

        Returns:
            What parts cost that stay inside a memory which keeps their tensor, fetched once.
        """
        reads, fills, parts = list(rest.reads), list(rest.fills), list(rest.parts)
        once = 0.0
        for tensor in range(3):
            if not self.facts.keeps[m][tensor]:
                continue
            if parts[tensor] < 1.0:
                each = (reads[tensor] + fills[tensor]) * parts[tensor]
                once += each * self._moved_once(m + 1, tensor)
                reads[tensor], fills[tensor], parts[tensor] = 0.0, 0.0, 1.0
            if tensor == OUTPUT:
                reads[tensor] += self.weights[m][1]
            else:
                reads[tensor] += self.costs.reads[m][tensor]
            fills[tensor] += self.costs.fills[m][tensor]
        self._own = reads, fills
        self._parts = parts
        return once

    def _modes(self, m: int, rest: RestCosts, fits: Grid) -> Iterator[RestCosts]:
        """Which loop is innermost, and which tensors stay while none of theirs iterates."""
        once = self._weights(m, rest)
        base = rest.cost[self._inside] + fits + once
        for place, h in self._innermost():
            yield from self._general(m, place, h, base)
        for tensor in self._weighed_of(range(3)):
            others = [t for t in range(3) if t != tensor]
            free = self.free[tensor]
            for place in free:
                for left, cost in self._moved(m, place, self._kept(place), base, others, free):
                    yield self._pending({tensor: self._parts[tensor]} | left, cost)
        yield self._pending(dict(enumerate(self._parts)), self._inner(base, []))

    def _weighed_of(self, tensors: Iterable[int]) -> list[int]:
        """Those of some tensors whose fetches cost anything."""
        return [t for t in tensors if self._own[0][t] + self._own[1][t] > 0]

    def _innermost(self) -> Iterator[tuple[int, int | None]]:
        """Places of innermost loops, and of the dimension whose neighbours share rows."""
        for place in self.places:
            apart = place in self.free[INPUT] and self.halos
            for h in self.halos if apart else [self._kept(place)]:
                yield place, h

    def _kept(self, place: int) -> int | None:
        """The place of an innermost loop if its neighbours share rows."""
        return place if place in self.halos else None

    def _pending(self, parts: dict[int, float], cost: Grid) -> RestCosts:
        """A cost beside which parts of some tensors stay."""
        stays = [t for t in self._weighed_of(parts) if parts[t] > 0]
        reads, fills = (tuple(x[t] if t in stays else 0.0 for t in range(3)) for x in self._own)
        parts_ = tuple(parts[t] if t in stays else 1.0 for t in range(3))
        return RestCosts(reads, fills, parts_, cost)  # type: ignore[arg-type]

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
        free, keeper = self.free[tensor], self.facts.keeper(tensor, m)
        read = self.product(free, lambda p: self.rounds(m, p, keeper))
        fill = self.product(
            free, lambda p: np.ceil(self.spread.extents[self.dims[p]] / self.tiles.values[p])
        )
        found = self._volume(m, tensor, kept) * (reads * read + fills * fill)
        found = np.asarray(found)[self._inside] if np.ndim(found) else found
        return found + (reads * self._begun(keeper, kept) if tensor == INPUT else 0.0)

    def _moved_once(self, m: int, tensor: int) -> float:
        """Elements of a tensor that moves into memory `m`, or to the MACs, once."""
        keeper = self.facts.keeper(tensor, m)
        still = self.spread.still(tensor, keeper) if tensor == OUTPUT else 1.0
        return self.elements_once(m, tensor) * still

    def _once(self, m: int, tensor: int) -> float:
        """A tensor that moves once."""
        return self._moved_once(m, tensor) * (self._own[0][tensor] + self._own[1][tensor])

    def _may_stay(self, tensors: Iterable[int]) -> list[int]:
        """Those of some tensors of which a part is followed that stays: no rows may be shared."""
        rows = any(self.spread.extents[taps] > 1 for _, taps in WINDOWS)
        return [t for t in tensors if self.by_parts and (t != INPUT or not rows)]

    def _moving(self, m: int, tensors: list[int], kept: int | None) -> tuple[float, Any]:
        """Tensors that move once, and what comes to it where all loops around move them."""
        once = sum(self._once(m, t) for t in tensors)
        return once, sum(self._counted(m, t, kept) for t in tensors) - once

    def _moved(
        self, m: int, place: int, kept: int | None, base: Grid, tensors: list[int],
        free: list[int],
    ) -> Iterator[tuple[dict[int, float], Grid]]:  # fmt: skip
        """The least costs where a loop moves some tensors, by what part of each stays.

        What has no loop that runs is fetched when it was further out. Of all of a tensor a part is
        followed that is no more than that, of a part one that is no less; the rest of a tensor is
        fetched once, the rest of a part always.
        """
        weighed = self._weighed_of(tensors)
        whole = [t for t in weighed if self._parts[t] == 1.0]
        some = [t for t in weighed if t not in whole]
        apart = self._may_stay(whole)
        once, more = self._moving(m, whole, kept)
        counted = {t: self._counted(m, t, kept) for t in some}
        idle = 1.0 - self._run_shares(m, place) if weighed else None
        base = base + once
        for band in bands(some, apart):
            if idle is not None and not band.holds(idle).any():
                continue
            left = {t: min(self._parts[t], band.high) for t in some}
            gone = {t: self._parts[t] - left[t] for t in some}
            again = sum(gone[t] * counted[t] for t in some if gone[t])
            cost = self._running(m, place, base + again, more, free, band)
            left |= dict.fromkeys(apart, band.low)
            yield left, cost - band.low * sum(self._once(m, t) for t in apart)

    def _begun(self, keeper: int, kept: int | None) -> float:
        """Input elements of the first run along `kept` that no tile before it can have held."""
        found = float(self.spread.whole(INPUT)) if kept is not None else 0.0
        for window, (d, taps) in enumerate(WINDOWS):
            if kept is not None and d == self.dims[kept]:
                pieces = self.spread.pieces(keeper, taps)
                found *= sum((some - self.facts.more(d, some)) * times for some, times in pieces)
            else:
                found *= self.spread.rows(keeper, window, 1.0, self.spread.extents[d])
        return found

    def _stays(self, m: int, tensor: int) -> Any:
        """What a tensor costs that stays over loops of memory `m`, by the tile around."""
        reads, fills = self._own[0][tensor], self._own[1][tensor]
        free = self.free[tensor]
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

        read = self.product(free, lambda p: self.rounds(m - 1, p, keeper))
        return self._of_around(reads * read + fills * self.product(free, times))

    def _general(self, m: int, place: int, kept: int | None, base: Grid) -> Iterator[RestCosts]:
        """The least costs where one loop is innermost."""
        moved = [t for t in range(3) if place in self.own[t]]
        still = self._weighed_of(t for t in range(3) if t not in moved)
        if not still:
            for left, found in self._moved(m, place, kept, base, moved, self.places):
                yield self._pending(left, found)
            return
        tensor = still[0]
        volume = self._volume(m, tensor, kept)
        if np.ndim(volume) == 0 or volume.size == 1:
            cost = float(np.asarray(volume).ravel()[0]) * self._stays(m, tensor)
            for left, found in self._moved(m, place, kept, base, moved, self.places):
                for more, stays in self._staying(m, tensor, cost):
                    yield self._pending(left | more, found + stays)
            return
        yield self._pending({}, self._joined_with(m, place, kept, base, moved, tensor, volume))

    def _staying(self, m: int, tensor: int, cost: Grid) -> Iterator[tuple[dict[int, float], Grid]]:
        """What a tensor costs that stays over the innermost loop, by what part stays over all."""
        share, once, part = self._share_of(m, tensor), self._once(m, tensor), self._parts[tensor]
        for band in bands(part < 1.0, self._may_stay([tensor])):
            mine = band.holds(1.0 - share)
            if part < 1.0:
                left = min(part, band.high)
                found = (part - left) * cost
            else:
                left = band.low
                found = share * cost + (1.0 - share - left) * once
            if np.any(mine):
                yield {tensor: left}, np.where(mine, found, np.inf)

    def _joined_with(
        self, m: int, place: int, kept: int | None, base: Grid, moved: list[int], tensor: int,
        volume: Any,
    ) -> Grid:  # fmt: skip
        """The least costs where inputs stay over the innermost loop whose rows tiles share."""
        some = [t for t in self._weighed_of(moved) if self._parts[t] < 1.0]
        once, more = self._moving(m, [t for t in moved if t not in some], kept)
        once += sum(self._parts[t] * self._once(m, t) for t in some)
        cost = base + once
        found = self._running(m, place, cost, more, self.places)
        stays, share = self._stays(m, tensor), self._share_of(m, tensor)
        stays = np.broadcast_to(stays, [len(places) for places in self._around])
        joined = self._joined(m, place, (cost, more), volume[self._inside], stays, tensor)
        known = np.isfinite(found)
        least = np.where(
            known,
            share * np.where(known, joined, 0.0) + (1.0 - share) * np.where(known, found, 0.0),
            np.inf,
        )
        return least + (1.0 - share) * self._once(m, tensor)

    def _share_of(self, m: int, tensor: int) -> Any:
        """By tile around, the share of a tensor where a loop of its own runs, at least."""
        found: Any = np.ones((1,) * len(self.dims))
        for place in self.own[tensor]:
            found = np.minimum(found, self._least_run_shares(m, place))
        return found

    def _joined(
        self, m: int, place: int, costs: tuple[Grid, Any], volume: Any, stays: Any, tensor: int
    ) -> Grid:
        """The same where what stays costs by tiles around and inside: one by one."""
        free, others = self.free[tensor], self.own[tensor]
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
