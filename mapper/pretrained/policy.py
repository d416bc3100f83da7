"""The agents' policy: decision by decision a mapping stands, for many problems at once.

What agents observe are logarithms, shares or flags, so that a network meets the same ranges on any
layer and any chip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import DECISIONS, Decision
from mapper.pretrained.nest_choices import part_of
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import CHOICE_FEATURES, CONTEXT_FEATURES, D
from marl_common import BoolArray, Float32Array, IntArray

Rows = NDArray[Any]
"""``(B,)`` records `seen_records.StateRow`."""
TINY = np.float32(1e-30)
"""No noise is infinite."""


class Observation(NamedTuple):
    """What `B` agents observe at one decision.

    Args:
        context: ``(B, CONTEXT_FEATURES)`` float32: problem, choices so far, the decision.
        choices: ``(B, C, CHOICE_FEATURES)`` float32.
        legal: ``(B, C)`` bool: what the buffers hold, or, of an order, the loops that iterate.
    """

    context: NDArray[np.float32]
    choices: NDArray[np.float32]
    legal: NDArray[np.bool_]


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

    @property
    def open(self) -> NDArray[np.bool_]:
        """``(B,)`` rows that had a choice at all."""
        return np.asarray(self.seen.legal.sum(axis=1) > 1)


@dataclass(frozen=True)
class MappingPolicy:
    """Draws mappings from the agents' networks.

    Args:
        weights: The networks.
    """

    weights: Weights

    def score(self, decision: Decision, seen: Observation) -> Float32Array:
        """``(B, C)`` score of every choice, -inf where it is not legal."""
        return scores(self.weights, decision.kind, *seen)

    def propose(
        self,
        arrays: ProblemArrays,
        which: IntArray,
        rng: np.random.Generator,
        temperature: Float32Array | float = 1.0,
    ) -> Rows:
        """Let the agents choose.

        Args:
            arrays: The problems.
            which: ``(B,)`` the problem of each proposal.
            rng: Randomness.
            temperature: ``(DECISIONS, B)`` of each row's draw at each decision, or one of all; 0
                takes the likeliest choice.

        Returns:
            ``(B,)`` records `seen_records.StateRow`.
        """
        from mapper.pretrained.kernel import draw_rows, group_rows, rank_rows

        rows: Rows = arrays.begins[which]
        count, values, decisions = len(which), arrays.values, _open(arrays, which)
        given = arrays.rows, values, values.shape[2], which, rows
        warm = np.full((len(DECISIONS), count), temperature, np.float32)
        # rows whose choices so far are alike observe the same
        problems = len(arrays.nests)
        table = np.empty(max(count * values.shape[2], problems), np.int64)
        member, first = np.zeros((2, count), np.int64)
        groups = group_rows(which, 1, table, member, first, count, 1, problems)
        for decision, width in decisions:
            seen = observe(decision.place, arrays, which, rows, first[:groups], width)
            found, still = self.score(decision, seen), warm[decision.place]
            if decision.is_order:
                waits = rng.standard_exponential((count, width), np.float32)
                found = found[member] - np.log(np.maximum(waits, TINY)) * still[:, None]
                picks = np.empty((count, width), np.int64)
                rank_rows(decision.place, *given, found, picks, count, width)
            else:
                draws, picks = rng.random(count), np.empty((count, 1), np.int64)
                draw_rows(decision.place, *given, found, member, still, draws, picks, count, width)
            groups = group_rows(picks, picks.shape[1], table, member, first, count, groups, width)
        return rows


def observe(
    decision: int,
    arrays: ProblemArrays,
    which: IntArray,
    rows: Rows,
    members: IntArray,
    width: int,
) -> Observation:
    """What some rows observe.

    Args:
        decision: Its index.
        arrays: The problems.
        which: ``(B,)`` the problem of each row.
        rows: ``(B,)`` records `seen_records.StateRow`: the choices so far.
        members: ``(N,)`` the rows that observe.
        width: Choices of the decision at most.
    """
    from mapper.pretrained.kernel import see_rows

    count, values = len(members), arrays.values
    found = Observation(
        np.zeros((count, CONTEXT_FEATURES), np.float32),
        np.zeros((count, width, CHOICE_FEATURES), np.float32),
        np.zeros((count, width), np.bool_),
    )
    given = arrays.rows, values, values.shape[2], which, rows, members, arrays.work
    see_rows(decision, *given, *found, count, width)
    return found


def replay(arrays: ProblemArrays, which: IntArray, given: Rows) -> list[Taken]:
    """The decisions that lead to given mappings, as agents would observe them.

    Rows whose choice is not legal at a decision, or not among the choices, have no say there.

    Args:
        arrays: The problems.
        which: ``(B,)`` problem of each mapping.
        given: ``(B,)`` records `seen_records.StateRow`: the mappings.
    """
    rows, found = arrays.begins[which], []
    for decision, width in _open(arrays, which):
        seen = observe(decision.place, arrays, which, rows, np.arange(len(which)), width)
        picks, among = _picks(decision, arrays, which, given, seen.legal)
        part_of(decision, rows)[:] = part_of(decision, given)
        if (decision.kind, decision.number) == ("units", 1):  # clusters follow where PEs are shared
            pooled = arrays.rows["pool"][which] > 0
            rows["units"][pooled, 0] = given["units"][pooled, 0]
        legal = seen.legal & among[:, None] & np.take_along_axis(seen.legal, picks[:, :1], axis=1)
        found.append(Taken(decision, seen._replace(legal=legal), picks))
    return found


def _open(arrays: ProblemArrays, which: IntArray) -> list[tuple[Decision, int]]:
    """Decisions in which a problem has something to choose, and how many choices there are."""
    most = arrays.rows["counts"][np.unique(which)].max(axis=0)
    return [(decision, n) for decision, n in zip(DECISIONS, most.tolist(), strict=True) if n > 1]


def _picks(
    decision: Decision, arrays: ProblemArrays, which: IntArray, given: Rows, legal: BoolArray
) -> tuple[IntArray, BoolArray]:
    """The picks, as in :class:`Taken`, of given mappings, and ``(B,)`` which are among choices."""
    width = legal.shape[1]
    values, part = arrays.values[which, decision.place, :width], part_of(decision, given)
    if decision.is_order:
        place = np.argsort(part, axis=1)  # dimension -> place
        rank = np.take_along_axis(place, values, axis=1)
        ranks = np.argsort(np.where(legal, rank, D), axis=1, kind="stable")
        return ranks, np.ones(len(which), np.bool_)
    inside = np.arange(width) < arrays.rows["counts"][which, decision.place][:, None]
    match = inside & (values == part[:, None])
    return match.argmax(axis=1)[:, None], match.any(axis=1)
