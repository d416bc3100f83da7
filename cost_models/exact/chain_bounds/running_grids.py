"""The least over tiles inside of what a loop makes of some pieces around, and not of others."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import Grid
from cost_models.exact.chain_bounds.kernel import least_where_running
from cost_models.exact.chain_bounds.running import ANY, Around, RunningShares
from cost_models.exact.chain_bounds.spread import WINDOWS
from cost_models.exact.chain_bounds.tile_grids import TileGrids
from cost_models.exact.nest import INPUT
from marl_common import FloatArray


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

    def _running(self, m: int, place: int, cost: Grid, more: Any, free: list[int]) -> Grid:
        """By tile around, the least over tiles inside where a loop runs and others `free` may.

        Args:
            m: The memory.
            place: Dimension of the loop.
            cost: By tile inside.
            more: What comes to it in the share of the dimension that the loop runs over.
            free: Places of dimensions.
        """
        cost = np.ascontiguousarray(cost)
        more = np.ascontiguousarray(np.broadcast_to(more, cost.shape))
        around, size = self._around[place], cost.shape[place]
        high, low = (each[around] for each in self._reach[place])
        high = np.minimum(np.minimum(high, low - 1), size - 1)
        shares = np.ascontiguousarray(self._run_shares(m, place)[around, :size])
        least = np.minimum.accumulate(cost + more, axis=place)
        before, after = cost.shape[:place], cost.shape[place + 1 :]
        out = np.empty((*before, len(around), *after))
        extents = math.prod(before), size, math.prod(after)
        least_where_running(cost, more, least, shares, *extents, high, len(around), out)
        return self._inner(out, free, [p for p in range(len(self.dims)) if p != place])
