"""The compiled entry points: actions and mapping arrays, keys of mappings, rewards.

Arrays of mappings: orders and tiles ``(B, 2, 8)``, parallel ``(B, 2)``, cluster and pes ``(B,)``.
A space is a record of one `codec_layout.Columns`, ``(P,)`` numbers of choices, and the value of
each choice, ``(P, most)``, ascending.
"""

from __future__ import annotations

import numpy as np

from maestro_env.codec_layout import (
    DECADES,
    LOG_REWARD,
    OBSERVED,
    OFFERED,
    Columns,
    OfferRow,
)
from maestro_env.decoding import decode_orders, decode_tiles
from maestro_env.encoding import encode_array, encode_choice, encode_order, encode_tiles
from maestro_env.nest_key import has_taps, mix, mix_fields, mix_nest
from marl_common import (
    BoolArray,
    Float32Array,
    FloatArray,
    Int8Array,
    Int32Array,
    IntArray,
    UInt64Array,
    address,
    entry,
    part,
)


@entry
def first_illegal(actions: IntArray, nvec: IntArray, rows: int, columns: int) -> int:
    """Place in ``(rows, columns)`` of the first value outside ``[0, nvec)``, or -1."""
    for row in range(rows):
        for column in range(columns):
            value = actions[row * columns + column]
            if value < 0 or value >= nvec[column]:
                return row * columns + column
    return -1


@entry
def decode_rows(
    actions: IntArray,
    spaces: Columns,
    values: Int32Array,
    table: Int8Array,
    ranks: IntArray,
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    rows: int,
) -> None:
    """Fill the arrays of mappings from ``(B, P)`` actions; `table` has the numbered orders."""
    space = address(spaces[0])
    for row in range(rows):
        action = row * space.parameters
        for level in range(2):
            column = space.parallel[level]
            parallel[2 * row + level] = values[column * space.most + actions[action + column]]
        decode_orders(actions, row, space, values, table, ranks, orders)
        decode_tiles(actions, row, space, values, tiles)
        column = space.cluster
        size = int(values[column * space.most + actions[action + column]])
        column = space.pes
        if column >= 0:
            count = int(values[column * space.most + actions[action + column]])
            pes[row] = count
            size = min(size, count)
        cluster[row] = size


@entry
def encode_rows(
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    spaces: Columns,
    nvec: IntArray,
    values: Int32Array,
    actions: IntArray,
    offers: OfferRow,
    rows: int,
) -> None:
    """Fill canonical actions ``(B, P)`` and the offer of all mappings, which begins as OFFERED."""
    space = address(spaces[0])
    offer = address(offers[0])
    for row in range(rows):
        offer.row = row
        action = row * space.parameters
        for level in range(2):
            place = 2 * row + level
            encode_order(orders, 8 * place, space, nvec, values, level, actions, action, offer)
            column, value = space.parallel[level], int(parallel[place])
            encode_choice(space, nvec, values, column, value, actions, action, offer)
            encode_tiles(tiles, row, space, nvec, values, level, actions, action, offer)
        size, count = int(cluster[row]), int(pes[row])
        encode_array(size, count, space, nvec, values, actions, action, offer)
        if offer.status != OFFERED:
            break


@entry
def nest_keys(
    extents: IntArray,
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    symmetry: int,
    fields: bool,
    second: Int8Array,
    units: Int32Array,
    bypass: BoolArray,
    keys: UInt64Array,
    rows: int,
) -> None:
    """Fill the key of each mapping; the last arrays are read where there are such `fields`."""
    for row in range(rows):
        size = int(cluster[row])
        key = mix(mix(np.uint64(0), size), int(pes[row]))
        if fields:
            key = mix_fields(key, row, second, units, bypass)
        taps = has_taps(row, parallel, second, fields)
        for level in range(2):
            place = 2 * row + level
            width = size if level == 1 else max(1, int(pes[row]) // size)
            width2 = 1
            other = -1
            if fields and second[place] >= 0:
                other = int(second[place])
                width2 = max(1, width // int(units[place]))
                width = int(units[place])
            key = mix_nest(
                key, place, orders, parallel, tiles, other, width, width2, extents, symmetry, taps
            )
        keys[row] = key


@entry
def feedback_rows(
    latency: FloatArray,
    power: FloatArray,
    energy: FloatArray,
    area: FloatArray,
    values: FloatArray,
    low: FloatArray,
    reward: int,
    reference: float,
    observations: Float32Array,
    rewards: FloatArray,
    rows: int,
) -> None:
    """Fill the observations ``(B, 4)`` and rewards of feasible mappings."""
    for row in range(rows):
        value = values[row]
        if not np.isfinite(value):
            continue
        place = row * OBSERVED
        observations[place] = scaled(latency[row], low[0])
        observations[place + 1] = scaled(power[row], low[1])
        observations[place + 2] = scaled(energy[row], low[2])
        observations[place + 3] = scaled(area[row], low[3])
        if reward == LOG_REWARD:
            rewards[row] = 1.0 - scaled(value, reference)
        else:
            rewards[row] = reference / value


@part
def scaled(figure: float, low: float) -> float:
    """0 at `low` (or below), 1 at 10^DECADES times that (or above)."""
    return min(1.0, max(0.0, float(np.log10(figure / low)) / DECADES))
