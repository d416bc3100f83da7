"""Proposals of trained agents for the problems of a search, as actions of their map spaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maestro_env import Problem
from mapper.pretrained.cases import case_of
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.tables import tabulate
from mapper.pretrained.weights import Agents

SPARE = 2
"""Proposals drawn for each one wanted, as some come out alike."""


def propose_actions(
    agents: Agents, problems: Sequence[Problem], count: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Different mappings that the agents propose for each problem.

    The first is made of every agent's likeliest choices, the others are drawn.

    Args:
        agents: Trained agents.
        problems: The problems; all are proposed for at once.
        count: Mappings wanted per problem.
        rng: Randomness.

    Returns:
        For each problem ``(n, P)`` canonical actions of its space, ``1 <= n <= count``: fewer where
        the agents are so sure that no more came out.
    """
    tables = tabulate([case_of(p.space, p.objective, p.cost_model) for p in problems])
    drawn = 1 if count == 1 else SPARE * count
    which = np.repeat(np.arange(len(problems)), drawn)
    greedy = np.tile(np.arange(drawn) == 0, len(problems))
    proposals = Proposer(agents.weights, agents.sees).propose(tables, which, rng, greedy=greedy)
    found = []
    for number, problem in enumerate(problems):
        rows = np.arange(number * drawn, (number + 1) * drawn)
        actions = problem.space.encode(proposals.mappings(rows))
        _, first = np.unique(actions, axis=0, return_index=True)
        found.append(actions[np.sort(first)[:count]])
    return found
