"""The agents' policy: decision by decision a mapping stands, for many problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import DECISIONS, Decision
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.observation import Observation, observe
from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import D
from mapper.pretrained.state import State, begin, choose, rank
from marl_common import Float32Array, FloatArray, IntArray

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
    ) -> State:
        """Let the agents choose.

        Args:
            arrays: The problems.
            which: ``(B,)`` the problem of each proposal.
            rng: Randomness.
            temperature: ``(B, DECISIONS)`` of each row's draw at each decision; 1 by default, 0
                takes the likeliest choice.
            kept: Gets every decision, for training and for explanations.
        """
        state: State = begin(arrays, which)
        still = np.ones(len(which), np.float32)
        past = which  # alike where the choices so far are: such rows observe the same
        for decision in _unsettled(arrays, which, state):
            first, member = alike(past)
            seen = observe(decision.place, arrays, which[first], state.take(first))
            found = self.score(decision, seen)
            warm = still if temperature is None else temperature[:, decision.place]
            if decision.is_order:
                picks = _ranked(found[member], warm, rng)
            else:
                picks = draw_choices(found, member, warm, rng.random(len(which)))
            legal = seen.legal[member]
            _carry_out(decision, arrays, which, legal, picks, state)
            width = found.shape[1]
            past = member * width ** picks.shape[1] + picks @ width ** np.arange(picks.shape[1])
            if kept is not None:
                kept.append(Taken(decision, seen.take(member), picks))
        return state


def replay(arrays: ProblemArrays, which: IntArray, given: State) -> list[Taken]:
    """The decisions that lead to given mappings, as agents would observe them.

    Rows whose choice is not legal at a decision (or not among the choices) have no say there.

    Args:
        arrays: The problems.
        which: ``(B,)`` problem of each mapping.
        given: The mappings.
    """
    state, found = begin(arrays, which), []
    for decision in _unsettled(arrays, which, state):
        seen = observe(decision.place, arrays, which, state)
        picks = _picks(decision, arrays, which, given, seen)
        _carry_out(decision, arrays, which, seen.legal, picks, state)
        legal = seen.legal & np.take_along_axis(seen.legal, picks[:, :1], axis=1)
        found.append(Taken(decision, seen._replace(legal=legal), picks))
    return found


def _unsettled(arrays: ProblemArrays, which: IntArray, state: State) -> Iterator[Decision]:
    """Decisions in which there is something to choose; the others are carried out on the way."""
    for decision in DECISIONS:
        if decision.is_order or arrays.counts[which, decision.place].max() > 1:
            yield decision
        else:
            choose(decision.place, arrays, which, np.zeros(len(which), np.int64), state)


def _carry_out(
    decision: Decision,
    arrays: ProblemArrays,
    which: IntArray,
    legal: NDArray[np.bool_],
    picks: IntArray,
    state: State,
) -> None:
    if decision.is_order:
        rank(decision.place, arrays, which, picks, legal, state)
    else:
        choose(decision.place, arrays, which, picks[:, 0], state)


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
    best, cold = scores.argmax(axis=1), temperature == 0
    above = (scores - scores.max(axis=1, keepdims=True))[member]
    sums = np.exp(above / np.where(cold, 1, temperature)[:, None]).cumsum(axis=1, dtype=np.float64)
    drawn = (sums > (draws * sums[:, -1])[:, None]).argmax(axis=1)
    return np.asarray(np.where(cold, best[member], drawn)[:, None])


def _ranked(found: Float32Array, temperature: Any, rng: np.random.Generator) -> IntArray:
    """``(B, C)`` loops by rank, drawn by Plackett and Luce's model with Gumbel's noise.

    Scores that are made noisy so rank as that model draws (Yellott, 1977).
    """
    waits = rng.standard_exponential(found.shape, np.float32)
    noise = -np.log(np.maximum(waits, TINY)) * temperature.astype(np.float32)[:, None]
    return np.argsort(-(found + noise), axis=1, kind="stable")


def alike(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """``(N,)`` the first place of each number that there is, and ``(B,)`` whose each place is."""
    _, first, member = np.unique(numbers, return_index=True, return_inverse=True)
    return first, member


def _picks(
    decision: Decision, arrays: ProblemArrays, which: IntArray, given: State, seen: Observation
) -> IntArray:
    """The picks, as in :class:`Taken`, with which a given mapping results."""
    width = seen.legal.shape[1]
    values = arrays.values[which, decision.place, :width]
    level = int(decision.kind.startswith("inner"))
    if decision.is_order:
        place = np.argsort(given.orders[:, level], axis=1)  # dimension -> place
        rank = np.take_along_axis(place, np.clip(values, 0, D - 1), axis=1)
        return np.argsort(np.where(seen.legal, rank, D), axis=1, kind="stable")
    wanted = given.cluster
    if decision.kind != "cluster_size":
        tile = decision.dim >= 0
        wanted = given.tiles[:, level, decision.dim] if tile else given.parallel[:, level]
    inside = np.arange(width) < arrays.counts[which, decision.place][:, None]
    miss = np.where(inside, np.abs(values - wanted[:, None]), np.iinfo(np.int64).max)
    return np.asarray(miss.argmin(axis=1)[:, None])
