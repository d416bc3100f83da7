"""Keys of mappings of a chain: equal where two mappings run the same loop nest."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from cost_models import ChainBatch, Symmetry
from layers import DIMS, Layer
from maestro_env.chain_codec import iterating
from marl_common import UInt64Array

WIDTH = len(DIMS)
SEED = 20_261_125
"""Of the factors: any will do, the same ones always."""


def chain_keys(layer: Layer, batch: ChainBatch, symmetry: Symmetry) -> UInt64Array:
    """``(B,)`` keys, see :func:`maestro_env.symmetry.nest_keys`.

    A key is a sum of the nest's numbers, each times a random odd factor, modulo 2^64, then mixed.
    """
    size, depth = len(batch), len(batch.levels)
    tiles = batch.whole_tiles(layer.extents).astype(np.int64)
    around = np.empty_like(tiles)
    around[:, 0], around[:, 1:] = layer.extents, tiles[:, :-1]
    units = np.stack([batch.units_along(e - 1) for e in range(depth)], axis=1).astype(np.int64)
    last = batch.units_along(depth - 1).astype(np.int64)
    if symmetry is Symmetry.NEST:  # of more units than get a tile, some never have work
        units, last = np.minimum(units, -(-around // tiles)), np.minimum(last, tiles[:, -1])
    walked = tiles * units if symmetry is Symmetry.NEST else tiles
    iterates = walked < around if symmetry is not Symmetry.NONE else np.ones_like(tiles, bool)
    loops = iterating(batch.orders, iterates)[:, :, None]
    by_entry = np.concatenate([units, loops], axis=2).reshape(size, -1)
    # axes may share differently: of those with more than one unit the dimension counts
    on_axes = np.where(batch.units > 1, batch.dims.astype(np.int64) + 2, 0)
    columns: list[Any] = [tiles.reshape(size, -1), by_entry, last, on_axes]
    if batch.keeps is not None:
        columns.append(batch.keeps.reshape(size, -1))
    numbers = np.concatenate(columns, axis=1).astype(np.uint64)
    return _mixed((numbers * _factors(numbers.shape[1])).sum(axis=1, dtype=np.uint64))


@lru_cache(maxsize=64)
def _factors(count: int) -> UInt64Array:
    drawn = np.random.default_rng(SEED).integers(0, 1 << 64, 4096, np.uint64, endpoint=False)
    return drawn[:count] | np.uint64(1)


def _mixed(keys: UInt64Array) -> UInt64Array:
    """The last steps of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
