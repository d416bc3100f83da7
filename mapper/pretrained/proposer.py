"""Proposals: the agents take their turns and a mapping stands, for many problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import compiled
from cost_models import MappingBatch
from mapper.pretrained.judge_view import look_at_whole
from mapper.pretrained.network import Weights, judged, scores
from mapper.pretrained.state import State, arrange, begin, take
from mapper.pretrained.tables import D, ProblemTables
from mapper.pretrained.turns import INNER_TILE, TURNS, Turn, all_turns
from mapper.pretrained.view import STATE_FEATURES, View, look

Int64Array = NDArray[np.int64]
TINY = np.float32(1e-30)
"""No noise is infinite."""
HOT, COOL = 2.0, 0.8
"""Temperatures of what is judged: of parallel dimensions and cluster size in every second draw, and
of tiles and orders; chosen on random problems."""

AT_ONCE = 4
"""Problems proposed for at a time: what a turn works on stays in the processor's cache."""


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

    def propose(
        self,
        tables: ProblemTables,
        which: Sequence[int] | Int64Array,
        rng: np.random.Generator,
        *,
        greedy: NDArray[np.bool_] | None = None,
        heat: NDArray[np.float32] | None = None,
        keep: bool = False,
    ) -> ProposedMappings:
        """Let the agents choose.

        Args:
            tables: The problems.
            which: ``(B,)`` the problem of each proposal.
            rng: Randomness.
            greedy: ``(B,)`` rows in which every agent takes its likeliest choice.
            heat: ``(B, TURNS)`` temperature of each row's draw at each turn; 1 by default.
            keep: Keep every decision, for training and for explanations.
        """
        rows = np.asarray(which, np.int64)
        state = begin(tables, rows)
        decisions = []
        past = rows  # alike where the choices so far are: such rows see the same
        for turn in self.turns:
            if self._settled(turn, tables, rows, state):
                continue
            first, member = alike(past)
            distinct = State(*(part[first] for part in state))
            seen = self._look(turn, tables, rows[first], distinct)
            found = scores(self.weights, turn.kind, seen.context, seen.choices, seen.legal)[member]
            # Gumbel's noise makes the ranking a draw: of one choice by softmax, of an order by
            # Plackett and Luce's model (Yellott, 1977)
            waits = rng.standard_exponential(found.shape, np.float32)
            noise = -np.log(np.maximum(waits, TINY))
            if heat is not None:
                noise *= heat[:, turn.index, None]
            if greedy is not None:
                noise[greedy] = 0.0
            noisy = found + noise
            if turn.is_order:
                picks = np.argsort(-noisy, axis=1, kind="stable")
            else:
                picks = np.argmax(noisy, axis=1)[:, None]
            legal = seen.legal[member]
            self._carry_out(turn, tables, rows, legal, picks, state)
            width = found.shape[1]
            past = member * width ** picks.shape[1] + picks @ width ** np.arange(picks.shape[1])
            if keep:
                view = View(seen.context[member], seen.choices[member], legal)
                decisions.append(Decision(turn, view, found, picks))
        return ProposedMappings(rows, state, tuple(decisions))

    def best_first(
        self, tables: ProblemTables, drawn: int, rng: np.random.Generator, *, keep: bool = False
    ) -> tuple[ProposedMappings, Int64Array]:
        """Proposals for every problem, those first that the judge expects most of.

        Each problem's first draw is made of every agent's likeliest choices. As the judge finds the
        good ones, every second draw tries more parallel dimensions and cluster sizes; tiles and
        orders stay nearer to what is likely.

        Args:
            tables: `M` problems.
            drawn: ProposedMappings per problem.
            rng: Randomness.
            keep: Keep every decision.

        Returns:
            ``M * drawn`` proposals, and ``(M, drawn)`` rows of them, each problem's in its order.
        """
        problems = np.arange(len(tables.pes))
        few = problems[None] if keep else np.split(problems, problems[AT_ONCE::AT_ONCE])
        parts = [self._drawn(tables, part, drawn, rng, keep) for part in few]
        proposals = parts[0][0] if len(parts) == 1 else _joined([part for part, _ in parts])
        order = np.argsort(np.concatenate([found for _, found in parts]), axis=1, kind="stable")
        return proposals, order + drawn * problems[:, None]

    def _drawn(
        self,
        tables: ProblemTables,
        problems: Int64Array,
        drawn: int,
        rng: np.random.Generator,
        keep: bool,
    ) -> tuple[ProposedMappings, NDArray[np.float32]]:
        """Proposals for each of some problems, and ``(M, drawn)`` what the judge expects."""
        draw = np.tile(np.arange(drawn), len(problems))
        heat = np.full((len(draw), TURNS), COOL, np.float32)
        heat[:, :INNER_TILE] = np.where(draw % 2, HOT, 1.0)[:, None]
        which = np.repeat(problems, drawn)
        proposals = self.propose(tables, which, rng, greedy=draw == 0, heat=heat, keep=keep)
        seen = look_at_whole(tables, which, proposals.state)
        expected = (judged(self.weights, seen) * tables.weights[which]).sum(axis=1)
        return proposals, expected.reshape(len(problems), drawn)

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


def _joined(parts: list[ProposedMappings]) -> ProposedMappings:
    states = zip(*(part.state for part in parts), strict=True)
    return ProposedMappings(
        np.concatenate([part.which for part in parts]),
        State(*(np.concatenate(arrays) for arrays in states)),
    )


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
