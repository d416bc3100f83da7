"""PolicyProposals of trained agents for one problem, as actions of its map space."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from common import IntArray
from cost_models import MappingBatch
from maestro_env import MapSpace, MapSpaceError, Problem
from mapper.pretrained.cases import case_of
from mapper.pretrained.proposer import Float32Array, Proposer
from mapper.pretrained.tables import ProblemTables, tabulate
from mapper.pretrained.turns import INNER_TILE, TURNS

WIDE, NARROW = 2.0, 0.8
"""Temperatures of parallel dimensions and cluster size in every second draw, and of tiles and loop
orders in all; chosen on random problems."""
AT_ONCE = 512
"""Mappings drawn at a time: what is worked on stays in the processor's cache."""


class PolicyProposals:
    """Draws actions from the agents' policies; the first is every agent's likeliest choice.

    Args:
        proposer: The agents.
        problem: What they propose for.
        rng: Randomness.
    """

    def __init__(self, proposer: Proposer, problem: Problem, rng: np.random.Generator) -> None:
        self.proposer, self.space, self.rng = proposer, problem.space, rng
        self.tables = tabulate([case_of(problem.space, problem.objective, problem.cost_model)])
        self._drawn = 0

    def __call__(self, count: int) -> IntArray:
        """``(n, P)`` actions; fewer than `count` where the space has no order of a proposal."""
        draw = np.arange(self._drawn, self._drawn + count)
        self._drawn += count
        which, heat = np.zeros(count, np.int64), temperatures(draw)
        made = self.proposer.propose(self.tables, which, self.rng, greedy=draw == 0, heat=heat)
        return encoded(self.space, made.mappings(), self.rng)


def drawn(
    proposer: Proposer, tables: ProblemTables, count: int, rng: np.random.Generator
) -> list[MappingBatch]:
    """`count` mappings for each of some problems, likeliest choices first."""
    found = []
    problems, step = np.arange(len(tables.pes)), max(1, AT_ONCE // count)
    for low in range(0, len(problems), step):
        some = problems[low : low + step]
        draw = np.tile(np.arange(count), len(some))
        which, heat = np.repeat(some, count), temperatures(draw)
        made = proposer.propose(tables, which, rng, greedy=draw == 0, heat=heat)
        found += [made.mappings(slice(n * count, (n + 1) * count)) for n in range(len(some))]
    return found


def temperatures(draw: IntArray) -> Float32Array:
    """``(B, TURNS)`` temperature at each turn of draws by number."""
    found = np.full((len(draw), TURNS), NARROW, np.float32)
    found[:, :INNER_TILE] = np.where(draw % 2, WIDE, 1.0)[:, None]
    return found


def encoded(space: MapSpace, mappings: MappingBatch, rng: np.random.Generator) -> IntArray:
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
