"""Draws of choices, and mappings with one more decision carried out."""

from __future__ import annotations

import math

from mapper.pretrained.decisions import PARALLEL, SPREADS, TILE, UNITS
from mapper.pretrained.seen_records import D, ProblemRow, StateRow
from marl_common import Float32Array, FloatArray, IntArray, part


@part
def spread_of(decision: int) -> int:
    """The spread that a decision is on."""
    return decision - PARALLEL if decision < UNITS else SPREADS - 1 - (decision - UNITS)


@part
def drawn(
    scores: Float32Array, first: int, width: int, row: int, warm: Float32Array, draws: FloatArray
) -> int:
    """Draw one of `width` choices, whose scores begin at `first`, by the softmax of the scores."""
    best, total = 0, 0.0
    for c in range(1, width):
        if scores[first + c] > scores[first + best]:
            best = c
    if warm[row] == 0.0:
        return best
    for c in range(width):
        total += math.exp((scores[first + c] - scores[first + best]) / warm[row])
    left = draws[row] * total
    for c in range(width):
        left -= math.exp((scores[first + c] - scores[first + best]) / warm[row])
        if left < 0.0:
            return c
    return best


@part
def choose(problem: ProblemRow, state: StateRow, decision: int, value: int) -> None:
    """Carry out a decision that is no order; `state` changes."""
    if decision >= TILE:
        state.tiles[(decision - TILE) // D][(decision - TILE) % D] = value
    elif decision >= UNITS:
        s = spread_of(decision)
        state.units[s] = value
        if s == 1 and problem.pool > 0:  # as many clusters as their size allows
            state.units[0] = problem.pool // value
    else:
        state.dims[spread_of(decision)] = value


@part
def rank(keys: Float32Array, picks: IntArray, at: int, width: int) -> None:
    """Sort `width` choices by keys, both from `at` on: the highest first, the earlier of equals."""
    for c in range(width):
        place = c
        while place > 0 and keys[at + picks[at + place - 1]] < keys[at + c]:
            picks[at + place] = picks[at + place - 1]
            place -= 1
        picks[at + place] = c


@part
def fill_up(state: StateRow, level: int, ranked: int) -> None:
    """Let the loops that an order does not rank follow, as they come; `state` changes."""
    filled = ranked
    for d in range(D):
        old = False
        for place in range(ranked):
            old = old or state.orders[level][place] == d
        if not old:
            state.orders[level][filled] = d
            filled += 1
