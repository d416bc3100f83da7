"""The least over tiles inside of what a loop makes of some pieces around, and not of others."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import Grid
from cost_models.exact.chain_bounds.kernel import least_where_running
from cost_models.exact.chain_bounds.running import ANY, Around, RunningShares
from cost_models.exact.chain_bounds.spread import WINDOWS
from cost_models.exact.chain_bounds.tile_grids import TileGrids
from cost_models.exact.nest import INPUT
from marl_common import BoolArray, FloatArray

PART = 0.3
"""The share of a tensor that is followed apart, where so much of it or more stays."""
NONE = 1e-9
"""A share that is none but for rounding."""


class IdleBand(NamedTuple):
    """Shares of a dimension that a loop does not run over: from `first` on and below `until`.

    Args:
        first: Below 0 where none at all is among them.
        until: Above 1 where all may be.
        low: What of a tensor is taken to stay, at least.
        high: At most.
    """

    first: float
    until: float
    low: float
    high: float

    def holds(self, idle: FloatArray) -> BoolArray:
        """Which shares are among them."""
        return (idle >= self.first) & (idle < self.until)


EVERY = IdleBand(-1.0, 2.0, 0.0, 1.0)
MUCH = IdleBand(PART, 2.0, PART, 1.0)


def bands(parts: object, whole: object) -> list[IdleBand]:
    """The shares that are looked at apart, where `parts` or `whole` tensors may stay."""
    if parts:
        return [IdleBand(-1.0, NONE, 0.0, 0.0), IdleBand(NONE, PART, 0.0, PART), MUCH]
    return [IdleBand(-1.0, PART, 0.0, PART), MUCH] if whole else [EVERY]


class RunningGrids(TileGrids):
    """Grids that know where loops run: see :class:`TileGrids`."""

    known: Around = ANY
    """What is known of the pieces around the tiles that are looked at."""

    @cached_property
    def running(self) -> RunningShares:
        """The shares that loops run over."""
        return RunningShares(self.spread, self.tiles)

    def _run_shares(self, m: int, place: int) -> FloatArray:
        """``(around, tiles)`` share of a dimension that its loop runs over, at least.

        Of input rows no more than that share of the runs that :meth:`rounds` counts.
        """
        found, d = self.running.shares(m, place, self.known), self.dims[place]
        taps = dict(WINDOWS).get(d)
        if taps is None or self.spread.extents[taps] == 1:
            return found
        units = self.spread.units(self.facts.keeper(INPUT, m), m, d)
        runs = self.spread.extents[d] / (self.tiles.values[place] * units)
        counted: FloatArray = np.ceil(found * runs - 1e-9) / np.ceil(runs)
        return np.minimum(found, counted)

    def _least_run_shares(self, m: int, place: int) -> Grid:
        """By tile around, the least of those shares over tiles that the loop runs over."""
        runs = np.arange(len(self.tiles.values[place])) < self._reach[place][1][:, None]
        least = np.where(runs, self._run_shares(m, place), 1.0).min(axis=1)
        return self.axis(place, least[self._around[place]])

    def _running(
        self, m: int, place: int, cost: Grid, more: Any, free: list[int],
        band: IdleBand = EVERY,
    ) -> Grid:  # fmt: skip
        """By tile around, the least over tiles inside where a loop runs and others `free` may.

        Args:
            m: The memory.
            place: Dimension of the loop.
            cost: By tile inside.
            more: What comes to it in the share of the dimension that the loop runs over.
            free: Places of dimensions.
            band: The shares of the dimension that it does not run over, of tiles that count.
        """
        cost = np.ascontiguousarray(cost)
        more = np.ascontiguousarray(np.broadcast_to(more, cost.shape), np.float64)
        around, size = self._around[place], cost.shape[place]
        high, low = (each[around] for each in self._reach[place])
        high = np.minimum(np.minimum(high, low - 1), size - 1)
        shares = np.ascontiguousarray(self._run_shares(m, place)[around, :size])
        shares[~band.holds(1.0 - shares)] = -1.0
        least = np.minimum.accumulate(cost + more, axis=place) if band.first < 0 else cost
        before, after = cost.shape[:place], cost.shape[place + 1 :]
        out = np.empty((*before, len(around), *after))
        extents = math.prod(before), size, math.prod(after)
        least_where_running(cost, more, least, shares, *extents, high, len(around), out)
        return self._inner(out, free, [p for p in self.places if p != place])
