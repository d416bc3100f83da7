"""What an agent sees at its turn: the choices made so far, and each choice it has (compiled).

All features are logarithms, shares or flags, so that a network meets the same ranges on any layer
and any chip.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import compiled, inner_function
from mapper.pretrained.state import State
from mapper.pretrained.tables import PROBLEM_FEATURES, D, ProblemTables, R, S, X, Y
from mapper.pretrained.tile_sizes import (
    clusters_of,
    elements_but_one,
    factor_of,
    fill_of,
    fill_steps,
    held_elements,
    l2_box,
    log,
    log_of,
    up,
    utilisation,
)
from mapper.pretrained.turns import (
    CLUSTER_SIZE,
    INNER,
    INNER_PARALLEL,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)

PER_DIM: Final = 6
"""State features of a dimension: its tiles, what they leave, and whether it is parallel."""
GLOBAL_STATE: Final = 12
STATE_FEATURES: Final = PER_DIM * D + GLOBAL_STATE
TURN_FEATURES: Final = D + 2
CONTEXT_FEATURES: Final = PROBLEM_FEATURES + STATE_FEATURES + TURN_FEATURES
CHOICE_FEATURES: Final = 18
L2: Final = 0
L1: Final = 1


class View(NamedTuple):
    """What `B` agents see at one turn.

    Args:
        context: ``(B, CONTEXT_FEATURES)`` float32: problem, choices so far, whose turn it is.
        choices: ``(B, C, CHOICE_FEATURES)`` float32.
        legal: ``(B, C)`` bool: what the buffers hold, or, of an order, the loops that iterate.
    """

    context: NDArray[np.float32]
    choices: NDArray[np.float32]
    legal: NDArray[np.bool_]


@inner_function(error_model="numpy")
def see_state(
    out: Any,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    box: Any,
    sizes: Any,
    steps: Any,
) -> None:
    """State features of one row, into ``out (STATE_FEATURES,)``.

    Args:
        out: Filled in.
        row: The row.
        problem: Its problem.
        tables: The problems.
        state: Choices so far.
        box: Becomes the part of the nest that L2 holds.
        sizes: ``(2, 3)`` becomes elements held; see `held_elements`.
        steps: ``(2, D)`` becomes steps; see `fill_steps`.
    """
    extents, tiles, spread = tables.extents[problem], state.tiles[row], state.spread[row]
    clusters = clusters_of(tables.pes[problem], state.cluster[row])
    outer, inner = spread
    fill_steps(steps, extents, tiles, spread, clusters, state.cluster[row])
    all_outer = 0.0
    all_inner = 0.0
    for d in range(D):
        place = d * PER_DIM
        out[place + 4] = d == outer
        out[place + 5] = d == inner
        if extents[d] == 1:
            out[place : place + 4] = 0.0
            continue
        out[place] = log_of(tiles[INNER, d])
        out[place + 1] = log_of(tiles[OUTER, d]) - out[place]
        out[place + 2] = log_of(steps[OUTER, d])
        out[place + 3] = log_of(steps[INNER, d])
        all_outer += out[place + 2]
        all_inner += out[place + 3]
    coupling, window = tables.coupling[problem], tables.window[problem]
    held_elements(sizes, box, extents, coupling, window, tiles, outer, clusters)
    place = D * PER_DIM
    out[place] = log_of(max(state.cluster[row], 1))
    out[place + 1] = log_of(clusters)
    out[place + 2] = all_outer
    out[place + 3] = all_inner
    bits, shares = tables.bits[problem], tables.shares[problem]
    own, capacity = tables.own[problem], tables.capacity[problem]
    out[place + 4] = min(fill_of(L1, sizes[INNER], bits, shares, own, capacity), 2.0)
    out[place + 5] = min(fill_of(L2, sizes[OUTER], bits, shares, own, capacity), 2.0)
    for tensor in range(3):
        out[place + 6 + tensor] = log(sizes[INNER, tensor])
        out[place + 9 + tensor] = log(sizes[OUTER, tensor])


@inner_function(error_model="numpy")
def see_parallel(
    out: Any, turn: int, row: int, problem: int, choice: int, tables: ProblemTables, state: State
) -> None:
    """Features of a parallel dimension."""
    n, pes = tables.extents[problem, choice], tables.pes[problem]
    out[0] = log(n)
    for tensor in range(3):
        out[1 + tensor] = tables.coupling[problem, tensor, choice]
    out[4] = utilisation(n, pes)
    out[5] = n >= pes
    out[6] = turn == INNER_PARALLEL and state.spread[row, OUTER] == choice
    out[7] = log(pes / n)
    out[8] = choice in (Y, X)
    out[9] = choice in (R, S)
    out[10] = min(n, pes) / pes
    if turn == INNER_PARALLEL:
        other = tables.extents[problem, state.spread[row, OUTER]]
        both = n if choice == state.spread[row, OUTER] else n * other
        out[11] = min(both / pes, 2.0)
        out[12] = log(both / pes)


@inner_function(error_model="numpy")
def see_cluster(
    out: Any, row: int, problem: int, size: int, tables: ProblemTables, state: State
) -> None:
    """Features of a cluster size."""
    pes = tables.pes[problem]
    clusters = pes // size
    outer = tables.extents[problem, state.spread[row, OUTER]]
    inner = tables.extents[problem, state.spread[row, INNER]]
    same = state.spread[row, OUTER] == state.spread[row, INNER]
    out[0] = log(size)
    out[1] = log(clusters)
    out[2] = clusters * size / pes
    out[3] = utilisation(inner, size)
    out[4] = utilisation(up(outer, size) if same else outer, clusters)
    out[5] = out[2] * out[3] * out[4]
    out[6] = log(up(inner, size))
    out[7] = log(up(outer, clusters))
    out[8] = size == 1
    out[9] = clusters == 1
    out[10] = size > inner
    out[11] = clusters > outer
    out[12] = log(size / inner)
    out[13] = log(clusters / outer)


@inner_function(error_model="numpy")
def see_tile(
    out: Any,
    level: int,
    tile: int,
    n: int,
    narrow: int,
    across: int,
    within: int,
    fill: float,
    shared: float,
) -> None:
    """Features of a tile.

    Args:
        out: Filled in.
        level: `OUTER` or `INNER`.
        tile: Its length.
        n: Extent of its dimension.
        narrow: The inner tile.
        across: Clusters that share the dimension.
        within: PEs of a cluster that share it.
        fill: Share of L1 that is taken with it; 0 of an outer tile.
        shared: The same of L2.
    """
    units = across if level == OUTER else within
    pieces = up(n, tile)
    steps = pieces if units == 1 else up(n, tile * units)
    out[0] = log_of(tile)
    out[1] = log_of(steps)
    out[2] = out[0] + out[1] + log_of(units) - log_of(n)
    own = fill if level == INNER else shared
    out[3] = min(own, 2.0)
    out[4] = max(log(own), -3.0) if own > 0 else 0.0
    out[5] = min(shared, 2.0)
    out[6] = tile == 1
    out[7] = tile == n
    out[8] = n % tile == 0
    out[9] = utilisation(pieces, units)
    # what the other level can make of it
    whole = tile if level == OUTER else n
    inside = up(whole, narrow * within)
    out[10] = log_of(inside)
    out[11] = 1.0 if within == 1 else utilisation(up(whole, narrow), within)
    out[12] = level == OUTER and tile == narrow
    out[13] = out[9] * out[11]
    out[14] = out[0] - log_of(narrow)
    out[15] = units > 1
    # cycles of the busiest PE in this dimension over the least there can be
    spent = out[1] + out[10] if level == OUTER else log_of(up(n, narrow * within * across))
    out[16] = spent + log_of(narrow) + log_of(across) + log_of(within) - log_of(n)
    out[17] = steps == 1


@inner_function(error_model="numpy")
def see_tiles(
    turn: int,
    level: int,
    d: int,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    box: Any,
    rest: Any,
    sizes: Any,
    choices: Any,
    legal: Any,
    masked: bool,
) -> None:
    """The tiles of a dimension, and whether the buffers hold them with the least of what is open.

    Where nothing fits, the least that is left is legal. `box`, ``rest (2, 3)`` and
    ``sizes (2, 3)`` are work space.
    """
    extents, tiles = tables.extents[problem], state.tiles[row]
    coupling, window = tables.coupling[problem], tables.window[problem]
    bits, shares = tables.bits[problem], tables.shares[problem]
    own, capacity = tables.own[problem], tables.capacity[problem]
    values = tables.values[problem, turn]
    n = extents[d]
    clusters = clusters_of(tables.pes[problem], state.cluster[row])
    across = clusters if d == state.spread[row, OUTER] else 1
    within = state.cluster[row] if d == state.spread[row, INNER] else 1
    l2_box(box, tiles[level], state.spread[row, OUTER], clusters, extents)
    elements_but_one(rest[OUTER], d, box, coupling, window)
    elements_but_one(rest[INNER], d, tiles[level], coupling, window)
    least = -1
    for c in range(tables.counts[problem, turn]):
        tile = values[c]
        if tile < tiles[INNER, d]:
            continue
        if least < 0:
            least = c
        wide = min(n, tile * across)
        for tensor in range(3):
            factor = factor_of(tensor, d, wide, box, coupling, window)
            sizes[OUTER, tensor] = rest[OUTER, tensor] * factor
            factor = factor_of(tensor, d, tile, tiles[level], coupling, window)
            sizes[INNER, tensor] = rest[INNER, tensor] * factor
        fill = 0.0
        if level == INNER:
            fill = fill_of(L1, sizes[INNER], bits, shares, own, capacity)
        shared = fill_of(L2, sizes[OUTER], bits, shares, own, capacity)
        narrow = tile if level == INNER else tiles[INNER, d]
        see_tile(choices[c], level, tile, n, narrow, across, within, fill, shared)
        if masked and (fill > 1.0 or shared > 1.0):  # neither will any larger one
            break
        legal[c] = True
    if least >= 0:
        legal[least] = True


@inner_function(error_model="numpy")
def see_loop(
    out: Any,
    level: int,
    d: int,
    spread: Any,
    tiles: Any,
    coupling: Any,
    held: Any,
    steps: Any,
    last: int,
) -> bool:
    """Features of a loop in an order; whether it iterates at all.

    Args:
        out: Filled in.
        level: `OUTER` or `INNER`.
        d: The loop's dimension.
        spread: ``(2,)`` parallel dimensions.
        tiles: ``(2, D)``.
        coupling: ``(3, D)``.
        held: ``(3,)`` elements of the tensors that the level's buffer holds.
        steps: ``(2, D)``.
        last: The innermost outer loop that iterates, -1 where none does.
    """
    total = held[0] + held[1] + held[2]
    moved = 0.0
    for tensor in range(3):
        couples = coupling[tensor, d]
        out[tensor] = couples
        out[3 + tensor] = couples * held[tensor] / total
        moved += couples * held[tensor]
    out[6] = moved / total
    out[7] = log(moved + 1)
    out[8] = log(total - moved + 1)
    out[9] = log_of(steps[level, d])
    out[10] = d == spread[level]
    out[11] = log_of(steps[OUTER, d])
    out[12] = log_of(steps[INNER, d])
    out[13] = d in (Y, X)
    out[14] = log_of(tiles[level, d])
    if level == INNER:
        # which outer loop is innermost among those that iterate decides what stays in between
        out[15] = last == d
        for tensor in range(2):
            if last >= 0:
                out[16 + tensor] = coupling[tensor, last]
    return steps[level, d] > 1


@inner_function(error_model="numpy")
def see_loops(
    turn: int,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    sizes: Any,
    steps: Any,
    choices: Any,
    legal: Any,
) -> None:
    """The loops of an order; `sizes` and `steps` are what `see_state` worked out."""
    level = OUTER if turn == OUTER_ORDER else INNER
    spread, tiles, coupling = state.spread[row], state.tiles[row], tables.coupling[problem]
    last = -1
    for place in range(D):
        e = state.orders[row, OUTER, place]
        if steps[OUTER, e] > 1:
            last = e
    for c in range(tables.counts[problem, turn]):
        d = tables.values[problem, turn, c]
        legal[c] = see_loop(
            choices[c], level, d, spread, tiles, coupling, sizes[level], steps, last
        )


@compiled(error_model="numpy")
def see(
    turn: int,
    tables: ProblemTables,
    which: Any,
    state: State,
    sees: Any,
    context: Any,
    choices: Any,
    legal: Any,
    masked: bool,
) -> None:
    """Fill in what every row sees at a turn.

    Args:
        turn: The decision.
        tables: The problems.
        which: ``(B,)`` the problem of each row.
        state: Choices so far.
        sees: ``(STATE_FEATURES,)`` 1 where the agent sees a state feature.
        context: ``(B, CONTEXT_FEATURES)`` to fill in.
        choices: ``(B, C, CHOICE_FEATURES)`` zeros, to fill in.
        legal: ``(B, C)`` False, to fill in.
        masked: Whether tiles that the buffers cannot hold are no choices.
    """
    box = np.empty(D, np.int64)
    steps = np.empty((2, D), np.int64)
    seen = np.empty(STATE_FEATURES)
    sizes = np.empty((2, 3))
    rest = np.empty((2, 3))
    for row in range(len(which)):
        problem = which[row]
        context[row, :PROBLEM_FEATURES] = tables.features[problem]
        see_state(seen, row, problem, tables, state, box, sizes, steps)
        context[row, PROBLEM_FEATURES : PROBLEM_FEATURES + STATE_FEATURES] = seen * sees
        own = context[row, PROBLEM_FEATURES + STATE_FEATURES :]
        own[:] = 0.0
        if turn >= OUTER_ORDER:
            see_loops(turn, row, problem, tables, state, sizes, steps, choices[row], legal[row])
            continue
        if turn >= INNER_TILE:
            level = OUTER if turn >= OUTER_TILE else INNER
            d = turn - (OUTER_TILE if level == OUTER else INNER_TILE)
            own[d] = 1.0
            own[D] = d == state.spread[row, OUTER]
            own[D + 1] = d == state.spread[row, INNER]
            see_tiles(
                turn,
                level,
                d,
                row,
                problem,
                tables,
                state,
                box,
                rest,
                sizes,
                choices[row],
                legal[row],
                masked,
            )
            continue
        for c in range(tables.counts[problem, turn]):
            value = tables.values[problem, turn, c]
            legal[row, c] = True
            if turn == CLUSTER_SIZE:
                see_cluster(choices[row, c], row, problem, value, tables, state)
            else:
                see_parallel(choices[row, c], turn, row, problem, value, tables, state)


def look(
    turn: int,
    tables: ProblemTables,
    which: NDArray[np.int64],
    state: State,
    sees: NDArray[np.float32],
    masked: bool = True,
) -> View:
    """What every row sees at a turn; see :func:`see`."""
    width = int(tables.counts[which, turn].max())
    context = np.empty((len(which), CONTEXT_FEATURES), np.float32)
    choices = np.zeros((len(which), width, CHOICE_FEATURES), np.float32)
    legal = np.zeros((len(which), width), np.bool_)
    see(turn, tables, which, state, sees, context, choices, legal, masked)
    return View(context, choices, legal)
