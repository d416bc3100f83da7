"""The compiled entry points: what agents observe at a decision, scores and draws of choices."""

from __future__ import annotations

import math

from mapper.pretrained.choice_features import see_loop, see_parallel, see_tile, see_units
from mapper.pretrained.decisions import FIRST_TILE, ORDER, SPREADS, TILE, UNITS
from mapper.pretrained.nest_sizes import fill_nest, fill_sizes, log_of, place_of, size_log, up
from mapper.pretrained.seen_records import (
    CHOICE_FEATURES,
    LEVEL_FEATURES,
    POINTER,
    PROBLEM_FEATURES,
    TENSORS,
    ChoiceRow,
    ContextRow,
    D,
    DimSeen,
    DrawRow,
    LevelSeen,
    ProblemRow,
    Seen,
    StateRow,
    Step,
)
from marl_common import Float32Array, IntArray, address, entry, part


@entry
def see_rows(
    works: Seen, problems: ProblemRow, values: IntArray, states: StateRow, members: IntArray,
    contexts: ContextRow, choices: ChoiceRow,
) -> None:  # fmt: skip
    """Fill in what rows observe at a decision, see `policy.Observation`.

    Args:
        works: ``(1,)`` work space, whose `step` says what is decided.
        problems: ``(M,)``.
        values: ``(DECISIONS, M, options)`` what choices stand for.
        states: ``(rows,)``.
        members: ``(groups,)`` the rows that observe.
        contexts: ``(groups,)``, zeros.
        choices: ``(groups, width)``, zeros.
    """
    seen = address(works[0])
    step = address(seen.step)
    for row in range(step.groups):
        seen.state = states[members[row]]
        seen.problem = problems[seen.state.problem]
        seen.first = row * step.width
        seen.level = step.number if step.kind >= TILE else seen.problem.below[step.number]
        seen.dim = place_of(step.dim, seen.state.turned) if step.kind == TILE else step.dim
        seen.place = step.place + seen.dim - step.dim
        if seen.problem.counts[seen.place] > 1:  # something to choose
            fill_nest(seen, step.place - FIRST_TILE)
            fill_sizes(seen, 0)
            see_context(seen, address(contexts[row]))
            see_choices(seen, values, choices)


@part
def see_context(seen: Seen, context: ContextRow) -> None:
    """Write down the problem, the choices so far and the decision."""
    problem, step, level = address(seen.problem), address(seen.step), seen.level
    for k in range(PROBLEM_FEATURES):
        context.problem[k] = problem.features[k]
    see_level(seen, level, address(context.levels[0]))
    see_level(seen, level + 1, address(context.levels[1]))
    see_level(seen, level - 1, address(context.levels[2]))
    see_level(seen, problem.memories - 1, address(context.levels[3]))
    for d in range(D):
        see_dim(seen, level, d, address(context.dims[d]))
    if step.kind == TILE:
        context.tiled[seen.dim] = 1.0
    own = address(context.own)
    own.inside = level / 4.0
    own.outside = (problem.memories - 1 - level) / 4.0
    own.spreads = problem.spreads / 8.0
    own.pooled = problem.pool > 0
    if step.kind <= UNITS:
        own.multicast = problem.multicast[step.number]
        own.reduce = problem.reduce[step.number]
        own.most = log_of(seen, problem.most[step.number])
        own.outermost = step.number == 0


@part
def see_level(seen: Seen, level: int, out: LevelSeen) -> None:
    """Features of a memory, nothing where there is none of that number."""
    if level < 0 or level > seen.problem.memories:
        return
    for k in range(LEVEL_FEATURES):
        out.fixed[k] = seen.problem.levels[level][k]
    out.fill = min(seen.fills[level], 2.0)
    for tensor in range(TENSORS):
        out.sizes[tensor] = size_log(seen.sizes[level][tensor])
    if level < seen.problem.memories:
        for d in range(D):
            out.steps += log_of(seen, seen.steps[level][d])
            out.units += log_of(seen, seen.units[level][d])


@part
def see_dim(seen: Seen, level: int, d: int, out: DimSeen) -> None:
    """State features of a dimension about a memory."""
    n = seen.problem.extents[d]
    if n == 1:
        return
    box, outer = seen.box[level][d], min(level + 1, seen.problem.memories)
    inside = seen.box[level - 1][d] if level > 0 else 1
    out.box = log_of(seen, box)
    out.outer = log_of(seen, seen.box[outer][d])
    out.inside = log_of(seen, inside)
    out.steps = log_of(seen, seen.steps[level][d])
    out.within = log_of(seen, up(box, inside * seen.units[level][d]))
    out.units = log_of(seen, seen.units[level][d])
    out.outside = log_of(seen, seen.outside[level][d])
    out.pieces = log_of(seen, up(n, box * seen.outside[level][d]))
    out.below = log_of(seen, seen.units[level - 1][d]) if level > 0 else 0.0
    out.clusters = log_of(seen, seen.scale[d])
    out.open = level * D + place_of(d, seen.state.turned) >= seen.step.place - FIRST_TILE
    for s in range(SPREADS):
        if seen.state.parallel[s] == d:
            out.spreads += 0.5


