"""What tiles yet to be chosen cost at least, for every tile around them: tables of one spread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import NOTHING, ChainTiles, Grid, RestCosts
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.spread import WINDOWS, ChainSpread, MoveCosts
from cost_models.exact.chain_bounds.tile_grids import TileGrids
from cost_models.exact.nest import INPUT, OUTPUT
from marl_common import FloatArray


class CostsToGo(TileGrids):
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
        like: TileGrids | None = None,
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
                values = [self.spread.rows(keeper, window, float(c), n) for c in counts]
                same = min(values) == max(values)  # no two tiles share any
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
        found: dict[tuple[tuple[float, ...], tuple[float, ...]], Grid] = {}
        fits = (self.fits(m) + (self._served() if m == self.facts.depth else 0.0))[self._inside]
        for rest in self.rest[m]:
            for reads, fills, cost in self._modes(m, rest, fits):
                key = reads, fills
                found[key] = np.minimum(found[key], cost) if key in found else cost
        self.rest[m - 1] = [
            RestCosts(r, f, self._placed(m - 1, cost))  # type: ignore[arg-type]
            for (r, f), cost in found.items()
        ]

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
        halos = self.halos()
        for place, h in self._innermost():
            yield NOTHING, NOTHING, self._general(m, place, h, base, every)
        for tensor in range(3):
            free = self._free(tensor)
            if free and reads[tensor] + fills[tensor] > 0:
                others = [t for t in range(3) if t != tensor]
                own = [d for d in halos if self.dims.index(d) in free]
                for h in own if own and tensor != INPUT else [None]:
                    cost = base + sum(self._counted(m, t, h) for t in others)
                    yield (*self._pending([tensor]), self._inner(cost, free))
        yield (*self._pending([0, 1, 2]), self._inner(base, []))

    def _innermost(self) -> Iterator[tuple[int, int | None]]:
        """Places of innermost loops, and the dimension whose neighbours share rows."""
        halos, seen = self.halos(), set()
        for place, e in enumerate(self.dims):
            kept: list[Any] = [e] if e in halos else [None]
            if e not in self.facts.relevant[INPUT] and halos:
                kept = list(halos)
            still = tuple(e in rel for rel in self.facts.relevant)
            for h in kept:  # dimensions of the same tensors are alike
                if (still, h) not in seen:
                    seen.add((still, h))
                    yield place, h

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
        moving = [t for t in range(3) if t not in still]
        cost = base + sum(self._counted(m, t, kept) for t in moving)
        tensor = still[0] if still else None
        if tensor is None:
            return self._inner(cost, every)
        stays = self._stays(m, tensor)
        volume = self._volume(m, tensor, kept)
        if np.ndim(volume) == 0 or volume.size == 1:
            found: Grid = self._inner(cost, every)
            return found + stays * float(np.asarray(volume).ravel()[0])
        volume = volume[self._inside]
        stays = np.broadcast_to(stays, [len(places) for places in self._around])
        return self._joined(cost, volume, stays, tensor)

    def _joined(self, cost: Grid, volume: Any, stays: Any, tensor: int) -> Grid:
        """The same where what stays costs by tiles around and inside: one by one."""
        free = self._free(tensor)
        others = [p for p in range(len(self.dims)) if p not in free]
        found = np.full(stays.shape, np.inf)
        if not cost.size:  # no tile inside needs all units of this spread
            return found
        for index in product(*(range(stays.shape[p]) for p in free)):
            around: list[Any] = [slice(None)] * len(self.dims)
            inside, first = list(around), [0] * len(self.dims)
            for p, i in zip(free, index, strict=True):
                around[p], first[p] = slice(i, i + 1), i
                inside[p] = slice(0, int(self._reach[p][0][self._around[p][i]]) + 1)
            part = cost[tuple(inside)].min(axis=tuple(free), keepdims=True, initial=np.inf)
            part = part + float(stays[tuple(first)]) * volume
            found[tuple(around)] = self._inner(part, others, others)
        return found
