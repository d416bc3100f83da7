"""One row of a batch as a program, as `cost_models.lowering` lowers one mapping to a dataflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from common import IntArray
from cost_models.maestro.layout import (
    DEPTHWISE,
    P_OFFSET,
    P_PRIME,
    P_SIZE,
    P_SPATIAL,
    P_VAR,
    STRIDE,
    ZERO,
    C,
    G,
    K,
    N,
    R,
    S,
    X,
    Y,
    part,
)
from layers import DIMS, NEST_DIMS

_VARIABLES = (K, C, Y, X, R, S, N, G)
"""The kernel's variable of each dimension of `DIMS`."""
_K, _Y, _X, _R, _S = (DIMS.index(dim) for dim in "KYXRS")
_NEST = len(NEST_DIMS)
_NUM_DIMS = len(_VARIABLES)


@part
def lower_row(
    layer: IntArray,
    extents: IntArray,
    orders: NDArray[np.int8],
    parallel: NDArray[np.int8],
    tiles: NDArray[np.int32],
    program: IntArray,
    counts: IntArray,
) -> bool:
    """Lower one mapping to a program of two levels; False if MAESTRO has no directives for it.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        extents: ``(8,)``, in the order of `DIMS`.
        orders: ``(2, 8)`` dimensions, outermost first.
        parallel: ``(2,)`` dimensions.
        tiles: ``(2, 8)``; clipped here to what they tile.
        program: ``(MAX_LEVELS, PROGRAM_ROWS, MAX_MAPS)``, filled here.
        counts: ``(MAX_LEVELS,)`` maps of each level, filled here.
    """
    if not _repeats_only(extents, orders, parallel, tiles):
        return False
    count = _put_repeats(layer, program)
    for level in range(2):
        for place in range(_NUM_DIMS):
            dim = orders[level, place]
            if dim < 0 or dim >= _NUM_DIMS:
                return False
            if dim >= _NEST or (dim == _K and layer[DEPTHWISE]):
                continue
            spatial = dim == parallel[level]
            tile = _tile(extents, tiles, level, dim, spatial)
            if tile < 1:
                return False
            prime = dim in (_Y, _X)
            size = (tile - 1) * layer[STRIDE] + 1 if prime else tile
            _put(program, level, count, _VARIABLES[dim], spatial, prime, size)
            count += 1
        counts[level] = count
        count = ZERO
    return True


@part
def _tile(extents: IntArray, tiles: NDArray[np.int32], level: int, dim: int, spatial: bool) -> int:
    """A tile, no larger than what it tiles; 0 where MAESTRO has none: it takes filters whole."""
    limit = extents[dim]
    if level == 1:
        limit = min(limit, tiles[0, dim])
    tile = min(tiles[level, dim], limit)
    if dim in (_R, _S) and not spatial and tile != extents[dim]:
        return 0
    return tile


@part
def _repeats_only(
    extents: IntArray,
    orders: NDArray[np.int8],
    parallel: NDArray[np.int8],
    tiles: NDArray[np.int32],
) -> bool:
    """Whether batch and groups, where there are several, repeat all loops that iterate."""
    for dim in range(_NEST, _NUM_DIMS):
        used = parallel[0] == dim or parallel[1] == dim or tiles[0, dim] != 1
        if extents[dim] > 1 and used:
            return False
    iterates = False
    for place in range(_NUM_DIMS):
        dim = orders[0, place]
        if 0 <= dim < _NEST:
            iterates = iterates or tiles[0, dim] < extents[dim]
        elif _NEST <= dim < _NUM_DIMS and extents[dim] > 1 and iterates:
            return False
    return True


@part
def _put_repeats(layer: IntArray, program: IntArray) -> int:
    """Batch and groups repeat the nest: outermost, one at a time; how many there are."""
    count = ZERO
    for var in (N, G):
        if layer[var] > 1:
            _put(program, ZERO, count, var, False, False, 1)
            count += 1
    return int(count)


@part
def _put(
    program: IntArray, level: int, place: int, var: int, spatial: bool, prime: bool, size: int
) -> None:
    program[level, P_VAR, place] = var
    program[level, P_SPATIAL, place] = spatial
    program[level, P_PRIME, place] = prime
    program[level, P_SIZE, place] = program[level, P_OFFSET, place] = size
