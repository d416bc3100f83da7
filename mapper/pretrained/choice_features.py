"""Features of each choice of a decision (compiled); rows are single, as in `tile_sizes`."""

from __future__ import annotations

from typing import Any, Final

from mapper.pretrained.decisions import (
    INNER,
    INNER_PARALLEL,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.problem_arrays import D, ProblemArrays, R, S, X, Y
from mapper.pretrained.state import State
from mapper.pretrained.tile_sizes import (
    across,
    elements_but_one,
    factor_of,
    fill_of,
    inner,
    l2_box,
    log,
    log_of,
    up,
    utilisation,
    within,
)

CHOICE_FEATURES: Final = 18


@inner()
def see_parallel(out: Any, decision: int, dim: int, problem: ProblemArrays, state: State) -> None:
    """Features of a parallel dimension."""
    n, pes = problem.extents[dim], problem.pes
    outer = state.parallel[OUTER]
    out[0] = log(n)
    for tensor in range(3):
        out[1 + tensor] = problem.coupling[tensor, dim]
    out[4] = utilisation(n, pes)
    out[5] = n >= pes
    out[6] = decision == INNER_PARALLEL and outer == dim
    out[7] = log(pes / n)
    out[8] = dim in (Y, X)
    out[9] = dim in (R, S)
    out[10] = min(n, pes) / pes
    if decision == INNER_PARALLEL:
        both = n if dim == outer else n * problem.extents[outer]
        out[11] = min(both / pes, 2.0)
        out[12] = log(both / pes)


@inner()
def see_cluster(out: Any, size: int, problem: ProblemArrays, state: State) -> None:
    """Features of a cluster size."""
    clusters = problem.pes // size
    outer = problem.extents[state.parallel[OUTER]]
    inside = problem.extents[state.parallel[INNER]]
    same = state.parallel[OUTER] == state.parallel[INNER]
    out[0] = log(size)
    out[1] = log(clusters)
    out[2] = clusters * size / problem.pes
    out[3] = utilisation(inside, size)
    out[4] = utilisation(up(outer, size) if same else outer, clusters)
    out[5] = out[2] * out[3] * out[4]
    out[6] = log(up(inside, size))
    out[7] = log(up(outer, clusters))
    out[8] = size == 1
    out[9] = clusters == 1
    out[10] = size > inside
    out[11] = clusters > outer
    out[12] = log(size / inside)
    out[13] = log(clusters / outer)


@inner()
def see_tiles(
    decision: int,
    problem: ProblemArrays,
    state: State,
    box: Any,
    rest: Any,
    sizes: Any,
    choices: Any,
    legal: Any,
) -> None:
    """The tiles of a dimension, and whether the buffers hold them with the least of what is open.

    Where nothing fits, the least that is left is legal. ``box (D,)``, ``rest (2, 3)`` and
    ``sizes (2, 3)`` are work space.
    """
    level = INNER if decision < OUTER_TILE else OUTER
    d = decision - (INNER_TILE if level == INNER else OUTER_TILE)
    l2_box(box, level, problem, state)
    tiles = state.tiles[level]
    elements_but_one(rest[OUTER], d, box, problem)
    elements_but_one(rest[INNER], d, tiles, problem)
    least = -1
    for c in range(problem.counts[decision]):
        tile = problem.values[decision, c]
        if tile < state.tiles[INNER, d]:
            continue
        if least < 0:
            least = c
        wide = min(problem.extents[d], tile * across(d, problem, state))
        for tensor in range(3):
            factor = factor_of(tensor, d, wide, box, problem)
            sizes[OUTER, tensor] = rest[OUTER, tensor] * factor
            factor = factor_of(tensor, d, tile, tiles, problem)
            sizes[INNER, tensor] = rest[INNER, tensor] * factor
        fill = fill_of(INNER, sizes[INNER], problem) if level == INNER else 0.0
        shared = fill_of(OUTER, sizes[OUTER], problem)
        see_fill(choices[c], fill if level == INNER else shared, shared)
        see_tile(choices[c], level, d, tile, problem, state)
        if fill > 1.0 or shared > 1.0:  # neither will any larger one
            break
        legal[c] = True
    if least >= 0:
        legal[least] = True


@inner()
def see_fill(out: Any, own: float, shared: float) -> None:
    """Features of what a tile takes of its own level's buffer, and of L2."""
    out[3] = min(own, 2.0)
    out[4] = max(log(own), -3.0) if own > 0 else 0.0
    out[5] = min(shared, 2.0)


@inner()
def see_tile(out: Any, level: int, d: int, tile: int, problem: ProblemArrays, state: State) -> None:
    """Features of a tile of dimension `d` but for the buffers."""
    n, wide, deep = problem.extents[d], across(d, problem, state), within(d, state)
    narrow = tile if level == INNER else state.tiles[INNER, d]
    units = wide if level == OUTER else deep
    pieces = up(n, tile)
    steps = pieces if units == 1 else up(n, tile * units)
    out[0] = log_of(tile)
    out[1] = log_of(steps)
    out[2] = out[0] + out[1] + log_of(units) - log_of(n)
    out[6] = tile == 1
    out[7] = tile == n
    out[8] = n % tile == 0
    out[9] = utilisation(pieces, units)
    # what the other level can make of it
    whole = tile if level == OUTER else n
    inside = up(whole, narrow * deep)
    out[10] = log_of(inside)
    out[11] = 1.0 if deep == 1 else utilisation(up(whole, narrow), deep)
    out[12] = level == OUTER and tile == narrow
    out[13] = out[9] * out[11]
    out[14] = out[0] - log_of(narrow)
    out[15] = units > 1
    # cycles of the busiest PE in this dimension over the least there can be
    spent = out[1] + out[10] if level == OUTER else log_of(up(n, narrow * deep * wide))
    out[16] = spent + log_of(narrow) + log_of(wide) + log_of(deep) - log_of(n)
    out[17] = steps == 1


@inner()
def see_loops(
    decision: int,
    problem: ProblemArrays,
    state: State,
    sizes: Any,
    steps: Any,
    choices: Any,
    legal: Any,
) -> None:
    """The loops of an order; ``sizes (2, 3)`` and ``steps (2, D)`` as `see_state` fills them."""
    level = OUTER if decision == OUTER_ORDER else INNER
    last = -1
    for place in range(D):
        e = state.orders[OUTER, place]
        if steps[OUTER, e] > 1:
            last = e
    for c in range(problem.counts[decision]):
        d = problem.values[decision, c]
        legal[c] = steps[level, d] > 1
        out = choices[c]
        see_reuse(out, d, problem, sizes[level])
        out[9] = log_of(steps[level, d])
        out[10] = d == state.parallel[level]
        out[11] = log_of(steps[OUTER, d])
        out[12] = log_of(steps[INNER, d])
        out[13] = d in (Y, X)
        out[14] = log_of(state.tiles[level, d])
        if level == INNER and last >= 0:
            # which outer loop is innermost among those that iterate decides what stays in between
            out[15] = last == d
            for tensor in range(2):
                out[16 + tensor] = problem.coupling[tensor, last]


@inner()
def see_reuse(out: Any, d: int, problem: ProblemArrays, held: Any) -> None:
    """Features of what a loop moves of the elements that a level holds, ``held (3,)``."""
    total = held[0] + held[1] + held[2]
    moved = 0.0
    for tensor in range(3):
        couples = problem.coupling[tensor, d]
        out[tensor] = couples
        out[3 + tensor] = couples * held[tensor] / total
        moved += couples * held[tensor]
    out[6] = moved / total
    out[7] = log(moved + 1)
    out[8] = log(total - moved + 1)
