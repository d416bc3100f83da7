"""Proposals of trained agents for the problems of a search, as actions of their map spaces."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cost_models import MappingBatch
from maestro_env import MapSpace, MapSpaceError, Problem
from mapper.pretrained.best_first import drawn_with_care
from mapper.pretrained.cases import case_of
from mapper.pretrained.judging import in_order
from mapper.pretrained.offering import offered_first
from mapper.pretrained.proposer import ProposedMappings, Proposer
from mapper.pretrained.tables import tabulate
from mapper.pretrained.weights import Agents

SPARE = 4
"""Proposals drawn for each one wanted: the judge picks, and some come out alike."""
LEAST = 64
"""Proposals drawn at least, so that the judge has something to pick from."""


def propose_actions(
    agents: Agents, problems: Sequence[Problem], count: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Different mappings that the agents propose for each problem.

    Those come first that the judge expects most of, and that are not all alike.

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
    found = drawn_with_care(Proposer(agents.weights, agents.sees), tables, drawn, rng)
    orders = in_order(found, len(problems), again=False)
    offered = [offered_first(rows, found.expected, found.state, count) for rows in orders]
    return [
        different_actions(problem.space, found.proposals, rows, count, set(), rng)[1]
        for rows, problem in zip(offered, problems, strict=True)
    ]


def different_actions(
    space: MapSpace,
    proposals: ProposedMappings,
    rows: NDArray[np.int64],
    count: int,
    seen: set[bytes],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of some rows whose actions differ, from each other and from those seen before.

    Args:
        space: Their map space.
        proposals: Mappings.
        rows: ``(N,)`` rows of them, in the order in which they are offered.
        count: Rows wanted.
        seen: Actions as bytes; those returned are added.
        rng: Draws loop orders where the space narrows them.

    Returns:
        ``(n,)`` rows and ``(n, P)`` their actions, ``n <= count``.
    """
    kept: list[int] = []
    fresh: list[NDArray[np.int64]] = []
    for part in (rows[:count], rows[count:]):  # no more are encoded than needed
        if len(kept) < count and len(part):
            places, actions = _encoded(space, proposals.mappings(part), rng)
            for place, action in zip(places, actions, strict=True):
                if len(kept) < count and action.tobytes() not in seen:
                    seen.add(action.tobytes())
                    kept.append(part[place])
                    fresh.append(action)
    return np.array(kept, np.int64), np.array(fresh, np.int64).reshape(-1, len(space.nvec))


def _encoded(
    space: MapSpace, mappings: MappingBatch, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(n,)`` which mappings are in a space, and ``(n, P)`` their actions.

    Where the space is without the loop orders of one, theirs are drawn from it.
    """
    with contextlib.suppress(MapSpaceError):
        return np.arange(len(mappings)), space.encode(mappings)
    orders = space.decode(space.sample(len(mappings), rng)).orders
    places, kept = [], [np.empty((0, len(space.nvec)), np.int64)]
    for row in range(len(mappings)):
        one = replace(mappings.take(np.array([row])), orders=orders[row : row + 1])
        with contextlib.suppress(MapSpaceError):
            kept.append(space.encode(one))
            places.append(row)
    return np.array(places, np.int64), np.concatenate(kept)
