"""The agents' policy: decision by decision a mapping stands, for many problems at once.

What agents observe are logarithms, shares or flags, so that a network meets the same ranges on any
layer and any chip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import DECISIONS, KINDS, Decision
from mapper.pretrained.nest_choices import part_of
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import CONTEXT_FEATURES, ChoiceRow, ContextRow, D, DrawRow
from marl_common import Float32Array, IntArray

Rows = NDArray[Any]
"""``(B,)`` records `seen_records.StateRow`."""
TINY = np.float32(1e-30)
"""No noise is infinite."""


class Observation(NamedTuple):
    """What `B` agents observe at one decision.

    Args:
        context: ``(B, CONTEXT_FEATURES)`` float32: problem, choices so far, the decision.
        choices: ``(B, C)`` records `seen_records.ChoiceRow`.
    """

    context: Float32Array
    choices: NDArray[Any]


class Taken(NamedTuple):
    """One decision of `B` rows, as it was observed and taken.

    Args:
        decision: The decision.
        seen: What the rows observed.
        picks: ``(B, C)`` loops by rank, the outermost first; of a decision that is no order,
            ``(B, 1)`` the choice taken.
    """

    decision: Decision
    seen: Observation
    picks: IntArray


def propose(
    weights: Weights,
    arrays: ProblemArrays,
    which: IntArray,
    rng: np.random.Generator,
    temperature: Float32Array | float = 1.0,
) -> Rows:
    """Let the agents choose mappings.

    Args:
        weights: Their networks.
        arrays: The problems.
        which: ``(B,)`` the problem of each proposal.
        rng: Randomness.
        temperature: ``(DECISIONS, B)`` of each row's draw at each decision, or one of all; 0
            takes the likeliest choice.

    Returns:
        ``(B,)`` records `seen_records.StateRow`.
    """
    from mapper.pretrained.kernel import group_rows, take_rows

    rows: Rows = arrays.begins[which]
    count = len(which)
    warm = np.full((len(DECISIONS), count), temperature, np.float32)
    draws = np.zeros(count, DrawRow)
    draws["picks"][:, 0] = which
    groups = group_rows(draws, 1, count)
    for decision, width in _open(arrays, which):
        seen = observe(decision, arrays, rows, draws["first"][:groups].copy(), width)
        found = scores(weights, decision.kind, *seen)
        if decision.is_order:
            waits = rng.standard_exponential((count, width), np.float32)
            noise = np.log(np.maximum(waits, TINY)) * warm[decision.place][:, None]
            draws["keys"][:, :width] = found[draws["group"]] - noise
        else:
            draws["draw"], draws["warm"] = rng.random(count), warm[decision.place]
        take_rows(arrays.work, arrays.rows, rows, draws, seen.choices)
        groups = group_rows(draws, width if decision.is_order else 1, count)
    return rows


def observe(
    decision: Decision, arrays: ProblemArrays, rows: Rows, members: IntArray, width: int
) -> Observation:
    """What some rows observe.

    Args:
        decision: The decision.
        arrays: The problems.
        rows: ``(B,)`` records `seen_records.StateRow`: the choices so far.
        members: ``(N,)`` the rows that observe.
        width: Choices of the decision at most.
    """
    from mapper.pretrained.kernel import see_rows

    place, kind, *where = decision
    count, options = len(members), arrays.values.shape[2]
    arrays.work["step"][0] = (place, KINDS.index(kind), *where, count, len(rows), width, options)
    context: Float32Array = np.zeros((count, CONTEXT_FEATURES), np.float32)
    choices = np.zeros((count, width), ChoiceRow)
    contexts = np.ndarray(count, ContextRow, context)  # in the same memory
    see_rows(arrays.work, arrays.rows, arrays.values[place], rows, members, contexts, choices)
    return Observation(context, choices)


def replay(arrays: ProblemArrays, given: Rows) -> list[Taken]:
    """The decisions that lead to given mappings, as agents would observe them.

    Rows whose choice is not legal at a decision, or not among the choices, have no say there.

    Args:
        arrays: The problems.
        given: ``(B,)`` records `seen_records.StateRow`: the mappings.
    """
    which, found = given["problem"], []
    rows, everyone = arrays.begins[which], np.arange(len(given))
    for decision, width in _open(arrays, which):
        seen = observe(decision, arrays, rows, everyone, width)
        values, legal = seen.choices["value"], seen.choices["legal"]
        part = part_of(decision, given)
        if decision.is_order:
            place = np.take_along_axis(np.argsort(part, axis=1), values, axis=1)
            picks = np.argsort(np.where(legal, place, D), axis=1, kind="stable")
        else:
            match = legal & (values == part[:, None])
            picks = match.argmax(axis=1)[:, None]
            legal &= match.any(axis=1)[:, None]
        part_of(decision, rows)[:] = part
        if (decision.kind, decision.number) == ("units", 1):  # clusters follow where PEs are shared
            pooled = arrays.rows["pool"][which] > 0
            rows["units"][pooled, 0] = given["units"][pooled, 0]
        found.append(Taken(decision, seen, picks))
    return found


def _open(arrays: ProblemArrays, which: IntArray) -> list[tuple[Decision, int]]:
    """Decisions in which a problem has something to choose, and how many choices there are."""
    most = arrays.rows["counts"][np.unique(which)].max(axis=0)
    return [(decision, n) for decision, n in zip(DECISIONS, most.tolist(), strict=True) if n > 1]
