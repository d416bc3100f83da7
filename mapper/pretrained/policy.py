"""The agents' policy: decision by decision a mapping stands, for many problems at once.

What agents observe are logarithms, shares or flags, so that a network meets the same ranges on any
layer and any chip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import DECISIONS, FIRST_TILE, KINDS, LEVELS, TURNED, Decision
from mapper.pretrained.nest_choices import index_of
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import CONTEXT_FEATURES, ChoiceRow, ContextRow, D, DrawRow
from marl_common import BoolArray, Float32Array, IntArray

Rows = NDArray[Any]
"""``(B,)`` records `seen_records.StateRow`."""
TINY = np.float32(1e-30)
"""No noise is infinite."""


class Taken(NamedTuple):
    """One decision of `B` rows, as it was observed and taken.

    Args:
        decision: The decision.
        context, choices: What the rows observed, see :func:`observe`.
        picks: ``(B, C)`` loops by rank, the outermost first; of a decision that is no order,
            ``(B, 1)`` the choice taken.
    """

    decision: Decision
    context: Float32Array
    choices: NDArray[Any]
    picks: IntArray


def propose(
    weights: Weights,
    arrays: ProblemArrays,
    which: IntArray,
    rng: np.random.Generator,
    temperature: Float32Array | float = 1.0,
    turned: BoolArray | bool = False,
) -> Rows:
    """Let the agents choose mappings.

    Args:
        weights: Their networks.
        arrays: The problems.
        which: ``(B,)`` the problem of each proposal.
        rng: Randomness.
        temperature: ``(DECISIONS, B)`` of each row's draw at each decision, or one of all; 0
            takes the likeliest choice.
        turned: ``(B,)`` whether a row's tiles are chosen in the order of `TURNED`, or of all.

    Returns:
        ``(B,)`` records `seen_records.StateRow`.
    """
    from mapper.pretrained.kernel import group_rows, take_rows

    rows: Rows = arrays.begins[which]
    rows["turned"] = turned
    count = len(which)
    warm = np.full((len(DECISIONS), count), temperature, np.float32)
    draws = np.zeros(count, DrawRow)
    draws["chose"] = 2 * which + rows["turned"]
    groups = group_rows(draws, count)
    for decision, width in _open(arrays, which):
        members = draws["first"][:groups].copy()
        context, choices = observe(decision, arrays, rows, members, width)
        found = scores(weights, decision.kind, context, choices)
        if decision.kind == "order":
            waits = rng.standard_exponential((count, width), np.float32)
            noise = np.log(np.maximum(waits, TINY)) * warm[decision.place][:, None]
            picks = np.argsort(noise - found[draws["group"]], axis=1, kind="stable")
            draws["picks"][:, :width], draws["chose"] = picks, picks @ D ** np.arange(width)
        else:
            draws["draw"], draws["warm"] = rng.random(count), warm[decision.place]
        take_rows(arrays.work, rows, draws, choices)
        groups = group_rows(draws, count)
    return rows


def observe(
    decision: Decision, arrays: ProblemArrays, rows: Rows, members: IntArray, width: int
) -> tuple[Float32Array, NDArray[Any]]:
    """What some rows observe.

    Args:
        decision: The decision.
        arrays: The problems.
        rows: ``(B,)`` records `seen_records.StateRow`: the choices so far.
        members: ``(N,)`` the rows that observe.
        width: Choices of the decision at most.

    Returns:
        ``(N, CONTEXT_FEATURES)`` problem, choices so far, the decision; and ``(N, width)`` records
        `seen_records.ChoiceRow`.
    """
    from mapper.pretrained.kernel import see_rows

    place, kind, *where = decision
    count, options = len(members), arrays.values.shape[2]
    sizes = count, len(rows), width, options, len(arrays.rows)
    arrays.work["step"][0] = (place, KINDS.index(kind), *where, *sizes)
    context: Float32Array = np.zeros((count, CONTEXT_FEATURES), np.float32)
    contexts = np.ndarray(count, ContextRow, context)  # in the same memory
    # NumPy itself takes long to allocate records whose fields overlap
    memory = np.zeros(count * width * ChoiceRow.itemsize, np.uint8)
    choices: NDArray[Any] = np.ndarray((count, width), ChoiceRow, memory)
    see_rows(arrays.work, arrays.rows, arrays.values, rows, members, contexts, choices)
    return context, choices


def replay(arrays: ProblemArrays, given: Rows) -> list[Taken]:
    """The decisions that lead to given mappings, as agents would observe them.

    Rows whose choice is not legal at a decision, or not among the choices, have no say there.

    Args:
        arrays: The problems.
        given: ``(B,)`` records `seen_records.StateRow`: the mappings.
    """
    which, found = given["problem"], []
    rows, everyone = arrays.begins[which], np.arange(len(given))
    rows["turned"] = given["turned"]
    for decision, width in _open(arrays, which):
        context, choices = observe(decision, arrays, rows, everyone, width)
        values, legal = choices["value"], choices["legal"]
        chosen = index_of(decision, given)
        part = given[decision.kind][chosen]
        if decision.kind == "order":
            place = np.take_along_axis(np.argsort(part, axis=1), values, axis=1)
            picks = np.argsort(np.where(legal, place, D), axis=1, kind="stable")
        else:
            match = legal & (values == part[:, None])
            picks = match.argmax(axis=1)[:, None]
            legal &= match.any(axis=1)[:, None]
        rows[decision.kind][chosen] = part
        found.append(Taken(decision, context, choices, picks))
    return found


def _open(arrays: ProblemArrays, which: IntArray) -> list[tuple[Decision, int]]:
    """Decisions in which a problem has something to choose, and how many choices there are."""
    most = arrays.rows["counts"][np.unique(which)].max(axis=0)
    tiles = most[FIRST_TILE:][: LEVELS * D].reshape(LEVELS, D)
    np.maximum(tiles, tiles[:, list(TURNED)], out=tiles)  # in either order
    return [(decision, n) for decision, n in zip(DECISIONS, most.tolist(), strict=True) if n > 1]
