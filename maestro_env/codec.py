"""Compiled translation between actions and mapping arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from common import BoolArray, Int8Array, Int32Array, IntArray, compiled
from layers import DIMS

WIDTH = len(DIMS)

OFFERED, NO_CHOICE, NO_ORDER, NOT_FIXED, NOT_OUTERMOST = range(5)
"""Whether a space offers a mapping: it does; a parameter lacks a value, or a choice that gives the
order; a tile is not the one that all mappings have; a loop that repeats the nest is inside it."""


STATUS, ROW, COLUMN, DIM, VALUE = range(5)
"""Fields of an :class:`Offer` in compiled code."""


class Offer(NamedTuple):
    """Whether a space offers mappings; only `status` has a meaning where it is `OFFERED`.

    Args:
        status: One of the codes above.
        row: The first mapping that is not offered.
        column: The parameter that lacks a choice, or -1.
        dim: The dimension that is meant, or -1.
        value: The value of the mapping there.
    """

    status: int
    row: int
    column: int
    dim: int
    value: int


class SpaceLayout(NamedTuple):
    """Where each part of a mapping sits in an action; a column of -1 is not searched.

    Args:
        nvec: ``(P,)`` number of choices.
        values: ``(P, most choices)`` the value of each choice (priority, number of an order or a
            dimension, tile, PEs), ascending.
        extents: ``(8,)`` extents in the order KCYXRSNG.
        fixed: ``(8,)`` tiles of the dimensions whose tiles are not searched.
        lead: ``(8,)`` which dimensions are outermost in every mapping, in the order KCYXRSNG.
        numbered: ``(8,)`` which dimensions the numbered orders permute.
        table: ``(orders, 8)`` the orders by number; none where orders are not numbered.
        priority: ``(2, 8)`` columns of the priorities of loops that can iterate.
        order: ``(2,)`` columns of the numbered orders.
        parallel: ``(2,)`` columns of the parallel dimensions.
        tile: ``(2, 8)`` columns of the tiles.
        cluster: Column of the cluster size.
        pes: Column of the PE count, or -1.
    """

    nvec: IntArray
    values: Int32Array
    extents: Int32Array
    fixed: Int32Array
    lead: BoolArray
    numbered: BoolArray
    table: Int8Array
    priority: IntArray
    order: IntArray
    parallel: IntArray
    tile: IntArray
    cluster: int
    pes: int


@compiled
def first_illegal(actions: IntArray, nvec: IntArray) -> tuple[int, int]:
    """Row and column of the first value outside ``[0, nvec)``, or (-1, -1)."""
    for row in range(actions.shape[0]):
        for column in range(actions.shape[1]):
            if actions[row, column] < 0 or actions[row, column] >= nvec[column]:
                return row, column
    return -1, -1


@compiled
def decode_rows(
    actions: IntArray, layout: SpaceLayout
) -> tuple[Int8Array, Int8Array, Int32Array, Int32Array, Int32Array]:
    """Arrays of a MappingBatch: orders, parallel, tiles, cluster sizes, PE counts."""
    size = actions.shape[0]
    orders = np.empty((size, 2, WIDTH), np.int8)
    parallel = np.empty((size, 2), np.int8)
    tiles = np.empty((size, 2, WIDTH), np.int32)
    cluster = np.empty(size, np.int32)
    pes = np.zeros(size, np.int32)
    for level in range(2):
        column = layout.parallel[level]
        for row in range(size):
            parallel[row, level] = layout.values[column, actions[row, column]]
        _decode_orders(actions, layout, level, orders[:, level])
        _decode_tiles(actions, layout, level, tiles)
    for row in range(size):
        cluster[row] = layout.values[layout.cluster, actions[row, layout.cluster]]
        if layout.pes >= 0:
            pes[row] = layout.values[layout.pes, actions[row, layout.pes]]
            cluster[row] = min(cluster[row], pes[row])
    return orders, parallel, tiles, cluster, pes


@compiled
def _decode_tiles(actions: IntArray, layout: SpaceLayout, level: int, out: Int32Array) -> None:
    """Tiles of a level, ``out[:, level]``; those of the inner one are clipped to the outer ones."""
    for row in range(actions.shape[0]):
        for dim in range(WIDTH):
            column = layout.tile[level, dim]
            tile = layout.fixed[dim]
            if column >= 0:
                tile = layout.values[column, actions[row, column]]
            if level == 1:
                tile = min(tile, out[row, 0, dim])
            out[row, level, dim] = tile


@compiled
def _decode_orders(actions: IntArray, layout: SpaceLayout, level: int, out: Int8Array) -> None:
    """Loop orders of a level: what leads, what has priorities, what cannot iterate."""
    number = layout.order[level]
    if number >= 0:
        for row in range(actions.shape[0]):
            out[row] = layout.table[layout.values[number, actions[row, number]]]
        return
    columns = layout.priority[level]
    unsorted = np.empty(WIDTH, np.int8)
    first = _put(unsorted, 0, layout.lead)
    last = _put(unsorted, first, columns >= 0)
    _put(unsorted, last, (columns < 0) & ~layout.lead)
    ranks = np.empty(WIDTH, np.int32)
    for row in range(actions.shape[0]):
        order = out[row]
        order[:] = unsorted
        for start in range(first, last):  # insertion keeps ties in the order KCYXRSNG
            dim = unsorted[start]
            rank = layout.values[columns[dim], actions[row, columns[dim]]]
            place = start
            while place > first and ranks[place - 1] > rank:
                ranks[place] = ranks[place - 1]
                order[place] = order[place - 1]
                place -= 1
            ranks[place] = rank
            order[place] = dim


@compiled
def _put(order: Int8Array, place: int, chosen: BoolArray) -> int:
    """Write the chosen dimensions into an order from a place on; the place behind them."""
    for dim in range(WIDTH):
        if chosen[dim]:
            order[place] = dim
            place += 1
    return place


@compiled
def encode_rows(
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    layout: SpaceLayout,
) -> tuple[IntArray, IntArray]:
    """Canonical actions, and the fields of an :class:`Offer` of all mappings."""
    size = orders.shape[0]
    actions = np.zeros((size, layout.nvec.shape[0]), np.int64)
    offer = np.full(5, -1, np.int64)
    offer[STATUS] = OFFERED
    for row in range(size):
        offer[ROW] = row
        for level in range(2):
            _encode_order(orders[row, level], layout, level, actions[row], offer)
            _encode_choice(
                layout, layout.parallel[level], parallel[row, level], actions[row], offer
            )
            _encode_tiles(tiles[row], layout, level, actions[row], offer)
        _encode_array(cluster[row], pes[row], layout, actions[row], offer)
        if offer[STATUS] != OFFERED:
            break
    return actions, offer


@compiled
def _refuse(offer: IntArray, status: int, column: int, dim: int, value: int) -> None:
    """Say why a mapping is not offered; the first reason stands."""
    if offer[STATUS] == OFFERED:
        offer[STATUS], offer[COLUMN], offer[DIM], offer[VALUE] = status, column, dim, value


@compiled
def _encode_choice(
    layout: SpaceLayout, column: int, value: int, action: IntArray, offer: IntArray
) -> None:
    """Write the choice of a value into an action."""
    index = _index(layout, column, value)
    if index < 0:
        _refuse(offer, NO_CHOICE, column, -1, value)
    else:
        action[column] = index


@compiled
def _encode_tiles(
    tiles: Int32Array, layout: SpaceLayout, level: int, action: IntArray, offer: IntArray
) -> None:
    """Write a level's tiles into an action."""
    for dim in range(WIDTH):
        column = layout.tile[level, dim]
        outer = min(tiles[0, dim], layout.extents[dim])
        tile = outer if level == 0 else min(tiles[1, dim], outer)
        if column < 0:
            if tile != layout.fixed[dim]:
                _refuse(offer, NOT_FIXED, -1, dim, tile)
            continue
        index = _at_least(layout, column, tile)  # larger choices are clamped to the outer
        clamped = level == 1 and tile == outer
        if index < 0 or (layout.values[column, index] != tile and not clamped):
            _refuse(offer, NO_CHOICE, column, dim, tile)
        else:
            action[column] = index


