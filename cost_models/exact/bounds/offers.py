"""The tiles that a space offers, and where a number stands among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.lower_bounds import Structures


class Offers(NamedTuple):
    """The tiles that are offered.

    Args:
        tiles: ``(2, D, most)`` outer and inner tiles, ascending.
        above: Smallest inner tile at or above each number, dimension after dimension.
        below: ``(2, ...)`` position of the largest outer (inner) tile at or below each number.
        offset: ``(D,)`` where a dimension begins in `above` and `below`.
        uneven: ``(D, most)`` share of a dimension in a smaller last step of an outer tile that is
            not in parallel, where an inner tile may cover that step but not the others.
    """

    tiles: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.int64]
    offset: NDArray[np.int64]
    uneven: NDArray[np.float64]


def offers_of(extents: Sequence[int], structures: Structures) -> Offers:
    """Tabulate the tiles of a layer's structures."""
    levels = (structures.outer_tiles, structures.inner_tiles)
    most = max(len(tiles) for level in levels for tiles in level)
    dims = len(extents)
    tiles = np.zeros((2, dims, most))
    uneven = np.zeros((dims, most))
    offset = np.concatenate([[0], np.cumsum(np.array(extents) + 1)])
    above = np.zeros(offset[-1])
    below = np.zeros((2, offset[-1]), dtype=np.int64)
    for d in range(dims):
        numbers = np.arange(extents[d] + 1)
        mine = slice(offset[d], offset[d + 1])
        for level in (0, 1):
            choices = levels[level][d]
            tiles[level, d, : len(choices)] = choices
            below[level, mine] = np.searchsorted(choices, numbers, side="right") - 1
        outer, inner = levels[0][d], levels[1][d]
        position = np.searchsorted(inner, numbers)
        above[mine] = np.append(inner, extents[d])[position]
        if not np.isin(outer, inner).all():
            # an inner tile may be cut to an outer one that is no choice itself: round up
            below[1, mine] = np.minimum(position, len(inner) - 1)
        rest = extents[d] % outer
        between = above[offset[d] + rest] < outer
        uneven[d, : len(outer)] = np.where(between & (outer < extents[d]), rest / extents[d], 0)
    return Offers(tiles, above, below, offset[:-1], uneven)
