"""The compiled entry points: least values over ranges along one dimension of a grid."""

from __future__ import annotations

from marl_common import FloatArray, IntArray, entry


@entry
def least_in_ranges(
    grid: FloatArray,
    outer: int,
    size: int,
    inner: int,
    low: IntArray,
    high: IntArray,
    rows: int,
    out: FloatArray,
) -> None:
    """For each row the least of places `low` to `high` along the middle dimension; inf of none.

    Args:
        grid: ``(outer, size, inner)``.
        outer: Its first extent.
        size: Its second extent.
        inner: Its third extent.
        low: ``(rows,)`` first places, ascending.
        high: ``(rows,)`` last places, ascending; below `low` where there are none.
        rows: How many rows there are.
        out: Gets ``(outer, rows, inner)``.
    """
    for o in range(outer):
        for row in range(rows):
            to = (o * rows + row) * inner
            first = low[row]
            if row > 0 and low[row - 1] == first and high[row - 1] >= first:
                for i in range(inner):
                    out[to + i] = out[to - inner + i]
                first = high[row - 1] + 1
            else:
                for i in range(inner):
                    out[to + i] = 1e308 * 10.0
            for place in range(first, high[row] + 1):
                at = (o * size + place) * inner
                for i in range(inner):
                    if grid[at + i] < out[to + i]:
                        out[to + i] = grid[at + i]


@entry
def least_where_running(
    grid: FloatArray,
    more: FloatArray,
    least: FloatArray,
    shares: FloatArray,
    outer: int,
    size: int,
    inner: int,
    high: IntArray,
    rows: int,
    out: FloatArray,
) -> None:
    """For each row the least of ``grid + share * more`` over places up to `high`; inf of none.

    Args:
        grid: ``(outer, size, inner)``.
        more: ``(outer, size, inner)``.
        least: ``(outer, size, inner)`` least of ``grid + more`` up to each place.
        shares: ``(rows, size)``; below 0 for places that do not count.
        outer: First extent of grids.
        size: Their second extent.
        inner: Their third extent.
        high: ``(rows,)`` last places.
        rows: How many rows there are.
        out: Gets ``(outer, rows, inner)``.
    """
    for o in range(outer):
        for row in range(rows):
            to = (o * rows + row) * inner
            first = 0
            while first <= high[row] and shares[row * size + first] >= 1.0:
                first += 1
            at = (o * size + first - 1) * inner
            for i in range(inner):
                out[to + i] = least[at + i] if first > 0 else 1e308 * 10.0
            for place in range(first, high[row] + 1):
                at = (o * size + place) * inner
                share = shares[row * size + place]
                if share < 0.0:
                    continue
                for i in range(inner):
                    value = grid[at + i] + share * more[at + i]
                    if value < out[to + i]:
                        out[to + i] = value
