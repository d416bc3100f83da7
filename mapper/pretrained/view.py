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
    fill_of,
    held_elements,
    l2_box,
    log,
    steps_of,
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


@inner_function
def see_state(
    out: Any, row: int, problem: int, tables: ProblemTables, state: State, box: Any, sizes: Any
) -> None:
    """State features of one row, into ``out (STATE_FEATURES,)``; `sizes` as `held_elements`."""
    clusters = clusters_of(row, problem, tables, state)
    outer, inner = state.spread[row]
    all_outer = 0.0
    all_inner = 0.0
    for d in range(D):
        if tables.extents[problem, d] == 1:
            out[d * PER_DIM : d * PER_DIM + 4] = 0.0
            out[d * PER_DIM + 4] = d == outer
            out[d * PER_DIM + 5] = d == inner
            continue
        wide, narrow = state.tiles[row, OUTER, d], state.tiles[row, INNER, d]
        outer_steps, inner_steps = steps_of(d, row, problem, tables, state, clusters)
        place = d * PER_DIM
        out[place] = log(narrow)
        out[place + 1] = log(wide / narrow)
        out[place + 2] = log(outer_steps)
        out[place + 3] = log(inner_steps)
        out[place + 4] = d == outer
        out[place + 5] = d == inner
        all_outer += log(outer_steps)
        all_inner += log(inner_steps)
    held_elements(sizes, row, problem, tables, state, box)
    place = D * PER_DIM
    out[place] = log(max(state.cluster[row], 1))
    out[place + 1] = log(clusters)
    out[place + 2] = all_outer
    out[place + 3] = all_inner
    out[place + 4] = min(fill_of(L1, state.tiles[row, INNER], problem, tables), 2.0)
    out[place + 5] = min(fill_of(L2, box, problem, tables), 2.0)
    for tensor in range(3):
        out[place + 6 + tensor] = log(sizes[INNER, tensor])
        out[place + 9 + tensor] = log(sizes[OUTER, tensor])


@inner_function
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


@inner_function
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


@inner_function
def see_tile(
    out: Any,
    level: int,
    d: int,
    row: int,
    problem: int,
    tile: int,
    tables: ProblemTables,
    state: State,
    box: Any,
    trial: Any,
) -> bool:
    """Features of a tile; whether the buffers hold it with the least of what is still open."""
    extents = tables.extents[problem]
    n = extents[d]
    outer, inner = state.spread[row]
    cluster = state.cluster[row]
    clusters = clusters_of(row, problem, tables, state)
    narrow = tile if level == INNER else state.tiles[row, INNER, d]
    across = clusters if d == outer else 1
    within = cluster if d == inner else 1
    units = across if level == OUTER else within
    steps = up(n, tile * units)
    for e in range(D):
        trial[e] = state.tiles[row, level, e]
    trial[d] = tile
    fill = 0.0
    if level == INNER:
        fill = fill_of(L1, trial, problem, tables)
    l2_box(box, trial, outer, clusters, extents)
    shared = fill_of(L2, box, problem, tables)
    out[0] = log(tile)
    out[1] = log(steps)
    out[2] = log(steps * tile * units / n)
    own = fill if level == INNER else shared
    out[3] = min(own, 2.0)
    out[4] = max(log(own), -3.0) if own > 0 else 0.0
    out[5] = min(shared, 2.0)
    out[6] = tile == 1
    out[7] = tile == n
    out[8] = n % tile == 0
    out[9] = utilisation(up(n, tile), units)
    # what the other level can make of it
    whole = tile if level == OUTER else n
    inside = up(whole, narrow * within)
    out[10] = log(inside)
    out[11] = utilisation(up(whole, narrow), within)
    out[12] = level == OUTER and tile == narrow
    out[13] = out[9] * out[11]
    out[14] = log(tile / narrow)
    out[15] = units > 1
    # cycles of the busiest PE in this dimension over the least there can be
    spent = up(n, (tile if level == OUTER else narrow * within) * across)
    spent *= inside if level == OUTER else 1
    out[16] = log(spent * narrow * across * within / n)
    out[17] = up(n, tile * units) == 1
    return fill <= 1.0 and shared <= 1.0


