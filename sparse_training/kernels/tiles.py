"""Tiles: a few columns of a feature-major array, copied together so that they stay in the cache.

Rows of an array of 4,096 columns lie 16 kB apart, and would all fall into the same few places of a
cache. A tile has as many columns as a wide vector has numbers; at the last columns of an array it
is filled up with zeros.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from marl_common import inner_function
from sparse_training.kernels.vectors import load, load_part, store, where_positive, zeros


class TileSpan(NamedTuple):
    """Which columns of an array a tile holds.

    Attributes:
        rows: Columns of the whole array (they are samples: rows of a batch).
        first: The tile's first column.
        width: Columns that the array has of it.
        lanes: Columns of a tile: numbers of a wide vector.
        part: Numbers of a narrow vector.
    """

    rows: int
    first: int
    width: int
    lanes: int
    part: int


@inner_function
def pack(x: Any, features: int, span: TileSpan, tile: Any) -> None:
    """Copy columns of ``x`` ``(features, rows)`` into a tile."""
    for feature in range(features):
        to, at = feature * span.lanes, feature * span.rows + span.first
        if span.width == span.lanes:
            store(tile, to, load(x, at))
        else:
            store(tile, to, zeros(tile))
            copy_few(x, at, tile, to, span)


@inner_function
def pack_where(x: Any, y: Any, features: int, span: TileSpan, tile: Any) -> None:
    """The same, 0 wherever ``y`` is not above 0: the gradient below a ReLU that gave ``y``."""
    for feature in range(features):
        to, at = feature * span.lanes, feature * span.rows + span.first
        if span.width == span.lanes:
            store(tile, to, where_positive(load(x, at), load(y, at)))
        else:
            store(tile, to, zeros(tile))
            for i in range(span.width):
                if y[at + i] > 0:
                    tile[to + i] = x[at + i]


@inner_function
def copy_few(source: Any, at: int, target: Any, to: int, span: TileSpan) -> None:
    """Copy fewer numbers than a wide vector has."""
    whole = span.width - span.width % span.part
    for i in range(0, whole, span.part):
        store(target, to + i, load_part(source, at + i))
    for i in range(whole, span.width):
        target[to + i] = source[at + i]


@inner_function
def clear(tile: Any, first: int, last: int, lanes: int) -> None:
    """Rows `first` to ``last - 1`` of a tile become 0."""
    for row in range(first, last):
        store(tile, row * lanes, zeros(tile))


@inner_function(forceinline=True)
def write(vector: Any, out: Any, row: int, span: TileSpan, spare: Any) -> None:
    """Write a vector into a tile's columns of a row of ``out``; `spare` has room for one."""
    at = row * span.rows + span.first
    if span.width == span.lanes:
        store(out, at, vector)
    else:
        store(spare, 0, vector)
        copy_few(spare, 0, out, at, span)