@compiled
def _encode_array(
    cluster: int, pes: int, layout: SpaceLayout, action: IntArray, offer: IntArray
) -> None:
    """Write cluster size and PE count into an action."""
    clamped = False
    if layout.pes >= 0:
        _encode_choice(layout, layout.pes, pes, action, offer)
        clamped = cluster >= pes
    wanted = min(cluster, pes) if clamped else cluster
    index = _at_least(layout, layout.cluster, wanted)
    if index < 0 or (layout.values[layout.cluster, index] != wanted and not clamped):
        _refuse(offer, NO_CHOICE, layout.cluster, -1, wanted)
    else:
        action[layout.cluster] = index


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
def _encode_order(
    order: Int8Array, layout: SpaceLayout, level: int, action: IntArray, offer: IntArray
) -> None:
    """Write a level's order into an action."""
    dim = _inside(order, layout, level)
    if dim >= 0:
        _refuse(offer, NOT_OUTERMOST, -1, dim, -1)
    column = layout.order[level]
    if column >= 0:
        index = _index(layout, column, _order_number(order, layout))
        if index < 0:
            _refuse(offer, NO_ORDER, column, -1, -1)
        else:
            action[column] = index
        return
    column = _encode_priorities(order, layout, level, action, True)
    if column >= 0:
        column = _encode_priorities(order, layout, level, action, False)
    if column >= 0:
        _refuse(offer, NO_ORDER, column, -1, -1)


@compiled
def _inside(order: Int8Array, layout: SpaceLayout, level: int) -> int:
    """A dimension that leads every order, but stands inside a loop that can iterate; or -1."""
    nest = False
    for place in range(WIDTH):
        dim = order[place]
        if not layout.lead[dim]:
            nest = nest or layout.extents[dim] > 1
        elif nest and layout.extents[dim] > 1 and (level == 0 or layout.tile[1, dim] >= 0):
            return int(dim)
    return -1


@compiled
def _encode_priorities(
    order: Int8Array, layout: SpaceLayout, level: int, action: IntArray, strict: bool
) -> int:
    """Give each loop the lowest priority that keeps the order; without ties if `strict`."""
    last, last_dim = -1, -1
    for place in range(WIDTH):
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
def _order_number(order: Int8Array, layout: SpaceLayout) -> int:
    """Number of an order: its lexicographic place among the permutations of its dimensions."""
    number, left = 0, layout.numbered.sum()
    for place in range(WIDTH):
        if not layout.numbered[order[place]]:
            continue
        smaller = 0
        for later in range(place + 1, WIDTH):
            if order[later] < order[place] and layout.numbered[order[later]]:
                smaller += 1
        number = number * left + smaller
        left -= 1
    return number


def layout_columns(columns: dict[Any, int], keys: list[Any]) -> IntArray:
    """The columns of some keys, -1 where a key has none."""
    return np.array([columns.get(key, -1) for key in keys], dtype=np.int64)
