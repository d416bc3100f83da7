"""Proposals of trained agents for the problems of a search, as actions of their map spaces."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cost_models import MappingBatch
from maestro_env import MapSpace, MapSpaceError, Problem
from mapper.pretrained.cases import case_of
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.tables import tabulate
from mapper.pretrained.weights import Agents

SPARE = 2
"""Proposals drawn for each one wanted, as some come out alike and the judge picks."""
LEAST = 96
"""Proposals drawn at least, so that the judge has something to pick from."""


def propose_actions(
    agents: Agents, problems: Sequence[Problem], count: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Different mappings that the agents propose for each problem.

    Those come first that the judge expects most of.

    Args:
        agents: Trained agents.
        problems: The problems; all are proposed for at once.
        count: Mappings wanted per problem.
        rng: Randomness.

    Returns:
        For each problem ``(n, P)`` canonical actions of its space, ``n <= count``: fewer where
        the agents are so sure that no more came out. Where a space narrows the loop orders,
        theirs are drawn from it, and none may be left.
    """
    tables = tabulate([case_of(p.space, p.objective, p.cost_model) for p in problems])
    drawn = max(LEAST, SPARE * count)
    proposals, order = Proposer(agents.weights, agents.sees).best_first(tables, drawn, rng)
    found = []
    for rows, problem in zip(order, problems, strict=True):
        actions = _encoded(problem.space, proposals.mappings(rows), rng)
        _, first = np.unique(actions, axis=0, return_index=True)
        found.append(actions[np.sort(first)[:count]])
    return found


def _encoded(
    space: MapSpace, mappings: MappingBatch, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Mappings as actions; of a space without their loop orders, with orders drawn from it."""
    with contextlib.suppress(MapSpaceError):
        return space.encode(mappings)
    orders = space.decode(space.sample(len(mappings), rng)).orders
    kept = []
    for row in range(len(mappings)):
        one = replace(mappings.take(np.array([row])), orders=orders[row : row + 1])
        with contextlib.suppress(MapSpaceError):
            kept.append(space.encode(one))
    return np.concatenate(kept) if kept else np.empty((0, len(space.nvec)), np.int64)
