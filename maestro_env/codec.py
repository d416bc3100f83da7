"""Compiled translation between actions and mapping arrays."""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common.jit import compiled
from layers import DIMS

Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

PERMUTATIONS: Int8Array = np.array(list(permutations(range(6))), dtype=np.int8)
"""``(720, 6)``: every loop order over ``KCYXRS``, lexicographic by index."""

ORDER_INDEX = {"".join(DIMS[d] for d in order): i for i, order in enumerate(PERMUTATIONS)}
"""Place in `PERMUTATIONS` of each order by name."""


class SpaceLayout(NamedTuple):
    """Where each part of a mapping sits in an action; a column of -1 is not searched.

    Args:
        nvec: ``(P,)`` number of choices.
        values: ``(P, most choices)`` the value of each choice (priority, index of an order or a
            dimension, tile, PEs), ascending.
        extents: ``(6,)`` extents in the order KCYXRS; tiles that are not searched take them.
        priority: ``(2, 6)`` columns of the priorities of loops that can iterate.
        order: ``(2,)`` columns of the permutations.
        parallel: ``(2,)`` columns of the parallel dimensions.
        tile: ``(2, 6)`` columns of the tiles.
        cluster: Column of the cluster size.
        pes: Column of the PE count, or -1.
    """

    nvec: Int64Array
    values: Int32Array
    extents: Int32Array
    priority: Int64Array
    order: Int64Array
    parallel: Int64Array
    tile: Int64Array
    cluster: int
    pes: int


@compiled
def first_illegal(actions: Int64Array, nvec: Int64Array) -> tuple[int, int]:
    """Row and column of the first value outside ``[0, nvec)``, or (-1, -1)."""
    for row in range(actions.shape[0]):
        for column in range(actions.shape[1]):
            if actions[row, column] < 0 or actions[row, column] >= nvec[column]:
                return row, column
    return -1, -1


@compiled
def decode_rows(
    actions: Int64Array, layout: SpaceLayout, table: Int8Array
) -> tuple[Int8Array, Int8Array, Int32Array, Int32Array, Int32Array]:
    """Arrays of a MappingBatch: orders, parallel, tiles, cluster sizes, PE counts."""
    size = actions.shape[0]
    orders = np.empty((size, 2, 6), np.int8)
    parallel = np.empty((size, 2), np.int8)
    tiles = np.empty((size, 2, 6), np.int32)
    cluster = np.empty(size, np.int32)
    pes = np.zeros(size, np.int32)
    for row in range(size):
        action = actions[row]
        for level in range(2):
            _decode_order(action, layout, table, level, orders[row, level])
            column = layout.parallel[level]
            parallel[row, level] = layout.values[column, action[column]]
            for dim in range(6):
                column = layout.tile[level, dim]
                tile = layout.extents[dim]
                if column >= 0:
                    tile = layout.values[column, action[column]]
                if level == 1:
                    tile = min(tile, tiles[row, 0, dim])
                tiles[row, level, dim] = tile
        cluster[row] = layout.values[layout.cluster, action[layout.cluster]]
        if layout.pes >= 0:
            pes[row] = layout.values[layout.pes, action[layout.pes]]
            cluster[row] = min(cluster[row], pes[row])
    return orders, parallel, tiles, cluster, pes


@compiled
def _decode_order(
    action: Int64Array, layout: SpaceLayout, table: Int8Array, level: int, out: Int8Array
) -> None:
    column = layout.order[level]
    if column >= 0:
        out[:] = table[layout.values[column, action[column]]]
        return
    count = 0
    for dim in range(6):  # insertion keeps ties in the order KCYXRS
        column = layout.priority[level, dim]
        if column < 0:
            continue
        priority = layout.values[column, action[column]]
        place = count
        while place > 0:
            before = layout.priority[level, out[place - 1]]
            if layout.values[before, action[before]] <= priority:
                break
            out[place] = out[place - 1]
            place -= 1
        out[place] = dim
        count += 1
    for dim in range(6):
        if layout.priority[level, dim] < 0:
            out[count] = dim
            count += 1


