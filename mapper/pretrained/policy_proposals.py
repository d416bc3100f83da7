"""Proposals of trained agents as actions of a map space, and the search that goes on from them."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from maestro_env import ActionSpace, MapSpaceError, Problem
from mapper.pretrained.decisions import DECISIONS, FIRST_TILE
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.nest_choices import Mappings
from mapper.pretrained.network import Weights
from mapper.pretrained.policy import propose
from mapper.pretrained.problem_arrays import ProblemArrays, arrays_of_one
from marl_common import Float32Array, IntArray

WIDE, NARROW = 2.0, 0.8
"""Temperatures of parallel dimensions and units in every second draw, and of tiles and loop
orders in all; chosen on random problems."""
AT_ONCE = 512
"""Mappings drawn at a time: what is worked on stays in the processor's cache."""


def search_from(weights: Weights, problem: Problem, rng: np.random.Generator) -> ProposalSearch:
    """Local search from agents' proposals; the first is every agent's likeliest choice."""
    arrays = arrays_of_one(problem)

    def draw(numbers: IntArray) -> IntArray:
        (mappings,) = proposed(weights, arrays, numbers, rng)
        return encoded(problem.space, mappings, rng)

    return ProposalSearch(problem, draw, rng)


def proposed(
    weights: Weights, arrays: ProblemArrays, numbers: IntArray, rng: np.random.Generator
) -> list[Mappings]:
    """A mapping for each number of a draw and each of some problems, none of which is priced.

    Half of the draws, of odd and of even numbers, choose tiles in the order of `TURNED`.
    """
    found, step = [], max(1, AT_ONCE // len(numbers))
    for low in range(0, len(arrays.nests), step):
        some = np.arange(low, min(low + step, len(arrays.nests)))
        which, draw = np.repeat(some, len(numbers)), np.tile(numbers, len(some))
        rows = propose(weights, arrays, which, rng, temperatures(draw), draw % 4 > 1)
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
