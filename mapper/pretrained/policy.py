"""The agents' policy: decision by decision a mapping stands, for many problems at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import DECISIONS, Decision
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.observation import Observation, observe
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import D
from marl_common import BoolArray, Float32Array, FloatArray, IntArray, contiguous

Rows = NDArray[Any]
"""``(B,)`` records `seen_records.StateRow`."""
TINY = np.float32(1e-30)
"""No noise is infinite."""


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
        temperature: Float32Array | None = None,
        kept: list[Taken] | None = None,
    ) -> Rows:
        """Let the agents choose.

        Args:
            arrays: The problems.
            which: ``(B,)`` the problem of each proposal.
            rng: Randomness.
            temperature: ``(B, DECISIONS)`` of each row's draw at each decision; 1 by default, 0
                takes the likeliest choice.
            kept: Gets every decision, for training and for explanations.

        Returns:
            ``(B,)`` records `seen_records.StateRow`.
        """
        rows: Rows = arrays.begins[which]
        still = np.ones(len(which), np.float32)
        past = which  # alike where the choices so far are: such rows observe the same
        for decision in _open(arrays, which):
            first, member = alike(past)
            seen = observe(decision.place, arrays, which[first], rows[first])
            found = self.score(decision, seen)
            warm = still if temperature is None else temperature[:, decision.place]
            if decision.is_order:
                picks = _ranked(found[member], warm, rng)
                _rank(decision, arrays, which, picks, seen.legal[member], rows)
            else:
                picks = draw_choices(found, member, warm, rng.random(len(which)))
                _choose(decision, arrays, which, picks[:, 0], rows)
            width = found.shape[1]
            past = member * width ** picks.shape[1] + picks @ width ** np.arange(picks.shape[1])
            if kept is not None:
                kept.append(Taken(decision, seen.take(member), picks))
        return rows


def replay(arrays: ProblemArrays, which: IntArray, given: Rows) -> list[Taken]:
    """The decisions that lead to given mappings, as agents would observe them.

    Rows whose choice is not legal at a decision, or not among the choices, have no say there.

    Args:
        arrays: The problems.
        which: ``(B,)`` problem of each mapping.
        given: ``(B,)`` records `seen_records.StateRow`: the mappings.
    """
    rows, found = arrays.begins[which], []
    for decision in _open(arrays, which):
        seen = observe(decision.place, arrays, which, rows)
        picks, among = _picks(decision, arrays, which, given, seen.legal)
        _part(decision, rows)[:] = _part(decision, given)
        _share_pool(decision, arrays, which, rows)
        legal = seen.legal & among[:, None] & np.take_along_axis(seen.legal, picks[:, :1], axis=1)
        found.append(Taken(decision, seen._replace(legal=legal), picks))
    return found


def _open(arrays: ProblemArrays, which: IntArray) -> list[Decision]:
    """Decisions in which a problem has something to choose; the others stand from the beginning."""
    most = arrays.counts[np.unique(which)].max(axis=0)
    return [decision for decision in DECISIONS if most[decision.place] > 1]


def _choose(
    decision: Decision, arrays: ProblemArrays, which: IntArray, picks: IntArray, rows: Rows
) -> None:
    """Carry out a decision that is no order: ``(B,)`` picks; `rows` change in place."""
    has = arrays.counts[which, decision.place] > 1
    value = arrays.values[which, decision.place, picks]
    part = _part(decision, rows)
    part[has] = value[has]
    _share_pool(decision, arrays, which, rows)


def _share_pool(decision: Decision, arrays: ProblemArrays, which: IntArray, rows: Rows) -> None:
    """Let there be as many clusters as their size allows, where PEs are shared; changes `rows`."""
    if decision.kind == "units" and decision.number == 1:
        pool = arrays.rows["pool"][which]
        pooled = pool > 0
        rows["units"][pooled, 0] = pool[pooled] // rows["units"][pooled, 1]


def _rank(
    decision: Decision,
    arrays: ProblemArrays,
    which: IntArray,
    ranks: IntArray,
    legal: BoolArray,
    rows: Rows,
) -> None:
    """Carry out an order: loops that iterate by rank, the others innermost as they come.

    Args:
        decision: The decision.
        arrays: The problems.
        which: ``(B,)`` problem of each row.
        ranks: ``(B, C)`` choices in their order, the outermost first; those that iterate lead.
        legal: ``(B, C)`` loops that iterate.
        rows: Changed in place.
    """
    row, choice = np.nonzero(legal)
    place = np.tile(np.arange(D, 2 * D), (len(which), 1))
    loop = arrays.values[which[row], decision.place, choice]
    place[row, loop] = np.argsort(ranks, axis=1)[legal]
    has = arrays.counts[which, decision.place] > 1
    _part(decision, rows)[has] = np.argsort(place, axis=1)[has]


def _part(decision: Decision, rows: Rows) -> IntArray:
    """What a decision chooses in each row: ``(B,)``, of an order ``(B, D)``; no copy."""
    name = {"parallel": "dims", "units": "units", "tile": "tiles", "order": "orders"}
    found: IntArray = rows[name[decision.kind]][:, decision.number]
    return found[:, decision.dim] if decision.kind == "tile" else found


def draw_choices(
    scores: Float32Array, member: IntArray, temperature: Float32Array, draws: FloatArray
) -> IntArray:
    """``(B, 1)`` a choice of each row, drawn by the softmax of its scores.

    Args:
        scores: ``(N, C)``, -inf where a choice is not legal.
        member: ``(B,)`` the scores of each row.
        temperature: ``(B,)``; 0 takes the likeliest choice.
        draws: ``(B,)`` random numbers in [0, 1).
    """
    from mapper.pretrained.kernel import draw_rows

    picks = np.empty((len(member), 1), np.int64)
    warm = np.asarray(temperature, np.float32)
    scores, member, warm, draws = contiguous((scores, member, warm, draws))
    draw_rows(scores, member, warm, draws, picks, len(member), scores.shape[1])
    return picks


def _ranked(found: Float32Array, temperature: Any, rng: np.random.Generator) -> IntArray:
    """``(B, C)`` loops by rank, drawn by Plackett and Luce's model with Gumbel's noise.

    Scores that are made noisy so rank as that model draws (Yellott, 1977).
    """
    waits = rng.standard_exponential(found.shape, np.float32)
    noise = -np.log(np.maximum(waits, TINY)) * temperature.astype(np.float32)[:, None]
    return np.argsort(-(found + noise), axis=1, kind="stable")


def alike(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """``(N,)`` the first place of each number that there is, and ``(B,)`` whose each place is."""
    first: dict[int, int] = {}  # of few numbers faster than a sort
    listed = numbers.tolist()
    for place, number in enumerate(listed):
        first.setdefault(number, place)
    names = {number: name for name, number in enumerate(first)}
    member = np.array([names[number] for number in listed], np.int64)
    return np.array(list(first.values()), np.int64), member


def _picks(
    decision: Decision, arrays: ProblemArrays, which: IntArray, given: Rows, legal: BoolArray
) -> tuple[IntArray, BoolArray]:
    """The picks, as in :class:`Taken`, of given mappings, and ``(B,)`` which are among choices."""
    width = legal.shape[1]
    values, part = arrays.values[which, decision.place, :width], _part(decision, given)
    if decision.is_order:
        place = np.argsort(part, axis=1)  # dimension -> place
        rank = np.take_along_axis(place, values, axis=1)
        ranks = np.argsort(np.where(legal, rank, D), axis=1, kind="stable")
        return ranks, np.ones(len(which), np.bool_)
    inside = np.arange(width) < arrays.counts[which, decision.place][:, None]
    match = inside & (values == part[:, None])
    return match.argmax(axis=1)[:, None], match.any(axis=1)