@part
def see_choices(seen: Seen, values: IntArray, choices: ChoiceRow) -> None:
    """What the choices of a decision stand for, and their features.

    Where no dimension of a spread may be had, or none of its units, all are legal.
    """
    step, found, fits = address(seen.step), 0, True
    count = seen.problem.counts[seen.place]
    held = (seen.place * step.problems + seen.state.problem) * step.options
    for c in range(count):
        choice = address(choices[seen.first + c])
        choice.value = values[held + c]
        if step.kind == ORDER:
            see_loop(seen, choice)
        elif step.kind == UNITS:
            see_units(seen, found == 0, choice)
        elif step.kind == TILE:
            fits = fits and see_tile(seen, found == 0, choice)
        else:
            see_parallel(seen, choice)
        found += choice.legal
    for c in range(count if found == 0 and step.kind <= UNITS else 0):
        choices[seen.first + c].legal = True


@entry
def rectify_rows(values: Float32Array, bias: Float32Array, rows: int, width: int) -> None:
    """Add a bias to each of ``(rows, width)`` values, and cut what is below 0."""
    for row in range(rows):
        for h in range(width):
            value = values[row * width + h] + bias[h]
            values[row * width + h] = value if value > 0.0 else 0.0


@entry
def score_rows(
    choices: ChoiceRow, query: Float32Array, direct: Float32Array, query_bias: Float32Array,
    direct_bias: Float32Array, weight: Float32Array, pointer: Float32Array, inside: Float32Array,
    rows: int, width: int,
) -> None:  # fmt: skip
    """Fill in the score of every choice, see `network.score`.

    Args:
        choices: ``(rows, width)``.
        query: ``(rows, POINTER)``.
        direct: ``(rows, CHOICE_FEATURES)``.
        query_bias: ``(POINTER,)``.
        direct_bias: ``(CHOICE_FEATURES,)``.
        weight: ``(CHOICE_FEATURES, POINTER)``.
        pointer: ``(POINTER,)``.
        inside: ``(POINTER,)`` work space.
        rows: Rows.
        width: Choices.
    """
    for row in range(rows):
        for place in range(row * width, row * width + width):
            choice = address(choices[place])
            if not choice.legal:
                choice.score = -math.inf
                continue
            for h in range(POINTER):
                inside[h] = query[row * POINTER + h] + query_bias[h]
            score = 0.0
            for f in range(CHOICE_FEATURES):
                value = choice.features.every[f]
                if value == 0.0:
                    continue
                score += value * (direct[row * CHOICE_FEATURES + f] + direct_bias[f])
                for h in range(POINTER):
                    inside[h] += value * weight[f * POINTER + h]
            even, odd = 0.0, 0.0  # two sums, that do not wait for each other
            for h in range(0, POINTER, 2):
                even += max(inside[h], 0.0) * pointer[h]
                odd += max(inside[h + 1], 0.0) * pointer[h + 1]
            choice.score = score + (even + odd)


@entry
def take_rows(works: Seen, states: StateRow, draws: DrawRow, choices: ChoiceRow) -> None:
    """Draw a choice of each row by the softmax of its scores, and carry it out, or a ranking.

    Args:
        works: ``(1,)`` work space, whose `step` says what is decided.
        states: ``(rows,)``; changed.
        draws: ``(rows,)``; what they chose is written, but for orders, which are there.
        choices: ``(groups, width)`` with scores.
    """
    seen = address(works[0])
    step = address(seen.step)
    for row in range(step.rows):
        draw, state = address(draws[row]), address(states[row])
        if step.kind == ORDER:
            order_loops(step, state, draw, choices)
        else:
            draw.chose = drawn(draw, choices, step.width)
            choice = address(choices[draw.group * step.width + draw.chose])
            if not choice.legal:
                continue
            if step.kind == TILE:
                state.tile[step.number][place_of(step.dim, state.turned)] = choice.value
            elif step.kind == UNITS:
                state.units[step.number] = choice.value
            else:
                state.parallel[step.number] = choice.value


@part
def drawn(draw: DrawRow, choices: ChoiceRow, width: int) -> int:
    """Draw one of the `width` choices of a row's group by the softmax of their scores."""
    first, best, total = draw.group * width, 0, 0.0
    for c in range(1, width):
        if choices[first + c].score > choices[first + best].score:
            best = c
    if draw.warm == 0.0:
        return best
    for c in range(width):
        total += math.exp((choices[first + c].score - choices[first + best].score) / draw.warm)
    left = draw.draw * total
    for c in range(width):
        left -= math.exp((choices[first + c].score - choices[first + best].score) / draw.warm)
        if left < 0.0:
            return c
    return best


@part
def order_loops(step: Step, state: StateRow, draw: DrawRow, choices: ChoiceRow) -> None:
    """Put the loops that iterate outside of the others, as they rank; `state` changes."""
    order = state.order[step.number]
    for c in range(step.width - 1, -1, -1):
        choice, place = address(choices[draw.group * step.width + draw.picks[c]]), 0
        if choice.legal:
            while order[place] != choice.value:
                place += 1
            for i in range(place, 0, -1):
                order[i] = order[i - 1]
            order[0] = choice.value


@entry
def group_rows(draws: DrawRow, rows: int) -> int:
    """Split groups of rows by what they chose, and count the groups.

    Args:
        draws: ``(rows,)``; groups are written, numbered by their first rows.
        rows: Rows.
    """
    groups = 0
    for row in range(rows):
        draws[row].split = -1
    for row in range(rows):
        before = address(draws[draws[row].group])
        found = before.split
        while found >= 0 and draws[draws[found].first].chose != draws[row].chose:
            found = draws[found].next
        if found < 0:
            found = groups
            draws[found].first = row
            draws[found].next = before.split
            before.split = found
            groups += 1
        draws[row].group = found
    return groups
