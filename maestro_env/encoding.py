"""Mapping arrays to canonical actions, or why a space does not offer a mapping."""

from __future__ import annotations

from maestro_env.codec_layout import (
    NO_CHOICE,
    NO_ORDER,
    NOT_FIXED,
    NOT_OUTERMOST,
    OFFERED,
    WIDTH,
    Columns,
    OfferRow,
)
from marl_common import Int8Array, Int32Array, IntArray, part


@part
def refuse(offer: OfferRow, status: int, column: int, dim: int, value: int) -> None:
    """Say why a mapping is not offered; the first reason stands."""
    if offer.status == OFFERED:
        offer.status = status
        offer.column = column
        offer.dim = dim
        offer.value = value


@part
def _at_least(space: Columns, nvec: IntArray, values: Int32Array, column: int, value: int) -> int:
    """Position of the smallest choice that is not below a value; -1 if all are."""
    low = 0
    high = nvec[column]
    while low < high:
        middle = (low + high) // 2
        if values[column * space.most + middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < nvec[column] else -1


@part
def _index(space: Columns, nvec: IntArray, values: Int32Array, column: int, value: int) -> int:
    """Position of a value among a column's choices, which ascend; -1 if it is none of them."""
    index = _at_least(space, nvec, values, column, value)
    return index if index >= 0 and values[column * space.most + index] == value else -1


@part
def encode_choice(
    space: Columns, nvec: IntArray, values: Int32Array, column: int, value: int,
    actions: IntArray, action: int, offer: OfferRow,
) -> None:  # fmt: skip
    """Write the choice of a value into an action."""
    index = _index(space, nvec, values, column, value)
    if index < 0:
        refuse(offer, NO_CHOICE, column, -1, value)
    else:
        actions[action + column] = index


@part
def encode_tiles(
    tiles: Int32Array, row: int, space: Columns, nvec: IntArray, values: Int32Array, level: int,
    actions: IntArray, action: int, offer: OfferRow,
) -> None:  # fmt: skip
    """Write a level's tiles into an action."""
    for dim in range(WIDTH):
        column = space.tile[level][dim]
        outer = min(int(tiles[2 * row * WIDTH + dim]), space.extents[dim])
        tile = outer
        if level == 1:
            tile = min(int(tiles[(2 * row + 1) * WIDTH + dim]), outer)
        if column < 0:
            if tile != space.fixed[dim]:
                refuse(offer, NOT_FIXED, -1, dim, tile)
            continue
        index = _at_least(space, nvec, values, column, tile)  # larger choices are clamped
        clamped = level == 1 and tile == outer
        if index < 0 or (values[column * space.most + index] != tile and not clamped):
            refuse(offer, NO_CHOICE, column, dim, tile)
        else:
            actions[action + column] = index


@part
def encode_array(
    cluster: int, pes: int, space: Columns, nvec: IntArray, values: Int32Array,
    actions: IntArray, action: int, offer: OfferRow,
) -> None:  # fmt: skip
    """Write cluster size and PE count into an action."""
    clamped = False
    if space.pes >= 0:
        encode_choice(space, nvec, values, space.pes, pes, actions, action, offer)
        clamped = cluster >= pes
    wanted = min(cluster, pes) if clamped else cluster
    column = space.cluster
    index = _at_least(space, nvec, values, column, wanted)
    if index < 0 or (values[column * space.most + index] != wanted and not clamped):
        refuse(offer, NO_CHOICE, column, -1, wanted)
    else:
        actions[action + column] = index


@part
def encode_order(
    orders: Int8Array, order: int, space: Columns, nvec: IntArray, values: Int32Array, level: int,
    actions: IntArray, action: int, offer: OfferRow,
) -> None:  # fmt: skip
    """Write a level's order, which begins at `order`, into an action."""
    dim = _inside(orders, order, space, level)
    if dim >= 0:
        refuse(offer, NOT_OUTERMOST, -1, dim, -1)
    column = space.order[level]
    if column >= 0:
        index = _index(space, nvec, values, column, _order_number(orders, order, space))
        if index < 0:
            refuse(offer, NO_ORDER, column, -1, -1)
        else:
            actions[action + column] = index
        return
    column = _encode_priorities(orders, order, space, nvec, values, level, actions, action, True)
    if column >= 0:
        column = _encode_priorities(
            orders, order, space, nvec, values, level, actions, action, False
        )
    if column >= 0:
        refuse(offer, NO_ORDER, column, -1, -1)


@part
def _inside(orders: Int8Array, order: int, space: Columns, level: int) -> int:
    """A dimension that leads every order, but stands inside a loop that can iterate; or -1."""
    nest = False
    for place in range(WIDTH):
        dim = int(orders[order + place])
        if not space.lead[dim]:
            nest = nest or space.extents[dim] > 1
        elif nest and space.extents[dim] > 1 and (level == 0 or space.tile[1][dim] >= 0):
            return dim
    return -1


@part
def _encode_priorities(
    orders: Int8Array, order: int, space: Columns, nvec: IntArray, values: Int32Array, level: int,
    actions: IntArray, action: int, strict: bool,
) -> int:  # fmt: skip
    """Give each loop the lowest priority that keeps the order; without ties if `strict`."""
    last = -1
    last_dim = -1
    for place in range(WIDTH):
        dim = int(orders[order + place])
        column = space.priority[level][dim]
        if column < 0:
            continue
        tie = not strict and dim > last_dim
        index = _at_least(space, nvec, values, column, last if tie else last + 1)
        if index < 0:
            return int(column)
        actions[action + column] = index
        last = int(values[column * space.most + index])
        last_dim = dim
    return -1


@part
def _order_number(orders: Int8Array, order: int, space: Columns) -> int:
    """Number of an order: its lexicographic place among the permutations of its dimensions."""
    number = 0
    left = 0
    for dim in range(WIDTH):
        left += space.numbered[dim]
    for place in range(WIDTH):
        dim = int(orders[order + place])
        if not space.numbered[dim]:
            continue
        smaller = 0
        for later in range(place + 1, WIDTH):
            other = int(orders[order + later])
            if other < dim and space.numbered[other]:
                smaller += 1
        number = number * left + smaller
        left -= 1
    return number