@inner_function
def see_tiles(
    turn: int,
    level: int,
    d: int,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    box: Any,
    trial: Any,
    choices: Any,
    legal: Any,
) -> None:
    """The tiles of a dimension; where nothing fits, the least that is left is legal."""
    least = -1
    for c in range(tables.counts[problem, turn]):
        tile = tables.values[problem, turn, c]
        if tile < state.tiles[row, INNER, d]:
            continue
        if least < 0:
            least = c
        legal[row, c] = see_tile(
            choices[row, c], level, d, row, problem, tile, tables, state, box, trial
        )
        if not legal[row, c]:  # neither will any larger one
            break
    if least >= 0:
        legal[row, least] = True


@inner_function
def see_loop(
    out: Any,
    level: int,
    d: int,
    row: int,
    problem: int,
    tables: ProblemTables,
    state: State,
    sizes: Any,
) -> bool:
    """Features of a loop in an order; whether it iterates at all.

    `sizes` has the elements of the tensors that L2 and L1 hold, ``(2, 3)``.
    """
    clusters = clusters_of(row, problem, tables, state)
    outer_steps, inner_steps = steps_of(d, row, problem, tables, state, clusters)
    steps = outer_steps if level == OUTER else inner_steps
    held = sizes[level]
    total = held[0] + held[1] + held[2]
    moved = 0.0
    for tensor in range(3):
        couples = tables.coupling[problem, tensor, d]
        out[tensor] = couples
        out[3 + tensor] = couples * held[tensor] / total
        moved += couples * held[tensor]
    out[6] = moved / total
    out[7] = log(moved + 1)
    out[8] = log(total - moved + 1)
    out[9] = log(steps)
    out[10] = d == state.spread[row, level]
    out[11] = log(outer_steps)
    out[12] = log(inner_steps)
    out[13] = d in (Y, X)
    out[14] = log(state.tiles[row, level, d])
    if level == INNER:
        # which outer loop is innermost among those that iterate decides what stays in between
        last = -1
        for place in range(D):
            e = state.orders[row, OUTER, place]
            if steps_of(e, row, problem, tables, state, clusters)[OUTER] > 1:
                last = e
        out[15] = last == d
        for tensor in range(2):
            if last >= 0:
                out[16 + tensor] = tables.coupling[problem, tensor, last]
    return steps > 1


@compiled
def see(
    turn: int,
    tables: ProblemTables,
    which: Any,
    state: State,
    sees: Any,
    context: Any,
    choices: Any,
    legal: Any,
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
    """
    box = np.empty(D, np.int64)
    trial = np.empty(D, np.int64)
    seen = np.empty(STATE_FEATURES)
    sizes = np.empty((2, 3))
    for row in range(len(which)):
        problem = which[row]
        context[row, :PROBLEM_FEATURES] = tables.features[problem]
        see_state(seen, row, problem, tables, state, box, sizes)
        context[row, PROBLEM_FEATURES : PROBLEM_FEATURES + STATE_FEATURES] = seen * sees
        own = context[row, PROBLEM_FEATURES + STATE_FEATURES :]
        own[:] = 0.0
        count = tables.counts[problem, turn]
        if turn >= OUTER_ORDER:
            level = OUTER if turn == OUTER_ORDER else INNER
            for c in range(count):
                d = tables.values[problem, turn, c]
                legal[row, c] = see_loop(
                    choices[row, c], level, d, row, problem, tables, state, sizes
                )
            continue
        if turn >= INNER_TILE:
            level = OUTER if turn >= OUTER_TILE else INNER
            d = turn - (OUTER_TILE if level == OUTER else INNER_TILE)
            own[d] = 1.0
            own[D] = d == state.spread[row, OUTER]
            own[D + 1] = d == state.spread[row, INNER]
            see_tiles(turn, level, d, row, problem, tables, state, box, trial, choices, legal)
            continue
        for c in range(count):
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
) -> View:
    """What every row sees at a turn; see :func:`see`."""
    width = int(tables.counts[which, turn].max())
    context = np.empty((len(which), CONTEXT_FEATURES), np.float32)
    choices = np.zeros((len(which), width, CHOICE_FEATURES), np.float32)
    legal = np.zeros((len(which), width), np.bool_)
    see(turn, tables, which, state, sees, context, choices, legal)
    return View(context, choices, legal)
