"""Proposals varied: parts of two that are crossed, tiles and cluster sizes a step away (compiled).

The judge finds what turns taken one after another miss: choices that fit each other only together.
All values are choices of the problem's decisions. Probabilities were chosen on random problems.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from common import compiled, inner_function
from mapper.pretrained.state import State
from mapper.pretrained.tables import D, ProblemTables
from mapper.pretrained.tile_sizes import clusters_of, fill_steps
from mapper.pretrained.turns import CLUSTER_SIZE, INNER, INNER_TILE, OUTER, OUTER_ORDER, OUTER_TILE

CROSS_TILES: Final = 0.4
CROSS_ORDER: Final = 0.3
CROSS_ARRANGEMENT: Final = 0.1
"""Half of the tiles, the order of a level, and parallel dimensions with the cluster size."""
ONE_STEP: Final = 0.3
"""Otherwise two tiles change."""
REACH: Final = 1.5
"""A tile goes to the next choice or further; mean of the exponential law of how much further."""
NEXT_CLUSTER: Final = 0.15
SWAP: Final = 0.2
"""Two loops of a level change places."""
DRAWS: Final = 2 * D + 16
"""Random numbers for a variation."""


@compiled
def varied(tables: ProblemTables, which: Any, state: State, mates: Any, draws: Any) -> State:
    """A variation of every mapping.

    Args:
        tables: The problems.
        which: ``(B,)`` problem of each mapping.
        state: The mappings, changed in place.
        mates: ``B`` mappings of the same problems, as a `State`, to cross them with.
        draws: ``(B, DRAWS)`` random numbers in [0, 1).
    """
    steps = np.empty((2, D), np.int64)
    order = np.empty(D, np.int64)
    for row in range(len(which)):
        u, problem = draws[row], which[row]
        _cross(row, state, mates, u)
        for change in range(1 if u[2 * D + 4] < ONE_STEP else 2):
            at = 2 * D + 5 + 2 * change
            _step_tile(row, problem, tables, state, u[at], u[at + 1])
        if u[2 * D + 9] < NEXT_CLUSTER:
            sizes = tables.values[problem, CLUSTER_SIZE, : tables.counts[problem, CLUSTER_SIZE]]
            place = np.searchsorted(sizes, state.cluster[row]) + (1 if u[2 * D + 10] < 0.5 else -1)
            state.cluster[row] = sizes[min(max(place, 0), len(sizes) - 1)]
        _widen(row, problem, tables, state)
        if u[2 * D + 11] < SWAP:
            level = int(2 * u[2 * D + 12])
            one, other = int(D * u[2 * D + 13]), int(D * u[2 * D + 14])
            loop = state.orders[row, level, one]
            state.orders[row, level, one] = state.orders[row, level, other]
            state.orders[row, level, other] = loop
        clusters = clusters_of(tables.pes[problem], state.cluster[row])
        extents, tiles = tables.extents[problem], state.tiles[row]
        fill_steps(steps, extents, tiles, state.spread[row], clusters, state.cluster[row])
        _sink_idle(row, problem, tables, state, steps, order)
    return state


@inner_function
def _cross(row: int, state: State, mates: State, u: Any) -> None:
    tiles, arrangement = u[2 * D] < CROSS_TILES, u[2 * D + 3] < CROSS_ARRANGEMENT
    for level in range(2):
        order = u[2 * D + 1 + level] < CROSS_ORDER
        for d in range(D):
            if tiles and u[2 * d + level] < 0.5:
                state.tiles[row, level, d] = mates.tiles[row, level, d]
            if order:
                state.orders[row, level, d] = mates.orders[row, level, d]
        if arrangement:
            state.spread[row, level] = mates.spread[row, level]
    if arrangement:
        state.cluster[row] = mates.cluster[row]


@inner_function
def _step_tile(
    row: int, problem: int, tables: ProblemTables, state: State, which: float, far: float
) -> None:
    """One of the tiles that have a choice goes up or down."""
    open_tiles = 0
    for turn in range(INNER_TILE, OUTER_ORDER):
        open_tiles += tables.counts[problem, turn] > 1
    wanted = int(which * open_tiles)
    for turn in range(INNER_TILE, OUTER_ORDER):
        if tables.counts[problem, turn] == 1:
            continue
        if wanted == 0:
            level = INNER if turn < OUTER_TILE else OUTER
            d = turn - (INNER_TILE if level == INNER else OUTER_TILE)
            sizes = tables.values[problem, turn, : tables.counts[problem, turn]]
            length = 1 + int(-REACH * np.log(max(2 * abs(far - 0.5), 1e-9)))
            place = np.searchsorted(sizes, state.tiles[row, level, d])
            place += length if far < 0.5 else -length
            state.tiles[row, level, d] = sizes[min(max(place, 0), len(sizes) - 1)]
        wanted -= 1


@inner_function
def _widen(row: int, problem: int, tables: ProblemTables, state: State) -> None:
    """No outer tile is below its inner one."""
    for d in range(D):
        if state.tiles[row, OUTER, d] < state.tiles[row, INNER, d]:
            turn = OUTER_TILE + d
            sizes = tables.values[problem, turn, : tables.counts[problem, turn]]
            place = np.searchsorted(sizes, state.tiles[row, INNER, d])
            state.tiles[row, OUTER, d] = sizes[min(place, len(sizes) - 1)]


@inner_function
def _sink_idle(
    row: int, problem: int, tables: ProblemTables, state: State, steps: Any, order: Any
) -> None:
    """Loops that have a rank and iterate come first, the others innermost as agents leave them.

    `steps` are those of the loops; ``order (D,)`` is work space.
    """
    for level in range(2):
        turn = OUTER_ORDER + level
        count = 0
        for place in range(D):
            d = state.orders[row, level, place]
            if steps[level, d] > 1 and _has_rank(d, turn, problem, tables):
                order[count] = d
                count += 1
        for d in range(D):
            if not (steps[level, d] > 1 and _has_rank(d, turn, problem, tables)):
                order[count] = d
                count += 1
        for place in range(D):
            state.orders[row, level, place] = order[place]


@inner_function
def _has_rank(d: int, turn: int, problem: int, tables: ProblemTables) -> bool:
    found = False
    for c in range(tables.counts[problem, turn]):
        found |= tables.values[problem, turn, c] == d
    return found
