"""Tiles that a space offers, and tables of costs by vectors of tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from marl_common import FloatArray, IntArray

Grid = FloatArray
"""A number for each vector of tiles, an axis a dimension."""


class ChainTiles(NamedTuple):
    """The tiles that a space offers.

    Args:
        values: By tiled dimension, all tiles, ascending; the extent is the last.
        offered: By memory (DRAM first) and dimension, which of them it offers.
        rooms: By memory and tiles of other dimensions, 0 for tiles that fit, else inf; filled in.
        shares: By dimension and units, shares that loops run over; filled in.
    """

    values: tuple[IntArray, ...]
    offered: tuple[tuple[Any, ...], ...]
    rooms: dict[Any, Grid]
    shares: dict[Any, Any]


class TileAxes:
    """Values by tile along the dimensions of a spread, as grids."""

    dims: tuple[int, ...]
    """The dimensions that have tiles."""

    def axis(self, place: int, values: Any) -> Any:
        """Values along one dimension."""
        shape = [1] * len(self.dims)
        shape[place] = -1
        return np.asarray(values).reshape(shape)

    def product(self, places: Iterable[int], of: Callable[[int], Any], start: Any = 1.0) -> Any:
        """Something, times the values of some dimensions."""
        for place in places:
            start = start * self.axis(place, of(place))
        return start


class RestCosts(NamedTuple):
    """MoveCosts of what is inside a memory, where some tensors stay over all its loops.

    Args:
        reads: What a fetch of all of each tensor costs, of those that stay.
        fills: The same for each unit that it goes to.
        parts: What share of each stays: that whose fetches cost the least.
        cost: All else, by the memory's tiles.
    """

    reads: tuple[float, float, float]
    fills: tuple[float, float, float]
    parts: tuple[float, float, float]
    cost: Grid


NOTHING = (0.0, 0.0, 0.0)
ALL = (1.0, 1.0, 1.0)
