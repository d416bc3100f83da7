"""Mappings that differ only where it cannot matter, recognised by a common key."""

from __future__ import annotations

import numpy as np

from common import BoolArray, Int8Array, Int32Array, IntArray, UInt64Array, compiled
from cost_models import Accelerator, MappingBatch, Symmetry
from layers import DIMS, TENSORS, Layer

WIDTH = len(DIMS)
R, S = DIMS.index("R"), DIMS.index("S")
NONE, NEST = int(Symmetry.NONE), int(Symmetry.NEST)


def nest_keys(
    layer: Layer,
    accelerator: Accelerator,
    mappings: MappingBatch,
    symmetry: Symmetry = Symmetry.TILE,
) -> UInt64Array:
    """A 64-bit key a mapping; equal where two mappings run the same loop nest.

    A loop of one iteration never advances, so its place in the order is immaterial: the key holds
    the relative order of the loops that iterate, the tiles, the parallel dimensions and the cluster
    size. Mappings with equal keys cost the same (up to a chance of about 2^-64 a pair).

    Args:
        layer: The layer.
        accelerator: Its PEs are used where the mappings choose none.
        mappings: `B` mappings.
        symmetry: Which mappings the cost model gives the same cost.

    Returns:
        ``(B,)`` uint64.
    """
    pes = mappings.num_pes
    if pes is None:
        pes = np.full(len(mappings), accelerator.num_pes, dtype=np.int32)
    result: UInt64Array = _keys(
        np.array(layer.extents, dtype=np.int64),
        mappings.orders,
        mappings.parallel,
        mappings.tiles,
        mappings.cluster_size,
        pes,
        int(symmetry),
        *_optional(mappings),
    )
    return result


def _optional(mappings: MappingBatch) -> tuple[Int8Array, Int32Array, BoolArray]:
    """Second dimensions, units and bypass; without rows where no mapping has them."""
    second, units, bypass = mappings.parallel2, mappings.units, mappings.bypass
    size = len(mappings)
    if second is None and bypass is None:
        size = 0
    return (
        np.full((size, 2), -1, np.int8) if second is None else second,
        np.zeros((size, 2), np.int32) if units is None else units,
        np.zeros((size, 2, len(TENSORS)), np.bool_) if bypass is None else bypass,
    )


@compiled
def _keys(
    extents: IntArray,
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    cluster: Int32Array,
    pes: Int32Array,
    symmetry: int,
    second: Int8Array,
    units: Int32Array,
    bypass: BoolArray,
) -> UInt64Array:
    size = len(cluster)
    result = np.empty(size, np.uint64)
    for row in range(size):
        key = _mix(_mix(np.uint64(0), cluster[row]), pes[row])
        taps = False  # a parallel R or S
        for level in range(2):
            taps = taps or parallel[row, level] == R or parallel[row, level] == S
        for level in range(2 if len(second) else 0):
            taps = taps or second[row, level] == R or second[row, level] == S
            passing = 0
            for tensor in range(bypass.shape[2]):
                passing = 2 * passing + bypass[row, level, tensor]
            # a mapping that uses none of them has the key that it has without the fields
            if passing > 0:
                key = _mix(_mix(key, 1000 + level), passing)
            if second[row, level] >= 0:
                key = _mix(_mix(_mix(key, 2000 + level), second[row, level]), units[row, level])
        for level in range(2):
            width = cluster[row] if level == 1 else max(1, pes[row] // cluster[row])
            width2 = 1
            other = -1
            if len(second) and second[row, level] >= 0:
                other = second[row, level]
                width2 = max(1, width // units[row, level])
                width = units[row, level]
            key = _mix(key, parallel[row, level])
            for dim in range(WIDTH):
                key = _mix(key, tiles[row, level, dim])
            for place in range(WIDTH):
                dim = orders[row, level, place]
                whole = tiles[row, 0, dim] if level == 1 else extents[dim]
                step = tiles[row, level, dim]
                if symmetry == NEST and parallel[row, level] == dim:
                    step *= width
                if symmetry == NEST and other == dim:
                    step *= width2
                kept = symmetry == NONE or (taps and symmetry != NEST and extents[dim] > 1)
                if step < whole or kept:
                    key = _mix(key, dim)
            key = _mix(key, WIDTH)
        result[row] = key
    return result


@compiled
def _mix(key: np.uint64, value: int) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    mixed = key + np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
