"""Why trained agents propose what they propose: every decision with its probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cost_models import ChainMapping, Mapping
from layers import DIMS
from maestro_env import Problem
from mapper.pretrained.local_search import PROPOSALS
from mapper.pretrained.nest_choices import NestChoices
from mapper.pretrained.network import Weights, scores
from mapper.pretrained.policy import Taken, replay
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.problem_arrays import arrays_of_one
from mapper.pretrained.weights import Agents
from marl_common import FloatArray


@dataclass(frozen=True)
class Choice:
    """One decision of a proposal.

    Args:
        decision: What was decided, such as ``outer_tile_K`` or ``PEBuffer.tile_K``.
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
) -> tuple[Mapping | ChainMapping, list[Choice]]:
    """The best of `PROPOSALS` samples that agents propose, and the decisions that led to it.

    Decisions in which there was nothing to choose are left out.

    Args:
        agents: Trained agents.
        problem: What they propose for; counts the samples.
        rng: Randomness.
    """
    draw, arrays = search_from(agents.weights, problem, rng).draw, arrays_of_one(problem)
    evaluation = problem.evaluate(draw(np.arange(PROPOSALS)))
    best = evaluation.mappings.take(np.array([np.argmin(evaluation.values)]))
    nest = arrays.nests[0]
    taken = [one for one in replay(arrays, nest.rows(best)) if one.choices["legal"].sum() > 1]
    return best[0], [_choice(agents.weights, one, nest) for one in taken]


def _choice(weights: Weights, taken: Taken, nest: NestChoices) -> Choice:
    """The only row of a decision about the only problem."""
    decision, context, choices, picks = taken
    options, legal = choices["value"][0], choices["legal"][0]
    found = scores(weights, decision.kind, context, choices)[0].astype(np.float64)
    if decision.kind == "order":
        ranked = [int(c) for c in picks[0] if legal[c]]
        swaps = [
            [*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]]
            for i in range(len(ranked) - 1)
        ]
        both = ranked, max(swaps, key=lambda order: _ranking(found, order))
        likely = [_ranking(found, order) for order in both]
    else:
        chances = np.exp(found - found.max())
        chances /= chances.sum()
        first = int(picks[0, 0])
        second = next(int(c) for c in np.argsort(-chances, kind="stable") if c != first)
        both, likely = ([first], [second]), chances[[first, second]].tolist()
    dims = decision.kind in ("parallel", "order")
    names = ["".join(DIMS[n] if dims else str(n) for n in options[one]) for one in both]
    return Choice(nest.name(decision), decision.kind, names[0], likely[0], names[1], likely[1])


def _ranking(scores: FloatArray, order: list[int]) -> float:
    """How likely the agent ranks the loops so (Plackett, 1975; Luce, 1959)."""
    weights = np.exp(scores[order] - scores[order].max())
    left = weights[::-1].cumsum()[::-1]
    return float(np.prod(weights / left))
