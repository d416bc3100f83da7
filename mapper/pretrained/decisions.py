"""Why trained agents propose what they propose: every decision with its probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common import FloatArray
from cost_models import Mapping
from layers import DIMS
from maestro_env import Problem
from mapper.pretrained.local_search import PROPOSALS
from mapper.pretrained.network import Weights
from mapper.pretrained.network import scores as score_choices
from mapper.pretrained.proposals import PolicyProposals
from mapper.pretrained.proposer import Decision, Proposer
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.weights import Agents


@dataclass(frozen=True)
class Choice:
    """One decision of a proposal.

    Args:
        decision: What was decided, such as ``outer_tile_K``.
        agent: The kind of agent that decided.
        chosen: The choice.
        probability: How likely the agent was to take it; of a loop order, as a whole.
        runner_up: The likeliest other choice; empty where there was none.
        runner_up_probability: How likely that was.
    """

    decision: str
    agent: str
    chosen: str
    probability: float
    runner_up: str
    runner_up_probability: float


def best_decisions(
    agents: Agents, problem: Problem, rng: np.random.Generator
) -> tuple[Mapping, list[Choice]]:
    """The best of `PROPOSALS` samples that agents propose, and the decisions that led to it.

    Decisions in which there was nothing to choose are left out.

    Args:
        agents: Trained agents.
        problem: What they propose for; counts the samples.
        rng: Randomness.
    """
    proposer = Proposer(agents.weights, agents.sees)
    proposals = PolicyProposals(proposer, problem, rng)
    evaluation = problem.evaluate(proposals(PROPOSALS))
    best = int(np.argmin(evaluation.values))
    mappings, tables = evaluation.mappings.take(np.array([best])), proposals.tables
    given = State.of(mappings)
    decisions = proposer.retrace(tables, np.zeros(1, np.int64), given)
    choices = [_choice(agents.weights, d, tables) for d in decisions if d.open[0]]
    return mappings[0], choices


def _choice(weights: Weights, decision: Decision, tables: ProblemTables) -> Choice:
    """The only row of a decision about the only problem of `tables`."""
    turn, view = decision.turn, decision.view
    scores = score_choices(weights, turn.kind, *view)[0].astype(np.float64)
    values = tables.values[0, turn.index]
    if turn.is_order:
        ranked = [int(c) for c in decision.picks[0] if view.legal[0, c]]
        swaps = [
            [*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]]
            for i in range(len(ranked) - 1)
        ]
        runner_up = max(swaps, key=lambda order: _ranking(scores, order))
        return Choice(
            turn.kind,
            turn.kind,
            "".join(DIMS[values[c]] for c in ranked),
            _ranking(scores, ranked),
            "".join(DIMS[values[c]] for c in runner_up),
            _ranking(scores, runner_up),
        )
    likely = np.exp(scores - scores.max())
    likely /= likely.sum()
    taken = int(decision.picks[0, 0])
    others = np.where(np.arange(len(likely)) == taken, -1.0, likely)
    runner = int(np.argmax(others))
    names = [DIMS[v] if "parallel" in turn.kind else str(v) for v in values[[taken, runner]]]
    return Choice(
        turn.name, turn.kind, names[0], float(likely[taken]), names[1], float(likely[runner])
    )


def _ranking(scores: FloatArray, order: list[int]) -> float:
    """How likely the agent ranks the loops so (Plackett, 1975; Luce, 1959)."""
    weights = np.exp(scores[order] - scores[order].max())
    left = weights[::-1].cumsum()[::-1]
    return float(np.prod(weights / left))
