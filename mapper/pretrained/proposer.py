"""Proposals: the agents take their turns and a mapping stands, for many problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import compiled
from cost_models import MappingBatch
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.state import State, arrange, begin, take
from mapper.pretrained.tables import D, ProblemTables
from mapper.pretrained.turns import INNER_TILE, Turn, all_turns
from mapper.pretrained.view import STATE_FEATURES, View, look

Int64Array = NDArray[np.int64]
Float32Array = NDArray[np.float32]
TINY = np.float32(1e-30)
"""No noise is infinite."""


@dataclass(frozen=True)
class Decision:
    """One turn of `B` rows, as it was seen and taken.

    Args:
        turn: The decision.
        view: What the rows saw.
        scores: ``(B, C)``, -inf where a choice is not legal.
        picks: ``(B, C)`` loops by rank, the outermost first; of a decision that is no order,
            ``(B, 1)`` the choice taken.
    """

    turn: Turn
    view: View
    scores: NDArray[np.float32]
    picks: Int64Array

    @property
    def open(self) -> NDArray[np.bool_]:
        """``(B,)`` rows that had a choice at all."""
        return np.asarray(self.view.legal.sum(axis=1) > 1)


@dataclass(frozen=True)
class ProposedMappings:
    """`B` mappings and how they came about.

    Args:
        which: ``(B,)`` the problem of each.
        state: All choices.
        decisions: Every turn, where they were asked for.
    """

    which: Int64Array
    state: State
    decisions: tuple[Decision, ...] = ()

    def mappings(self, rows: Int64Array | slice = slice(None)) -> MappingBatch:
        """The mappings of some rows."""
        return MappingBatch(
            self.state.orders[rows].astype(np.int8),
            self.state.spread[rows].astype(np.int8),
            self.state.tiles[rows].astype(np.int32),
            self.state.cluster[rows].astype(np.int32),
            None,
        )


class Proposer:
    """Draws mappings from the agents' policies.

    Args:
        weights: The networks.
        sees: ``(TURNS, STATE_FEATURES)`` which state features an agent sees at each turn; all by
            default.
        features: ``(CHOICE_FEATURES,)`` 1 where a feature of a choice is seen; all by default.
        masked: Whether tiles that the buffers cannot hold are no choices.
    """

    def __init__(
        self,
        weights: Weights,
        sees: NDArray[np.float32] | None = None,
        *,
        features: NDArray[np.float32] | None = None,
        masked: bool = True,
    ) -> None:
        self.weights = weights
        self.turns = all_turns()
        self.sees = np.ones((len(self.turns), STATE_FEATURES), np.float32) if sees is None else sees
        self.features, self.masked = features, masked

    def with_weights(self, weights: Weights) -> Proposer:
        """Other networks that see and may choose the same."""
        return Proposer(weights, self.sees, features=self.features, masked=self.masked)

    def _look(self, turn: Turn, tables: ProblemTables, rows: Int64Array, state: State) -> View:
        view = look(turn.index, tables, rows, state, self.sees[turn.index], self.masked)
        return (
            view if self.features is None else view._replace(choices=view.choices * self.features)
        )

    def score(self, turn: Turn, view: View) -> NDArray[np.float32]:
        """``(B, C)`` score of every choice, -inf where it is not legal."""
        return scores(self.weights, turn.kind, view.context, view.choices, view.legal)

    def propose(
        self,
        tables: ProblemTables,
        which: Sequence[int] | Int64Array,
        rng: np.random.Generator,
        *,
        greedy: NDArray[np.bool_] | None = None,
        heat: NDArray[np.float32] | None = None,
        like: State | None = None,
        keep: bool = False,
    ) -> ProposedMappings:
        """Let the agents choose.

        Args:
            tables: The problems.
            which: ``(B,)`` the problem of each proposal.
            rng: Randomness.
            greedy: ``(B,)`` rows in which every agent takes its likeliest choice.
            heat: ``(B, TURNS)`` temperature of each row's draw at each turn; 1 by default.
            like: ``B`` mappings whose parallel dimensions and cluster sizes are taken over, so that
                the agents choose tiles and orders alone; by default they choose all.
            keep: Keep every decision, for training and for explanations.
        """
        rows = np.asarray(which, np.int64)
        still = np.ones(len(rows), np.float32)
        cold = np.zeros(len(rows), np.bool_) if greedy is None else greedy
        decisions = []
        past = rows  # alike where the choices so far are: such rows see the same
        state = begin(tables, rows)
        if like is not None:
            state.spread[:], state.cluster[:] = like.spread, like.cluster
            past = arrangement(rows, like)
        for turn in self.turns[0 if like is None else INNER_TILE :]:
            if self._settled(turn, tables, rows, state):
                continue
            first, member = alike(past)
            distinct = State(*(part[first] for part in state))
            seen = self._look(turn, tables, rows[first], distinct)
            found = self.score(turn, seen)
            warmth = still if heat is None else heat[:, turn.index]
            if turn.is_order:
                picks = _rank(found[member], warmth, cold, rng)
            else:
                picks = draw_choices(found, member, warmth, cold, rng.random(len(rows)))
            legal = seen.legal[member] if keep or turn.is_order else seen.legal
            self._carry_out(turn, tables, rows, legal, picks, state)
            width = found.shape[1]
            past = member * width ** picks.shape[1] + picks @ width ** np.arange(picks.shape[1])
            if keep:
                view = View(seen.context[member], seen.choices[member], legal)
                decisions.append(Decision(turn, view, found[member], picks))
        return ProposedMappings(rows, state, tuple(decisions))

    @staticmethod
    def _settled(turn: Turn, tables: ProblemTables, rows: Int64Array, state: State) -> bool:
        """Whether there is nothing to choose at a turn; then it is carried out."""
        settled = not turn.is_order and tables.counts[rows, turn.index].max() == 1
        if settled:
            take(turn.index, tables, rows, np.zeros(len(rows), np.int64), state)
        return bool(settled)

    @staticmethod
    def _carry_out(
        turn: Turn,
        tables: ProblemTables,
        rows: Int64Array,
        legal: NDArray[np.bool_],
        picks: Int64Array,
        state: State,
    ) -> None:
        if turn.is_order:
            arrange(turn.index, tables, rows, picks, legal, state)
        else:
            take(turn.index, tables, rows, picks[:, 0], state)

    def retrace(
        self, tables: ProblemTables, which: Int64Array, given: State
    ) -> tuple[Decision, ...]:
        """The decisions that lead to given mappings, as the agents would have seen them.

        Rows whose choice is not legal at a turn (or not among the choices) have no say there.

        Args:
            tables: The problems.
            which: ``(B,)`` problem of each mapping.
            given: The mappings.
        """
        state = begin(tables, which)
        decisions = []
        for turn in self.turns:
            if self._settled(turn, tables, which, state):
                continue
            view = self._look(turn, tables, which, state)
            picks = _ranks(turn, tables, which, given, view)
            self._carry_out(turn, tables, which, view.legal, picks, state)
            known = np.take_along_axis(view.legal, picks[:, :1], axis=1)
            legal = view.legal & known
            decisions.append(
                Decision(turn, view._replace(legal=legal), np.zeros(legal.shape, np.float32), picks)
            )
        return tuple(decisions)


@compiled
def draw_choices(scores: Any, member: Any, heat: Any, greedy: Any, draws: Any) -> Any:
    """``(B, 1)`` a choice of each row, drawn by the softmax of its scores.

    Args:
        scores: ``(N, C)``, -inf where a choice is not legal.
        member: ``(B,)`` the scores of each row.
        heat: ``(B,)`` temperatures.
        greedy: ``(B,)`` rows that take the likeliest choice.
        draws: ``(B,)`` random numbers in [0, 1).
    """
    picks = np.empty((len(member), 1), np.int64)
    sums = np.empty(scores.shape[1])
    for row in range(len(member)):
        found = scores[member[row]]
        best = np.argmax(found)
        picks[row, 0] = best
        if greedy[row]:
            continue
        total = 0.0
        for c in range(len(found)):
            if found[c] > -np.inf:
                total += np.exp((found[c] - found[best]) / heat[row])
            sums[c] = total
        wanted = draws[row] * total
        for c in range(len(found)):
            if sums[c] > wanted:
                picks[row, 0] = c
                break
    return picks


def _rank(
    found: NDArray[np.float32],
    heat: NDArray[np.float32],
    greedy: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Int64Array:
    """``(B, C)`` loops by rank, drawn by Plackett and Luce's model with Gumbel's noise.

    Scores that are made noisy so rank as that model draws (Yellott, 1977).
    """
    waits = rng.standard_exponential(found.shape, np.float32)
    noise = -np.log(np.maximum(waits, TINY)) * heat[:, None]
    noise[greedy] = 0.0
    return np.argsort(-(found + noise), axis=1, kind="stable")


@compiled
def alike(numbers: Any) -> tuple[Any, Any]:
    """``(N,)`` the first place of each number that there is, and ``(B,)`` whose each place is."""
    order = np.argsort(numbers, kind="mergesort")
    first = np.empty(len(numbers), np.int64)
    member = np.empty(len(numbers), np.int64)
    found = 0
    for place in range(len(order)):
        here = order[place]
        if place == 0 or numbers[here] != numbers[order[place - 1]]:
            first[found] = here
            found += 1
        member[here] = found - 1
    return first[:found], member


def arrangement(which: Int64Array, state: State) -> Int64Array:
    """``(B,)`` numbers, alike where problem, parallel dimensions and cluster size are."""
    outer, inner = state.spread.T
    return np.asarray(((which * D + outer) * D + inner) * (state.cluster.max() + 1) + state.cluster)


def _ranks(
    turn: Turn, tables: ProblemTables, which: Int64Array, given: State, view: View
) -> Int64Array:
    """``(B, C)`` choices by rank so that a given mapping results."""
    width = view.legal.shape[1]
    values = tables.values[which, turn.index, :width]
    if turn.is_order:
        level = 0 if turn.kind == "outer_order" else 1
        place = np.argsort(given.orders[:, level], axis=1)  # dimension -> place
        rank = np.take_along_axis(place, np.clip(values, 0, D - 1), axis=1)
        rank = np.where(view.legal, rank, D)
        return np.argsort(rank, axis=1, kind="stable")
    wanted = {
        "outer_parallel": given.spread[:, 0],
        "inner_parallel": given.spread[:, 1],
        "cluster_size": given.cluster,
        "outer_tile": given.tiles[:, 0, turn.dim],
        "inner_tile": given.tiles[:, 1, turn.dim],
    }[turn.kind]
    inside = np.arange(width) < tables.counts[which, turn.index][:, None]
    miss = np.where(inside, np.abs(values - wanted[:, None]), np.iinfo(np.int64).max)
    return np.argsort(miss, axis=1, kind="stable")
