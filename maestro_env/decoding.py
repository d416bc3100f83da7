"""Actions to mapping arrays, which are flat here: ``(B, 2, 8)``, ``(B, 2)``, ``(B,)``."""

from __future__ import annotations

from maestro_env.codec_layout import WIDTH, Columns
from marl_common import Int8Array, Int32Array, IntArray, part


@part
def decode_orders(
    actions: IntArray, row: int, space: Columns, values: Int32Array, table: Int8Array,
    ranks: IntArray, orders: Int8Array,
) -> None:  # fmt: skip
    """The loop orders of one mapping: what leads, what has priorities, what cannot iterate."""
    action = row * space.parameters
    for level in range(2):
        out = (2 * row + level) * WIDTH
        column = space.order[level]
        if column >= 0:
            number = values[column * space.most + actions[action + column]]
            for place in range(WIDTH):
                orders[out + place] = table[number * WIDTH + place]
        else:
            for place in range(WIDTH):
                orders[out + place] = space.unsorted[level][place]
            _sort(actions, action, level, space, values, ranks, orders, out)


@part
def _sort(
    actions: IntArray, action: int, level: int, space: Columns, values: Int32Array,
    ranks: IntArray, orders: Int8Array, out: int,
) -> None:  # fmt: skip
    """Sort by priority; insertion keeps ties in the order KCYXRSNG."""
    first = space.first[level]
    for start in range(first, space.last[level]):
        dim = space.unsorted[level][start]
        column = space.priority[level][dim]
        rank = int(values[column * space.most + actions[action + column]])
        place = start
        while place > first and ranks[place - 1] > rank:
            ranks[place] = ranks[place - 1]
            orders[out + place] = orders[out + place - 1]
            place -= 1
        ranks[place] = rank
        orders[out + place] = dim


@part
def decode_tiles(
    actions: IntArray, row: int, space: Columns, values: Int32Array, tiles: Int32Array
) -> None:
    """The tiles of one mapping; those of the inner level are clipped to the outer ones."""
    action = row * space.parameters
    for level in range(2):
        out = (2 * row + level) * WIDTH
        for dim in range(WIDTH):
            column = space.tile[level][dim]
            tile = space.fixed[dim]
            if column >= 0:
                tile = int(values[column * space.most + actions[action + column]])
            if level == 1:
                tile = min(tile, int(tiles[out - WIDTH + dim]))
            tiles[out + dim] = tile
