"""The compiled entry points: what agents observe at a decision, and scores of choices."""

from __future__ import annotations

from mapper.pretrained.choice_features import (
    put_choice,
    see_cluster,
    see_loops,
    see_parallel,
    see_tiles,
)
from mapper.pretrained.decisions import (
    CLUSTER_SIZE,
    INNER,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.seen_records import (
    CHOICE_FEATURES,
    CONTEXT_FEATURES,
    DECISION_COUNT,
    PER_DIM,
    POINTER,
    PROBLEM_FEATURES,
    STATE_FEATURES,
    TENSORS,
    D,
    ProblemRow,
    Seen,
    StateRow,
)
from mapper.pretrained.tile_sizes import (
    clusters_of,
    elements_but_one,
    fill_of,
    fill_steps,
    hold,
    log_of,
    size_log,
)
from marl_common import BoolArray, Float32Array, IntArray, address, entry, part


@entry
def see_rows(
    decision: int,
    problems: ProblemRow,
    values: IntArray,
    which: IntArray,
    states: StateRow,
    works: Seen,
    contexts: Float32Array,
    choices: Float32Array,
    legal: BoolArray,
    count: int,
) -> None:
    """Fill in what rows observe at a decision, see `observation.Observation`.

    Args:
        decision: Its index.
        problems: ``(M,)``.
        values: ``(M, DECISIONS, C)`` what choices stand for.
        which: ``(B,)`` problem of each row.
        states: ``(B,)``.
        works: ``(1,)`` work space; `width` is that of `choices`, `values` is `C`.
        contexts: ``(B, CONTEXT_FEATURES)``.
        choices: ``(B, width, CHOICE_FEATURES)``, zeros.
        legal: ``(B, width)``, False.
        count: Rows.
    """
    seen = address(works[0])
    for row in range(count):
        seen.problem = problems[which[row]]
        seen.state = states[row]
        seen.at = (which[row] * DECISION_COUNT + decision) * seen.values
        seen.first = row * seen.width
        see_context(seen, decision, contexts, row * CONTEXT_FEATURES)
        if decision >= OUTER_ORDER:
            see_loops(seen, decision, values, choices, legal)
        elif decision >= INNER_TILE:
            see_tiles(seen, decision, values, choices, legal)
        else:
            see_units(seen, decision, values, choices, legal)


@part
def see_context(seen: Seen, decision: int, contexts: Float32Array, at: int) -> None:
    """Write down the problem, the choices so far and the decision."""
    for k in range(PROBLEM_FEATURES):
        contexts[at + k] = seen.problem.features[k]
    see_state(seen)
    for k in range(STATE_FEATURES):
        contexts[at + PROBLEM_FEATURES + k] = seen.whole[k]
    own = at + PROBLEM_FEATURES + STATE_FEATURES
    for k in range(D + 2):
        contexts[own + k] = 0.0
    if INNER_TILE <= decision < OUTER_ORDER:
        d = decision - (INNER_TILE if decision < OUTER_TILE else OUTER_TILE)
        contexts[own + d] = 1.0
        contexts[own + D] = d == seen.state.parallel[OUTER]
        contexts[own + D + 1] = d == seen.state.parallel[INNER]


@part
def see_state(seen: Seen) -> None:
    """State features of one row, steps, and elements of each tensor in L2 and L1."""
    state = address(seen.state)
    fill_steps(seen)
    all_outer, all_inner = 0.0, 0.0
    for d in range(D):
        own = d * PER_DIM
        for k in range(4):
            seen.whole[own + k] = 0.0
        seen.whole[own + 4] = d == state.parallel[OUTER]
        seen.whole[own + 5] = d == state.parallel[INNER]
        if seen.problem.extents[d] > 1:
            inner = log_of(seen, state.tiles[INNER][d])
            seen.whole[own] = inner
            seen.whole[own + 1] = log_of(seen, state.tiles[OUTER][d]) - inner
            seen.whole[own + 2] = log_of(seen, seen.steps[OUTER][d])
            seen.whole[own + 3] = log_of(seen, seen.steps[INNER][d])
            all_outer += seen.whole[own + 2]
            all_inner += seen.whole[own + 3]
    hold(seen, OUTER)
    own = D * PER_DIM
    for tensor in range(TENSORS):
        for level in range(2):
            seen.sizes[level][tensor] = elements_but_one(seen, level, tensor, -1)
        seen.whole[own + 6 + tensor] = size_log(seen.sizes[INNER][tensor])
        seen.whole[own + 9 + tensor] = size_log(seen.sizes[OUTER][tensor])
    seen.whole[own] = log_of(seen, max(state.cluster, 1))
    seen.whole[own + 1] = log_of(seen, clusters_of(seen))
    seen.whole[own + 2] = all_outer
    seen.whole[own + 3] = all_inner
    seen.whole[own + 4] = min(fill_of(seen, INNER), 2.0)
    seen.whole[own + 5] = min(fill_of(seen, OUTER), 2.0)


@part
def see_units(
    seen: Seen, decision: int, values: IntArray, choices: Float32Array, legal: BoolArray
) -> None:
    """Parallel dimensions, or cluster sizes."""
    for c in range(seen.problem.counts[decision]):
        value = values[seen.at + c]
        legal[seen.first + c] = True
        if decision == CLUSTER_SIZE:
            see_cluster(seen, value)
        else:
            see_parallel(seen, decision, value)
        put_choice(seen, choices, c)


@entry
def score_rows(
    choices: Float32Array,
    legal: BoolArray,
    query: Float32Array,
    direct: Float32Array,
    weight: Float32Array,
    pointer: Float32Array,
    inside: Float32Array,
    out: Float32Array,
    rows: int,
    width: int,
) -> None:
    """Fill in the score of every legal choice, see `network.scores`.

    Args:
        choices: ``(rows, width, CHOICE_FEATURES)``.
        legal: ``(rows, width)``.
        query: ``(rows, POINTER)``.
        direct: ``(rows, CHOICE_FEATURES)``.
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
                continue
            for h in range(POINTER):
                inside[h] = query[row * POINTER + h]
            score = 0.0
            for f in range(CHOICE_FEATURES):
                value = choices[place * CHOICE_FEATURES + f]
                if value == 0.0:
                    continue
                score += value * direct[row * CHOICE_FEATURES + f]
                for h in range(POINTER):
                    inside[h] += value * weight[f * POINTER + h]
            for h in range(POINTER):
                score += max(inside[h], 0.0) * pointer[h]
            out[place] = score
