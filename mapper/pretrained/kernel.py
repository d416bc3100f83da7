"""The compiled entry points: what agents observe at a decision, scores and draws of choices."""

from __future__ import annotations

import math

from mapper.pretrained.choice_draws import choose, drawn, fill_up, rank, spread_of
from mapper.pretrained.choice_features import (
    put_choice,
    see_loops,
    see_parallel,
    see_tiles,
    see_units,
)
from mapper.pretrained.decisions import LEVELS, ORDER, SPREADS, TILE, UNITS
from mapper.pretrained.nest_sizes import fill_nest, fill_sizes, log_of, size_log, up
from mapper.pretrained.seen_records import (
    CHOICE_FEATURES,
    CONTEXT_FEATURES,
    DECISION_COUNT,
    LEVEL_FEATURES,
    OWN_FEATURES,
    PER_DIM,
    PER_LEVEL,
    POINTER,
    PROBLEM_FEATURES,
    TENSORS,
    VIEWED,
    D,
    ProblemRow,
    Seen,
    StateRow,
)
from marl_common import BoolArray, Float32Array, FloatArray, IntArray, address, entry, part


@entry
def see_rows(
    decision: int, problems: ProblemRow, values: IntArray, options: int, which: IntArray,
    states: StateRow, members: IntArray, works: Seen, contexts: Float32Array,
    choices: Float32Array, legal: BoolArray, count: int, width: int,
) -> None:  # fmt: skip
    """Fill in what rows observe at a decision, see `policy.Observation`.

    Args:
        decision: Its index.
        problems: ``(M,)``.
        values: ``(M, DECISIONS, options)`` what choices stand for.
        options: Choices of any decision at most.
        which: ``(B,)`` problem of each row.
        states: ``(B,)``.
        members: ``(count,)`` the rows that observe.
        works: ``(1,)`` work space.
        contexts: ``(count, CONTEXT_FEATURES)``, zeros.
        choices: ``(count, width, CHOICE_FEATURES)``, zeros.
        legal: ``(count, width)``, False.
        count: Rows that observe.
        width: Choices of the decision at most.
    """
    seen = address(works[0])
    for row in range(count):
        member = members[row]
        seen.problem = problems[which[member]]
        seen.state = states[member]
        seen.at = (which[member] * DECISION_COUNT + decision) * options
        seen.first = row * width
        level = level_of(seen, decision)
        if seen.problem.counts[decision] < 2 or level < 0:  # nothing to choose
            legal[seen.first] = True
            continue
        fill_nest(seen, decision - TILE)
        fill_sizes(seen)
        see_context(seen, decision, level, contexts, row * CONTEXT_FEATURES)
        if decision >= ORDER:
            see_loops(seen, level, decision, values, choices, legal)
        elif decision >= TILE:
            see_tiles(seen, decision, values, choices, legal)
        else:
            see_spread(seen, decision, values, choices, legal)


@part
def level_of(seen: Seen, decision: int) -> int:
    """The memory that a decision is on; of a spread, the one whose fan-out it stands in."""
    if decision < TILE:
        return int(seen.problem.below[spread_of(decision)])
    return (decision - TILE) // D if decision < ORDER else LEVELS - 1 - (decision - ORDER)


@part
def see_context(seen: Seen, decision: int, level: int, contexts: Float32Array, first: int) -> None:
    """Write down the problem, the choices so far and the decision."""
    problem, at = address(seen.problem), first
    for k in range(PROBLEM_FEATURES):
        contexts[at + k] = problem.features[k]
    at += PROBLEM_FEATURES
    see_level(seen, level, contexts, at)
    see_level(seen, level + 1, contexts, at + PER_LEVEL)
    see_level(seen, level - 1, contexts, at + 2 * PER_LEVEL)
    see_level(seen, problem.memories - 1, contexts, at + 3 * PER_LEVEL)
    at += VIEWED * PER_LEVEL
    for d in range(D):
        see_dim(seen, level, d, contexts, at + d * PER_DIM)
    at += D * PER_DIM
    if TILE <= decision < ORDER:
        contexts[at + (decision - TILE) % D] = 1.0
    at += D
    contexts[at] = level / 4.0
    contexts[at + 1] = (problem.memories - 1 - level) / 4.0
    contexts[at + 2] = problem.spreads / 8.0
    contexts[at + 3] = problem.pool > 0
    if decision < TILE:
        s = spread_of(decision)
        contexts[at + 4] = problem.shared[s][0]
        contexts[at + 5] = problem.shared[s][1]
        contexts[at + 6] = log_of(seen, problem.most[s])
        contexts[at + OWN_FEATURES - D - 1] = s == 0


