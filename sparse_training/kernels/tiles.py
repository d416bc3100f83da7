"""Tiles: a few columns of a feature-major array, copied together so that they stay in the cache.

Rows of an array of 4,096 columns lie 16 kB apart, and would all fall into the same few places of a
cache. A tile has as many columns as a wide vector has numbers; at the last columns of an array it
is filled up with zeros.
"""

from __future__ import annotations

from typing import Any

from common import inner_function
from sparse_training.kernels.vectors import load, store, where_positive, zeros


@inner_function
def pack(x: Any, first: int, width: int, lanes: int, tile: Any) -> None:
    """Copy columns `first` to ``first + width`` of ``x`` ``(features, rows)`` into a tile."""
    count, rows = x.shape
    for feature in range(count):
        to, at = feature * lanes, feature * rows + first
        if width == lanes:
            store(tile, to, load(x, at))
        else:
            store(tile, to, zeros(tile))
            for i in range(width):
                tile[to + i] = x[feature, first + i]


@inner_function
def pack_where(x: Any, y: Any, first: int, width: int, lanes: int, tile: Any) -> None:
    """The same, 0 wherever ``y`` is not above 0: the gradient below a ReLU that gave ``y``."""
    count, rows = x.shape
    for feature in range(count):
        to, at = feature * lanes, feature * rows + first
        if width == lanes:
            store(tile, to, where_positive(load(x, at), load(y, at)))
        else:
            store(tile, to, zeros(tile))
            for i in range(width):
                if y[feature, first + i] > 0:
                    tile[to + i] = x[feature, first + i]


@inner_function
def clear(tile: Any, first: int, last: int, lanes: int) -> None:
    """Rows `first` to ``last - 1`` of a tile become 0."""
    for row in range(first, last):
        store(tile, row * lanes, zeros(tile))


@inner_function(forceinline=True)
def write(vector: Any, out: Any, row: int, first: int, width: int, lanes: int, spare: Any) -> None:
    """Columns `first` to ``first + width`` of a row of ``out``; `spare` has room for a vector."""
    if width == lanes:
        store(out, row * out.shape[1] + first, vector)
    else:
        store(spare, 0, vector)
        for i in range(width):
            out[row, first + i] = spare[i]
