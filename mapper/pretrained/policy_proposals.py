"""Proposals of trained agents as actions of a map space, and the search that goes on from them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from maestro_env import ActionSpace, MapSpaceError, Problem
from mapper.pretrained.decisions import DECISIONS, FIRST_TILE
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.nest_choices import Mappings
from mapper.pretrained.policy import MappingPolicy
from mapper.pretrained.problem_arrays import arrays_of, arrays_of_one
from marl_common import Float32Array, IntArray

WIDE, NARROW = 2.0, 0.8
"""Temperatures of parallel dimensions and units in every second draw, and of tiles and loop
orders in all; chosen on random problems."""
AT_ONCE = 512
"""Mappings drawn at a time: what is worked on stays in the processor's cache."""


class PolicyProposals:
    """Draws actions from a policy; the first is every agent's likeliest choice.

    Args:
        policy: The agents.
        problem: What they propose for.
        rng: Randomness.
    """

    def __init__(self, policy: MappingPolicy, problem: Problem, rng: np.random.Generator) -> None:
        self.policy, self.space, self.rng = policy, problem.space, rng
        self.arrays = arrays_of_one(problem)
        self._drawn = 0

    def __call__(self, count: int) -> IntArray:
        """``(n, P)`` actions; fewer than `count` where the space has no order of a proposal."""
        draw = np.arange(self._drawn, self._drawn + count)
        self._drawn += count
        which = np.zeros(count, np.int64)
        rows = self.policy.propose(self.arrays, which, self.rng, temperatures(draw))
        return encoded(self.space, self.arrays.nests[0].mappings(rows), self.rng)


def search_from(
    policy: MappingPolicy, problem: Problem, rng: np.random.Generator
) -> ProposalSearch:
    """Local search from the proposals of a policy; see :class:`ProposalSearch`."""
    return ProposalSearch(problem, PolicyProposals(policy, problem, rng), rng)


def proposed(
    policy: MappingPolicy, problems: Sequence[Problem], count: int, rng: np.random.Generator
) -> list[Mappings]:
    """`count` mappings for each of some problems, none of which is priced."""
    arrays, found = arrays_of(problems), []
    step = max(1, AT_ONCE // count)
    for low in range(0, len(problems), step):
        some = np.arange(low, min(low + step, len(problems)))
        which, draw = np.repeat(some, count), np.tile(np.arange(count), len(some))
        rows = policy.propose(arrays, which, rng, temperatures(draw))
        found += [arrays.nests[problem].mappings(rows[which == problem]) for problem in some]
    return found


def temperatures(draw: IntArray) -> Float32Array:
    """``(DECISIONS, B)`` temperature at each decision of draws by number; 0 of the first."""
    found = np.full((len(DECISIONS), len(draw)), NARROW, np.float32)
    found[:FIRST_TILE] = np.where(draw % 2, WIDE, 1.0)
    found[:, draw == 0] = 0.0
    return found


def encoded(space: ActionSpace, mappings: Mappings, rng: np.random.Generator) -> IntArray:
    """``(n, P)`` actions of the mappings that are in a space.

    Where the space is without the loop orders of one, theirs are drawn from it.
    """
    with contextlib.suppress(MapSpaceError):
        return space.encode(mappings)
    orders = space.decode(space.sample(len(mappings), rng)).orders
    kept = [np.empty((0, len(space.nvec)), np.int64)]
    for row in range(len(mappings)):
        one = replace(mappings.take(np.array([row])), orders=orders[row : row + 1])
        with contextlib.suppress(MapSpaceError):
            kept.append(space.encode(one))
    return np.concatenate(kept)