@compiled
def encode_rows(
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    layout: SpaceLayout,
) -> tuple[Int64Array, int, int, int]:
    """Canonical actions, and the row, column and value that the space lacks (-1, -1, 0 if none)."""
    size = orders.shape[0]
    actions = np.zeros((size, layout.nvec.shape[0]), np.int64)
    for row in range(size):
        for level in range(2):
            column = _encode_order(orders[row, level], layout, level, actions[row])
            if column >= 0:
                return actions, row, column, -1
            column = layout.parallel[level]
            index = _index(layout, column, parallel[row, level])
            if index < 0:
                return actions, row, column, parallel[row, level]
            actions[row, column] = index
            for dim in range(6):
                column = layout.tile[level, dim]
                tile = min(tiles[row, level, dim], layout.extents[dim])
                if level == 1:
                    tile = min(tile, tiles[row, 0, dim])
                if column < 0:
                    if tile != layout.extents[dim]:
                        return actions, row, -2 - dim, tile
                    continue
                index = _at_least(layout, column, tile)  # larger choices are clamped to the outer
                clamped = level == 1 and tile == tiles[row, 0, dim]
                if index < 0 or (layout.values[column, index] != tile and not clamped):
                    return actions, row, column, tile
                actions[row, column] = index
        clamped = False
        if layout.pes >= 0:
            index = _index(layout, layout.pes, pes[row])
            if index < 0:
                return actions, row, layout.pes, pes[row]
            actions[row, layout.pes] = index
            clamped = cluster[row] >= pes[row]
        wanted = min(cluster[row], pes[row]) if clamped else cluster[row]
        index = _at_least(layout, layout.cluster, wanted)
        if index < 0 or (layout.values[layout.cluster, index] != wanted and not clamped):
            return actions, row, layout.cluster, wanted
        actions[row, layout.cluster] = index
    return actions, -1, -1, 0


@compiled
def _at_least(layout: SpaceLayout, column: int, value: int) -> int:
    """Position of the smallest choice that is not below a value; -1 if all are."""
    low, high = 0, layout.nvec[column]
    while low < high:
        middle = (low + high) // 2
        if layout.values[column, middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < layout.nvec[column] else -1


@compiled
def _index(layout: SpaceLayout, column: int, value: int) -> int:
    """Position of a value among a column's choices, which ascend; -1 if it is none of them."""
    index = _at_least(layout, column, value)
    return index if index >= 0 and layout.values[column, index] == value else -1


@compiled
def _encode_order(order: Int8Array, layout: SpaceLayout, level: int, action: Int64Array) -> int:
    """Write a level's order into an action; the column that has no such choice, or -1."""
    column: int = layout.order[level]
    if column >= 0:
        index = _index(layout, column, _permutation_index(order))
        action[column] = max(0, index)
        return -1 if index >= 0 else column
    column = _encode_priorities(order, layout, level, action, True)
    if column >= 0:
        column = _encode_priorities(order, layout, level, action, False)
    return column


@compiled
def _encode_priorities(
    order: Int8Array, layout: SpaceLayout, level: int, action: Int64Array, strict: bool
) -> int:
    """Give each loop the lowest priority that keeps the order; without ties if `strict`."""
    last, last_dim = -1, -1
    for place in range(6):
        dim = order[place]
        column = int(layout.priority[level, dim])
        if column < 0:
            continue
        tie = not strict and dim > last_dim
        index = _at_least(layout, column, last if tie else last + 1)
        if index < 0:
            return column
        action[column] = index
        last, last_dim = layout.values[column, index], dim
    return -1


@compiled
def _permutation_index(order: Int8Array) -> int:
    index = 0
    for place in range(6):
        smaller = 0
        for later in range(place + 1, 6):
            if order[later] < order[place]:
                smaller += 1
        index = index * (6 - place) + smaller
    return index


def layout_columns(columns: dict[Any, int], keys: list[Any]) -> Int64Array:
    """The columns of some keys, -1 where a key has none."""
    return np.array([columns.get(key, -1) for key in keys], dtype=np.int64)
