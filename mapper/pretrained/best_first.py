"""The agents propose and the judge picks; where doubts are left, more is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.judging import Judged, a_few, first_of_each, in_order, joined, judge
from mapper.pretrained.proposer import Int64Array, ProposedMappings, Proposer, arrangement
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.turns import INNER_TILE, TURNS

HOT, COOL = 2.0, 0.8
"""Temperatures of parallel dimensions and cluster size in every second draw, and of tiles and
orders; chosen on random problems, as all numbers here."""
NEAR, SHARE = 0.1, 3 / 8
"""A problem is hard where less than this share of its proposals is so near to the best of them, by
the logarithms that the judge expects."""
MORE, KEPT = 1, 6
"""Times as many proposals are drawn for a hard problem again, and then with the arrangements of
the best."""
LEADERS = 12
"""Arrangements of PEs that the last ones keep to."""


def best_first(
    proposer: Proposer, tables: ProblemTables, count: int, rng: np.random.Generator
) -> tuple[ProposedMappings, list[Int64Array]]:
    """`count` proposals for every problem, those first that the judge expects most of.

    Each problem's first draw is made of every agent's likeliest choices. As the judge finds the
    good ones, every second draw tries more parallel dimensions and cluster sizes; tiles and orders
    stay nearer to what is likely.

    Returns:
        All proposals, and for each of `M` problems the rows of its own in their order.
    """
    found = _drawn_freely(proposer, tables, np.arange(len(tables.pes)), count, rng)
    return found.proposals, in_order(found, len(tables.pes))


def drawn_with_care(
    proposer: Proposer, tables: ProblemTables, count: int, rng: np.random.Generator
) -> Judged:
    """`count` proposals for every problem, for a hard one ``1 + MORE + KEPT`` times as many.

    Where few come near to the best, a better one may well have been missed. For such a hard
    problem more is drawn: first in the same way, then with the parallel dimensions and cluster
    sizes of the best, since how good these are shows only with good tiles.
    """
    problems = np.arange(len(tables.pes))
    found = _drawn_freely(proposer, tables, problems, count, rng)
    hard = problems[_is_hard(found, count)]
    if len(hard):
        again = _drawn_freely(proposer, tables, hard, MORE * count, rng)
        found = joined([found, again])
        found = joined([found, _drawn_alike(proposer, tables, hard, found, count, rng)])
    return found


def _is_hard(found: Judged, drawn: int) -> NDArray[np.bool_]:
    expected = found.expected.reshape(-1, drawn)
    near = expected < expected.min(axis=1, keepdims=True) + NEAR
    return np.asarray(near.mean(axis=1) < SHARE)


def _drawn_freely(
    proposer: Proposer,
    tables: ProblemTables,
    problems: Int64Array,
    count: int,
    rng: np.random.Generator,
) -> Judged:
    """`count` proposals for each of some problems, one problem after another."""
    parts = []
    for some in a_few(problems, count):
        draw = np.tile(np.arange(count), len(some))
        heat = np.full((len(draw), TURNS), COOL, np.float32)
        heat[:, :INNER_TILE] = np.where(draw % 2, HOT, 1.0)[:, None]
        which = np.repeat(some, count)
        made = proposer.propose(tables, which, rng, greedy=draw == 0, heat=heat)
        parts.append(judge(proposer, tables, made))
    return joined(parts)


def _drawn_alike(
    proposer: Proposer,
    tables: ProblemTables,
    problems: Int64Array,
    found: Judged,
    drawn: int,
    rng: np.random.Generator,
) -> Judged:
    """`KEPT` times `drawn` more for some problems, with the arrangements of their best so far."""
    orders = in_order(found, len(tables.pes))
    kinds = arrangement(found.which, found.state)
    parts = []
    for some in a_few(problems, KEPT * drawn):
        rows = []
        for problem in some:
            best = first_of_each(kinds, orders[problem], LEADERS)
            rows.append(np.resize(best, KEPT * drawn))
        parents = np.concatenate(rows)
        like = State(*(part[parents] for part in found.state))
        heat = np.full((len(parents), TURNS), COOL, np.float32)
        made = proposer.propose(tables, found.which[parents], rng, heat=heat, like=like)
        parts.append(judge(proposer, tables, made))
    return joined(parts)
