"""One row of a batch as a program, as `cost_models.lowering` lowers one mapping to a dataflow."""

from __future__ import annotations

from cost_models.maestro.layout import (
    COUNTS,
    DEPTHWISE,
    DIM_K,
    DIM_R,
    DIM_S,
    DIM_X,
    DIM_Y,
    NEST,
    NUM_DIMS,
    P_OFFSET,
    P_PRIME,
    P_SIZE,
    P_SPATIAL,
    P_VAR,
    STRIDE,
    VARIABLE_OF_DIM,
    G,
    N,
)
from cost_models.maestro.levels import program_at
from marl_common import Int8Array, Int32Array, IntArray, part


@part
def lower_row(
    layer: IntArray,
    extents: IntArray,
    orders: Int8Array,
    parallel: Int8Array,
    tiles: Int32Array,
    row: int,
    work: IntArray,
) -> bool:
    """Lower one mapping to a program of two levels; False if MAESTRO has no directives for it.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        extents: ``(8,)``, in the order of `DIMS`.
        orders: ``(B, 2, 8)`` dimensions, outermost first.
        parallel: ``(B, 2)`` dimensions.
        tiles: ``(B, 2, 8)``; clipped here to what they tile.
        row: Which mapping.
        work: ``(WORK_SIZE,)``, see `layout`; the program is written here.
    """
    if not _repeats_only(extents, orders, parallel, tiles, row):
        return False
    count = _put_repeats(layer, work)
    for level in range(2):
        first = (2 * row + level) * NUM_DIMS
        for place in range(NUM_DIMS):
            dim = int(orders[first + place])
            if dim < 0 or dim >= NUM_DIMS:
                return False
            if dim >= NEST or (dim == DIM_K and layer[DEPTHWISE]):
                continue
            spatial = dim == parallel[2 * row + level]
            tile = _own_tile(extents, tiles, first, level, dim)
            if dim in (DIM_R, DIM_S) and not spatial and tile != extents[dim]:
                return False
            if tile < 1:
                return False
            prime = dim in (DIM_Y, DIM_X)
            size = (tile - 1) * layer[STRIDE] + 1 if prime else tile
            _put_directive(work, level, count, VARIABLE_OF_DIM[dim], spatial, prime, size)
            count += 1
        work[COUNTS + level] = count
        count = 0
    return True


@part
def _own_tile(extents: IntArray, tiles: Int32Array, first: int, level: int, dim: int) -> int:
    """A tile, no larger than what it tiles."""
    limit = extents[dim]
    if level == 1:
        limit = min(limit, tiles[first - NUM_DIMS + dim])
    return min(tiles[first + dim], limit)


@part
def _repeats_only(
    extents: IntArray, orders: Int8Array, parallel: Int8Array, tiles: Int32Array, row: int
) -> bool:
    """Whether batch and groups, where there are several, repeat all loops that iterate."""
    first = 2 * row * NUM_DIMS
    for dim in range(NEST, NUM_DIMS):
        used = parallel[2 * row] == dim or parallel[2 * row + 1] == dim or tiles[first + dim] != 1
        if extents[dim] > 1 and used:
            return False
    iterates = False
    for place in range(NUM_DIMS):
        dim = int(orders[first + place])
        if 0 <= dim < NEST:
            iterates = iterates or tiles[first + dim] < extents[dim]
        elif NEST <= dim < NUM_DIMS and extents[dim] > 1 and iterates:
            return False
    return True


@part
def _put_repeats(layer: IntArray, work: IntArray) -> int:
    """Batch and groups repeat the nest: outermost, one at a time; how many there are."""
    count = 0
    if layer[N] > 1:
        _put_directive(work, 0, count, N, False, False, 1)
        count += 1
    if layer[G] > 1:
        _put_directive(work, 0, count, G, False, False, 1)
        count += 1
    return count


@part
def _put_directive(
    work: IntArray, level: int, place: int, var: int, spatial: bool, prime: bool, size: int
) -> None:
    work[program_at(level, P_VAR) + place] = var
    work[program_at(level, P_SPATIAL) + place] = spatial
    work[program_at(level, P_PRIME) + place] = prime
    work[program_at(level, P_SIZE) + place] = size
    work[program_at(level, P_OFFSET) + place] = size