@part
def see_level(seen: Seen, level: int, contexts: Float32Array, at: int) -> None:
    """Features of a memory, nothing where there is none of that number."""
    if level < 0 or level > seen.problem.memories:
        return
    for k in range(LEVEL_FEATURES):
        contexts[at + k] = seen.problem.levels[level][k]
    own = at + LEVEL_FEATURES
    contexts[own] = min(seen.fills[level], 2.0)
    for tensor in range(TENSORS):
        contexts[own + 1 + tensor] = size_log(seen.sizes[level][tensor])
    if level < seen.problem.memories:
        for d in range(D):
            contexts[own + 4] += log_of(seen, seen.steps[level][d])
            contexts[own + 5] += log_of(seen, seen.units[level][d])


@part
def see_dim(seen: Seen, level: int, d: int, contexts: Float32Array, at: int) -> None:
    """State features of a dimension about a memory."""
    problem, state = address(seen.problem), address(seen.state)
    n = problem.extents[d]
    if n == 1:
        return
    box, outer = seen.box[level][d], min(level + 1, problem.memories)
    inside = seen.box[level - 1][d] if level > 0 else 1
    contexts[at] = log_of(seen, box)
    contexts[at + 1] = log_of(seen, seen.box[outer][d])
    contexts[at + 2] = log_of(seen, inside)
    contexts[at + 3] = log_of(seen, seen.steps[level][d]) if level < problem.memories else 0.0
    contexts[at + 4] = log_of(seen, up(box, inside * seen.units[level][d]))
    contexts[at + 5] = log_of(seen, seen.units[level][d])
    contexts[at + 6] = log_of(seen, seen.outside[level][d])
    contexts[at + 7] = log_of(seen, up(n, box * seen.outside[level][d]))
    contexts[at + 8] = log_of(seen, seen.units[level - 1][d]) if level > 0 else 0.0
    contexts[at + 9] = log_of(seen, seen.scale[d])
    for s in range(SPREADS):
        if state.dims[s] == d:
            contexts[at + 10] += 0.5


@part
def see_spread(
    seen: Seen, decision: int, values: IntArray, choices: Float32Array, legal: BoolArray
) -> None:
    """Dimensions of a spread, or its units; where none may be had, all are legal."""
    s, count, some = spread_of(decision), seen.problem.counts[decision], False
    for c in range(count):
        value = values[seen.at + c]
        fits = see_units(seen, s, value) if decision >= UNITS else see_parallel(seen, s, value)
        legal[seen.first + c] = fits
        some = some or fits
        put_choice(seen, choices, c)
    if not some:
        for c in range(count):
            legal[seen.first + c] = True


@entry
def rectify_rows(values: Float32Array, bias: Float32Array, rows: int, width: int) -> None:
    """Add a bias to each of ``(rows, width)`` values, and cut what is below 0."""
    for row in range(rows):
        for h in range(width):
            value = values[row * width + h] + bias[h]
            values[row * width + h] = value if value > 0.0 else 0.0


@entry
def score_rows(
    choices: Float32Array, legal: BoolArray, query: Float32Array, direct: Float32Array,
    query_bias: Float32Array, direct_bias: Float32Array, weight: Float32Array,
    pointer: Float32Array, inside: Float32Array, out: Float32Array, rows: int, width: int,
) -> None:  # fmt: skip
    """Fill in the score of every choice, see `network.scores`.

    Args:
        choices: ``(rows, width, CHOICE_FEATURES)``.
        legal: ``(rows, width)``.
        query: ``(rows, POINTER)``.
        direct: ``(rows, CHOICE_FEATURES)``.
        query_bias: ``(POINTER,)``.
        direct_bias: ``(CHOICE_FEATURES,)``.
        weight: ``(CHOICE_FEATURES, POINTER)``.
        pointer: ``(POINTER,)``.
        inside: ``(POINTER,)`` work space.
        out: ``(rows, width)``.
        rows: Rows.
        width: Choices.
    """
    for row in range(rows):
        for place in range(row * width, row * width + width):
            if not legal[place]:
                out[place] = -math.inf
                continue
            for h in range(POINTER):
                inside[h] = query[row * POINTER + h] + query_bias[h]
            score = 0.0
            for f in range(CHOICE_FEATURES):
                value = choices[place * CHOICE_FEATURES + f]
                if value == 0.0:
                    continue
                score += value * (direct[row * CHOICE_FEATURES + f] + direct_bias[f])
                for h in range(POINTER):
                    inside[h] += value * weight[f * POINTER + h]
            even, odd = 0.0, 0.0  # two sums, that do not wait for each other
            for h in range(0, POINTER, 2):
                even += max(inside[h], 0.0) * pointer[h]
                odd += max(inside[h + 1], 0.0) * pointer[h + 1]
            out[place] = score + (even + odd)


