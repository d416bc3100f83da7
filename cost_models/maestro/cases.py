"""The cases of one level: iteration states, their factors, and the walk over their combinations.

A level walks its directives through at most three states: the first tile, the full tiles after it,
and a smaller last one (`DFA_iteration-analysis.hpp`). A case is one combination of states. Every
volume of a case is a product over directives (`CA_reuse-analysis.hpp`): directives with one state
are constants, the others have a factor a state, and the walk keeps the products up to date.
"""

from __future__ import annotations

from cost_models.maestro.changes import fill_change
from cost_models.maestro.layout import (
    ACTIVE,
    BIT,
    CASE,
    CASES,
    COUNT,
    COUPLED,
    DIRECTIVE,
    F_ALL,
    F_OUT,
    F_SET,
    FIRST,
    GIVEN,
    IN_FILTER,
    IN_INPUT,
    IN_OUTPUT,
    MADE,
    MADE_LAST,
    NUM_STATES,
    OCCURRED,
    OCCURS,
    OFFSET,
    PATTERN_1,
    PATTERN_2,
    PLAIN,
    RAGGED_TAIL,
    RUNTIME,
    SECOND,
    SHORT,
    SIZED,
    SPATIAL,
    T_FILTER,
    T_INPUT,
    TAIL,
    TILE,
    UNITS,
    V_FILTER,
    V_INPUT,
    VALID,
    VAR,
    W_ALL,
    W_OCCURS,
    W_OUT,
    W_SET,
    W_STATE,
    WALKER_1,
    WALKER_2,
)
from cost_models.maestro.shares import fill_share
from marl_common import IntArray, part


@part
def start_level(gemm: bool, at: int, work: IntArray) -> None:
    """Lay out the states of a level for the tile it is given, and stand at its first case.

    Args:
        gemm: Whether the layer is a GEMM.
        at: Start of the level's block; its `GIVEN` row holds the tile.
        work: ``(WORK_SIZE,)``, see `layout`.
    """
    active = 0
    cases = 1
    work[at + CASE] = work[at + VALID] = work[at + OCCURRED] = 0
    work[at + RUNTIME] = work[at + SIZED] = 0
    work[at + W_OCCURS] = work[at + W_ALL] = work[at + W_OUT] = 1
    work[at + W_SET] = 0
    work[at + WALKER_1] = work[at + WALKER_2] = -1
    for d in range(work[at + COUNT]):
        given = work[at + GIVEN + work[at + VAR + d]]
        if work[at + SPATIAL + d]:
            states = _spatial_states(at, d, given, active, work)
        elif given > work[at + TILE + d]:
            states = _temporal_states(at, d, given, active, work)
        else:
            states = 1
            _hold(at, d, given, work)
        if states > 1:
            work[at + NUM_STATES + active] = states
            work[at + DIRECTIVE + active] = d
            work[at + W_STATE + active] = 0
            cases *= states
            active += 1
    work[at + ACTIVE] = active
    work[at + CASES] = cases
    _multiply(at, 0, work)
    _fill_shares(gemm, at, work)
    fill_change(at, IN_INPUT, T_INPUT, V_INPUT, work)
    fill_change(at, IN_FILTER, T_FILTER, V_FILTER, work)


@part
def _hold(at: int, d: int, given: int, work: IntArray) -> None:
    """Multiply a temporal map of one state into the products that hold in every case."""
    made = work[at + MADE + d]
    if given < work[at + TILE + d]:
        made = work[at + MADE_LAST + d]
        work[at + W_SET] |= work[at + BIT + d]
    work[at + W_ALL] *= made
    if work[at + COUPLED + d] & IN_OUTPUT:
        work[at + W_OUT] *= made


@part
def _fill_shares(gemm: bool, at: int, work: IntArray) -> None:
    """Fill the multipliers of every combination of patterns that the spatial maps come to."""
    walker1, walker2 = work[at + WALKER_1], work[at + WALKER_2]
    if work[at + SECOND] < 0:
        work[at + PATTERN_2] = PLAIN
    states2 = work[at + NUM_STATES + walker2] if walker2 >= 0 else 1
    for s1 in range(work[at + NUM_STATES + walker1] if walker1 >= 0 else 1):
        for s2 in range(states2):
            fill_share(gemm, at, work[at + PATTERN_1 + s1], work[at + PATTERN_2 + s2], work)


