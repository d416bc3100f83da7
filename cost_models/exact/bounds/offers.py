"""The tiles that a space offers, and where a number stands among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.cost_model import Structures
from cost_models.exact.bounds.box_records import INNER, OUTER, Offer
from marl_common import IntArray


def offers_of(extents: Sequence[int], structures: Structures) -> tuple[NDArray[Any], IntArray]:
    """The tiles of a layer's structures: an `Offer` by place and number, each dimension's first."""
    first = np.concatenate([[0], np.cumsum(np.array(extents) + 1)])
    found = np.zeros(first[-1], Offer)
    for d, extent in enumerate(extents):
        mine, numbers = found[first[d] : first[d + 1]], np.arange(extent + 1)
        outer, inner = structures.outer_tiles[d], structures.inner_tiles[d]
        for level, tiles in ((OUTER, outer), (INNER, inner)):
            mine["tile"][: len(tiles), level] = tiles
            mine["below"][:, level] = tiles[np.searchsorted(tiles, numbers, side="right") - 1]
        position = np.searchsorted(inner, numbers)
        mine["above"] = np.append(inner, extent)[position]
        if not np.isin(outer, inner).all():
            # an inner tile may be cut to an outer one that is no choice itself: round up
            mine["below"][:, INNER] = inner[np.minimum(position, len(inner) - 1)]
        rest = extent % outer
        uneven = (mine["above"][rest] < outer) & (outer < extent)
        mine["uneven"][: len(outer)] = np.where(uneven, rest / extent, 0)
    return found, first[:-1]