@entry
def draw_rows(
    decision: int, problems: ProblemRow, values: IntArray, options: int, which: IntArray,
    states: StateRow, scores: Float32Array, member: IntArray, warm: Float32Array,
    draws: FloatArray, picks: IntArray, rows: int, width: int,
) -> None:  # fmt: skip
    """Draw a choice of each row by the softmax of its scores, and carry it out.

    Args:
        decision: Its index, of none that is an order.
        problems: ``(M,)``.
        values: ``(M, DECISIONS, options)`` what choices stand for.
        options: Choices of any decision at most.
        which: ``(rows,)`` problem of each row.
        states: ``(rows,)``; changed.
        scores: ``(N, width)``, -inf where a choice is not legal.
        member: ``(rows,)`` the scores of each row.
        warm: ``(rows,)`` temperature; 0 takes the likeliest choice.
        draws: ``(rows,)`` random numbers in [0, 1).
        picks: ``(rows,)`` the choices; written.
        rows: Rows.
        width: Choices of the decision at most.
    """
    for row in range(rows):
        picks[row] = drawn(scores, member[row] * width, width, row, warm, draws)
        problem = address(problems[which[row]])
        if problem.counts[decision] > 1:
            at = (which[row] * DECISION_COUNT + decision) * options
            choose(problem, address(states[row]), decision, values[at + picks[row]])


@entry
def rank_rows(
    decision: int, problems: ProblemRow, values: IntArray, options: int, which: IntArray,
    states: StateRow, keys: Float32Array, picks: IntArray, rows: int, width: int,
) -> None:  # fmt: skip
    """Rank the loops of each row, and carry that out; those that do not iterate stay innermost.

    Args:
        decision: Its index, of an order.
        problems: ``(M,)``.
        values: ``(M, DECISIONS, options)`` loops that choices stand for.
        options: Choices of any decision at most.
        which: ``(rows,)`` problem of each row.
        states: ``(rows,)``; changed.
        keys: ``(rows, width)`` noisy scores, -inf where a loop does not iterate.
        picks: ``(rows, width)`` choices by rank, the outermost first; written.
        rows: Rows.
        width: Choices of the decision at most.
    """
    level = LEVELS - 1 - (decision - ORDER)
    for row in range(rows):
        first = row * width
        rank(keys, picks, first, width)
        if problems[which[row]].counts[decision] < 2:
            continue
        state, ranked = address(states[row]), 0
        at = (which[row] * DECISION_COUNT + decision) * options
        while ranked < width and keys[first + picks[first + ranked]] > -math.inf:
            state.orders[level][ranked] = values[at + picks[first + ranked]]
            ranked += 1
        fill_up(state, level, ranked)


@entry
def group_rows(
    picks: IntArray, columns: int, table: IntArray, member: IntArray, first: IntArray, rows: int,
    groups: int, width: int,
) -> int:  # fmt: skip
    """Split groups of rows by what they chose, and count the groups.

    Args:
        picks: ``(rows, columns)`` choices, below `width`.
        columns: Choices of a row.
        table: ``(rows * width,)`` work space.
        member: ``(rows,)`` group of each row, by the first row of each; changed.
        first: ``(rows,)`` the first row of each group; written.
        rows: Rows.
        groups: Groups before.
        width: Choices of the decision at most.
    """
    for column in range(columns):
        for key in range(groups * width):
            table[key] = -1
        groups = 0
        for row in range(rows):
            key = member[row] * width + picks[row * columns + column]
            if table[key] < 0:
                table[key] = groups
                first[groups] = row
                groups += 1
            member[row] = table[key]
    return groups
