"""The key of one mapping: equal where two mappings run the same loop nest."""

from __future__ import annotations

import numpy as np

from maestro_env.codec_layout import DIM_R, DIM_S, NO_SYMMETRY, OF_NEST, TENSORS, WIDTH
from marl_common import BoolArray, Int8Array, Int32Array, IntArray, part


@part
def mix(key: np.uint64, value: int) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    mixed = key + np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@part
def mix_fields(
    key: np.uint64, row: int, second: Int8Array, units: Int32Array, bypass: BoolArray
) -> np.uint64:
    """Mix in second dimensions and bypass; a mapping without them keeps its key."""
    for level in range(2):
        place = 2 * row + level
        bypassed = 0
        for tensor in range(TENSORS):
            bypassed = 2 * bypassed + int(bypass[place * TENSORS + tensor])
        if bypassed > 0:
            key = mix(mix(key, 1000 + level), bypassed)
        if second[place] >= 0:
            key = mix(mix(mix(key, 2000 + level), int(second[place])), int(units[place]))
    return key


@part
def has_taps(row: int, parallel: Int8Array, second: Int8Array, fields: bool) -> bool:
    """Whether R or S is parallel."""
    taps = False
    for place in range(2 * row, 2 * row + 2):
        taps = taps or parallel[place] == DIM_R or parallel[place] == DIM_S
        if fields:
            taps = taps or second[place] == DIM_R or second[place] == DIM_S
    return taps


@part
def mix_nest(
    key: np.uint64, place: int, orders: Int8Array, parallel: Int8Array, tiles: Int32Array,
    second: int, width: int, width2: int, extents: IntArray, symmetry: int, taps: bool,
) -> np.uint64:  # fmt: skip
    """Mix in a level of a mapping, which is number `place` of all levels."""
    first = place * WIDTH
    spread = int(parallel[place])
    key = mix(key, spread)
    for dim in range(WIDTH):
        key = mix(key, int(tiles[first + dim]))
    inner = place % 2 == 1
    ordered = taps and symmetry != OF_NEST
    for rank in range(WIDTH):
        dim = int(orders[first + rank])
        whole = int(tiles[first - WIDTH + dim]) if inner else extents[dim]
        step = int(tiles[first + dim])
        if symmetry == OF_NEST:
            step *= (width if dim == spread else 1) * (width2 if dim == second else 1)
        if step < whole or symmetry == NO_SYMMETRY or (ordered and extents[dim] > 1):
            key = mix(key, dim)
    return mix(key, WIDTH)
