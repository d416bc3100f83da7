"""Features of each choice of a decision, in `seen_records.Seen`."""

from __future__ import annotations

from mapper.pretrained.decisions import (
    INNER,
    INNER_PARALLEL,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.seen_records import CHOICE_FEATURES, TENSORS, D, R, S, Seen, X, Y
from mapper.pretrained.tile_sizes import (
    across,
    elements_but_one,
    factor_of,
    fill_of,
    hold,
    log_of,
    size_log,
    up,
    utilisation,
    within,
)
from marl_common import BoolArray, Float32Array, IntArray, address, part


@part
def put_choice(seen: Seen, choices: Float32Array, c: int) -> None:
    """Write the features of a choice down, and begin with none."""
    for k in range(CHOICE_FEATURES):
        choices[(seen.first + c) * CHOICE_FEATURES + k] = seen.choice[k]
        seen.choice[k] = 0.0


@part
def see_parallel(seen: Seen, decision: int, dim: int) -> None:
    """Features of a parallel dimension."""
    problem, out = address(seen.problem), seen.choice
    n, pes, outer = problem.extents[dim], problem.pes, seen.state.parallel[OUTER]
    out[0] = size_log(n)
    for tensor in range(TENSORS):
        out[1 + tensor] = problem.coupling[tensor][dim]
    out[4] = utilisation(n, pes)
    out[5] = n >= pes
    out[6] = decision == INNER_PARALLEL and outer == dim
    out[7] = size_log(float(pes) / n)
    out[8] = dim in (Y, X)
    out[9] = dim in (R, S)
    out[10] = min(n, pes) / float(pes)
    if decision == INNER_PARALLEL:
        both = n if dim == outer else n * problem.extents[outer]
        out[11] = min(both / float(pes), 2.0)
        out[12] = size_log(both / float(pes))


@part
def see_cluster(seen: Seen, size: int) -> None:
    """Features of a cluster size."""
    problem, state, out = address(seen.problem), address(seen.state), seen.choice
    clusters = problem.pes // size
    outer = problem.extents[state.parallel[OUTER]]
    inside = problem.extents[state.parallel[INNER]]
    same = state.parallel[OUTER] == state.parallel[INNER]
    out[0] = size_log(size)
    out[1] = size_log(clusters)
    out[2] = clusters * size / float(problem.pes)
    out[3] = utilisation(inside, size)
    out[4] = utilisation(up(outer, size) if same else outer, clusters)
    out[5] = out[2] * out[3] * out[4]
    out[6] = size_log(up(inside, size))
    out[7] = size_log(up(outer, clusters))
    out[8] = size == 1
    out[9] = clusters == 1
    out[10] = size > inside
    out[11] = clusters > outer
    out[12] = size_log(float(size) / inside)
    out[13] = size_log(float(clusters) / outer)


@part
def see_tiles(
    seen: Seen, decision: int, values: IntArray, choices: Float32Array, legal: BoolArray
) -> None:
    """The tiles of a dimension, and whether the buffers hold them with the least of what is open.

    Where nothing fits, the least that is left is legal.
    """
    problem = address(seen.problem)
    level = INNER if decision < OUTER_TILE else OUTER
    d = decision - (INNER_TILE if level == INNER else OUTER_TILE)
    hold(seen, level)
    for tensor in range(TENSORS):
        for buffer in range(2):
            seen.rest[buffer][tensor] = elements_but_one(seen, buffer, tensor, d)
    least = -1
    for c in range(problem.counts[decision]):
        tile = values[seen.at + c]
        if tile < seen.state.tiles[INNER][d]:
            continue
        if least < 0:
            least = c
        wide = min(problem.extents[d], tile * across(seen, d))
        for tensor in range(TENSORS):
            factor = factor_of(seen, OUTER, tensor, d, wide)
            seen.sizes[OUTER][tensor] = seen.rest[OUTER][tensor] * factor
            factor = factor_of(seen, INNER, tensor, d, tile)
            seen.sizes[INNER][tensor] = seen.rest[INNER][tensor] * factor
        fill, shared = fill_of(seen, level), fill_of(seen, OUTER)
        see_fill(seen, fill, shared)
        see_tile(seen, level, d, tile)
        put_choice(seen, choices, c)
        if fill > 1.0 or shared > 1.0:  # neither will any larger one
            break
        legal[seen.first + c] = True
    if least >= 0:
        legal[seen.first + least] = True


@part
def see_fill(seen: Seen, own: float, shared: float) -> None:
    """Features of what a tile takes of its own level's buffer, and of L2."""
    seen.choice[3] = min(own, 2.0)
    seen.choice[4] = max(size_log(own), -3.0) if own > 0 else 0.0
    seen.choice[5] = min(shared, 2.0)


@part
def see_tile(seen: Seen, level: int, d: int, tile: int) -> None:
    """Features of a tile of dimension `d` but for the buffers."""
    out = seen.choice
    n, wide, deep = seen.problem.extents[d], across(seen, d), within(seen, d)
    narrow = tile if level == INNER else seen.state.tiles[INNER][d]
    units = wide if level == OUTER else deep
    pieces = up(n, tile)
    steps = pieces if units == 1 else up(n, tile * units)
    out[0] = log_of(seen, tile)
    out[1] = log_of(seen, steps)
    out[2] = out[0] + out[1] + log_of(seen, units) - log_of(seen, n)
    out[6] = tile == 1
    out[7] = tile == n
    out[8] = n % tile == 0
    out[9] = utilisation(pieces, units)
    # what the other level can make of it
    whole = tile if level == OUTER else n
    inside = up(whole, narrow * deep)
    out[10] = log_of(seen, inside)
    out[11] = 1.0 if deep == 1 else utilisation(up(whole, narrow), deep)
    out[12] = level == OUTER and tile == narrow
    out[13] = out[9] * out[11]
    out[14] = out[0] - log_of(seen, narrow)
    out[15] = units > 1
    # cycles of the busiest PE in this dimension over the least there can be
    spent = out[1] + out[10] if level == OUTER else log_of(seen, up(n, narrow * deep * wide))
    spent += log_of(seen, narrow) + log_of(seen, wide) + log_of(seen, deep)
    out[16] = spent - log_of(seen, n)
    out[17] = steps == 1


@part
def see_loops(
    seen: Seen, decision: int, values: IntArray, choices: Float32Array, legal: BoolArray
) -> None:
    """The loops of an order."""
    state, out = address(seen.state), seen.choice
    level = OUTER if decision == OUTER_ORDER else INNER
    last = -1
    for place in range(D):
        e = state.orders[OUTER][place]
        if seen.steps[OUTER][e] > 1:
            last = e
    for c in range(seen.problem.counts[decision]):
        d = values[seen.at + c]
        legal[seen.first + c] = seen.steps[level][d] > 1
        see_reuse(seen, d, level)
        out[9] = log_of(seen, seen.steps[level][d])
        out[10] = d == state.parallel[level]
        out[11] = log_of(seen, seen.steps[OUTER][d])
        out[12] = log_of(seen, seen.steps[INNER][d])
        out[13] = d in (Y, X)
        out[14] = log_of(seen, state.tiles[level][d])
        if level == INNER and last >= 0:
            # which outer loop is innermost among those that iterate decides what stays in between
            out[15] = last == d
            for tensor in range(2):
                out[16 + tensor] = seen.problem.coupling[tensor][last]
        put_choice(seen, choices, c)


@part
def see_reuse(seen: Seen, d: int, level: int) -> None:
    """Features of what a loop moves of the elements that a level holds."""
    out, held = seen.choice, seen.sizes[level]
    total, moved = held[0] + held[1] + held[2], 0.0
    for tensor in range(TENSORS):
        couples = seen.problem.coupling[tensor][d]
        out[tensor] = couples
        out[3 + tensor] = couples * held[tensor] / total
        moved += couples * held[tensor]
    out[6] = moved / total
    out[7] = size_log(moved + 1)
    out[8] = size_log(total - moved + 1)