@part
def _temporal_states(at: int, d: int, given: int, active: int, work: IntArray) -> int:
    """First tile, full tiles and edge tile of a temporal map that does not cover what is given.

    `AnalyzeIterationStates`, `DFA_iteration-analysis.hpp`.
    """
    size, offset = work[at + TILE + d], work[at + OFFSET + d]
    steps = (given - size) // offset
    output = work[at + COUPLED + d] & IN_OUTPUT
    states = 3 * active
    count = 0
    for state in range(3):
        occurs, made, edge = 1, work[at + MADE + d], 0
        if state == 1:
            occurs = steps
        elif state == 2:
            if steps * offset + size >= given:
                break
            made, edge = work[at + MADE_LAST + d], work[at + BIT + d]
        if occurs > 0:
            work[at + OCCURS + states + count] = occurs
            work[at + F_ALL + states + count] = made
            work[at + F_OUT + states + count] = made if output else 1
            work[at + F_SET + states + count] = edge
            count += 1
    return count


@part
def _spatial_states(at: int, d: int, given: int, active: int, work: IntArray) -> int:
    """States of a spatial map and the pattern of each; its factors are in the shares."""
    size, offset, units = work[at + TILE + d], work[at + OFFSET + d], work[at + UNITS]
    first = d == work[at + FIRST]
    pattern = at + (PATTERN_1 if first else PATTERN_2)
    cover = size + offset * (units - 1)
    work[pattern] = SHORT if given < cover else PLAIN
    if given <= cover:
        return 1
    states = 3 * active
    for state in range(3):
        work[at + OCCURS + states + state] = 1
        work[at + F_ALL + states + state] = 1
        work[at + F_OUT + states + state] = 1
        work[at + F_SET + states + state] = 0
    steps = ((given - size) // offset + 1) // units - 1
    count = 1
    if steps > 0:
        work[at + OCCURS + states + 1] = steps
        work[pattern + 1] = PLAIN
        count = 2
    done = steps * offset * units
    if done + cover != given and done + offset * units + cover > given:
        work[pattern + count] = _tail(given - done - offset * units, size, offset)
        count += 1
    if count > 1:
        work[at + (WALKER_1 if first else WALKER_2)] = active
    return count


@part
def _tail(rest: int, size: int, offset: int) -> int:
    """Pattern of the last step, in which `rest` elements are left."""
    full = 1 if rest < size else (rest - size) // offset + 1
    return RAGGED_TAIL if (full - 1) * offset + size < rest else TAIL


@part
def next_case(at: int, work: IntArray) -> None:
    """Go to the next case: per directive the order is 1 .. n - 1, 0, the last directive fastest.

    `ConstructIterationStatusTable`, `DFA_iteration-analysis.hpp`.
    """
    work[at + CASE] += 1
    k = work[at + ACTIVE] - 1
    while k >= 0 and work[at + W_STATE + k] == 0:
        work[at + W_STATE + k] = 1
        k -= 1
    if k >= 0:
        state = work[at + W_STATE + k] + 1
        work[at + W_STATE + k] = state if state < work[at + NUM_STATES + k] else 0
    _multiply(at, max(k, 0), work)


@part
def _multiply(at: int, start: int, work: IntArray) -> None:
    """Bring the products over the active directives up to date from one of them on."""
    for k in range(start, work[at + ACTIVE]):
        state = at + 3 * k + work[at + W_STATE + k]
        here = at + k
        work[here + W_OCCURS + 1] = work[here + W_OCCURS] * work[state + OCCURS]
        work[here + W_ALL + 1] = work[here + W_ALL] * work[state + F_ALL]
        work[here + W_OUT + 1] = work[here + W_OUT] * work[state + F_OUT]
        work[here + W_SET + 1] = work[here + W_SET] | work[state + F_SET]
