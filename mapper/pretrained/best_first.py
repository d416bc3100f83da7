"""The agents propose, the judge picks; where doubts are left more is drawn, else the best vary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.judge_view import FILLS, look_at_whole
from mapper.pretrained.network import judged
from mapper.pretrained.offering import different, fingerprints, offered_first
from mapper.pretrained.proposer import Int64Array, ProposedMappings, Proposer, arrangement
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.turns import INNER_TILE, TURNS
from mapper.pretrained.variation import DRAWS, varied

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
ROUNDS = 1
"""Rounds in which the best of another problem are varied, each as many as were drawn."""
PARENTS = 1 / 4
"""Of what was drawn, so many of the best are varied."""
FAVOUR = 1.5
"""A parent's place among them is a random share to this power: better ones come more often."""
AT_ONCE = 512
"""Proposals drawn at a time: what a turn works on stays in the processor's cache."""


class _Drawn(NamedTuple):
    """`B` mappings, ``which (B,)`` problem each is for, and ``(B,)`` what the judge expects."""

    which: Int64Array
    state: State
    expected: NDArray[np.float32]


def best_first(
    proposer: Proposer,
    tables: ProblemTables,
    drawn: int,
    rng: np.random.Generator,
    *,
    offered: int = 0,
) -> tuple[ProposedMappings, list[Int64Array]]:
    """Proposals for every problem, those first that the judge expects most of.

    Each problem's first draw is made of every agent's likeliest choices. As the judge finds the
    good ones, every second draw tries more parallel dimensions and cluster sizes; tiles and orders
    stay nearer to what is likely.

    Where proposals are to be offered, more is made of these. Where few come near to the best, a
    better one may well have been missed. For such a hard problem more is drawn: first in the same
    way, then with the parallel dimensions and cluster sizes of the best, since how good these are
    shows only with good tiles.
    Elsewhere the judge can be relied upon, and the best are crossed and varied, with no agent but
    the judge. The first offer is one of the draws, since the judge flatters what it bred. And since
    it errs alike about what is alike, the others are different ones.

    Args:
        proposer: The agents.
        tables: `M` problems.
        drawn: Proposals per problem; of a hard one ``1 + MORE + KEPT`` times as many, of another
            one `ROUNDS` times as many variations besides.
        rng: Randomness.
        offered: So many of each problem will be offered; 0 for the plain draws, by the judge.

    Returns:
        All proposals, and for each problem the rows of its own in their order; different mappings
        where they are to be offered.
    """
    problems = np.arange(len(tables.pes))
    found = _drawn_freely(proposer, tables, problems, drawn, rng)
    if not offered:
        return ProposedMappings(found.which, found.state), _orders(found, len(problems))
    is_hard = _is_hard(found, drawn)
    hard, others = problems[is_hard], problems[~is_hard]
    if len(hard):
        again = _drawn_freely(proposer, tables, hard, MORE * drawn, rng)
        found = _joined([found, again])
        found = _joined([found, _drawn_alike(proposer, tables, hard, found, drawn, rng)])
    plain = len(found.which)
    for _ in range(ROUNDS if len(others) else 0):
        found = _joined([found, *_variations(proposer, tables, others, found, drawn, rng)])
    orders = [
        offered_first(rows, found.expected, found.state, offered, int(np.argmax(rows < plain)))
        for rows in _orders(found, len(problems), again=False)
    ]
    return ProposedMappings(found.which, found.state), orders


def _is_hard(found: _Drawn, drawn: int) -> NDArray[np.bool_]:
    expected = found.expected.reshape(-1, drawn)
    near = expected < expected.min(axis=1, keepdims=True) + NEAR
    return np.asarray(near.mean(axis=1) < SHARE)


def _drawn_freely(
    proposer: Proposer,
    tables: ProblemTables,
    problems: Int64Array,
    count: int,
    rng: np.random.Generator,
) -> _Drawn:
    """`count` proposals for each of some problems, one problem after another."""
    parts = []
    for some in _few(problems, count):
        draw = np.tile(np.arange(count), len(some))
        heat = np.full((len(draw), TURNS), COOL, np.float32)
        heat[:, :INNER_TILE] = np.where(draw % 2, HOT, 1.0)[:, None]
        which = np.repeat(some, count)
        made = proposer.propose(tables, which, rng, greedy=draw == 0, heat=heat)
        parts.append(_judged(proposer, tables, made))
    return _joined(parts)


def _drawn_alike(
    proposer: Proposer,
    tables: ProblemTables,
    problems: Int64Array,
    found: _Drawn,
    drawn: int,
    rng: np.random.Generator,
) -> _Drawn:
    """`KEPT` times `drawn` more for some problems, with the arrangements of their best so far."""
    orders = _orders(found, len(tables.pes))
    kinds = arrangement(found.which, found.state)
    parts = []
    for some in _few(problems, KEPT * drawn):
        rows = []
        for problem in some:
            _, first = np.unique(kinds[orders[problem]], return_index=True)
            best = orders[problem][np.sort(first)[:LEADERS]]
            rows.append(np.resize(best, KEPT * drawn))
        parents = np.concatenate(rows)
        like = State(*(part[parents] for part in found.state))
        heat = np.full((len(parents), TURNS), COOL, np.float32)
        made = proposer.propose(tables, found.which[parents], rng, heat=heat, like=like)
        parts.append(_judged(proposer, tables, made))
    return _joined(parts)


def _variations(
    proposer: Proposer,
    tables: ProblemTables,
    problems: Int64Array,
    found: _Drawn,
    count: int,
    rng: np.random.Generator,
) -> list[_Drawn]:
    """`count` variations of the best of some problems, but for those that buffers cannot hold."""
    orders = _orders(found, len(tables.pes), again=False)
    most = max(1, round(PARENTS * count))
    parts = []
    for some in _few(problems, count):
        which = np.repeat(some, count)
        best = np.concatenate([np.resize(orders[problem][:most], most) for problem in some])
        first = np.repeat(np.arange(len(some)) * most, count)
        likely, any_of = rng.random(len(which)) ** FAVOUR, rng.random(len(which))
        parents, mates = (
            State(*(part[best[first + (most * place).astype(np.int64)]] for part in found.state))
            for place in (likely, any_of)
        )
        state = varied(tables, which, parents, mates, rng.random((len(which), DRAWS)))
        parts.append(_judged(proposer, tables, ProposedMappings(which, state), fitting=True))
    return parts


def _few(problems: Int64Array, count: int) -> Iterator[Int64Array]:
    step = max(1, AT_ONCE // count)
    return (problems[low : low + step] for low in range(0, len(problems), step))


def _judged(
    proposer: Proposer, tables: ProblemTables, made: ProposedMappings, *, fitting: bool = False
) -> _Drawn:
    """With what the judge expects; `fitting` leaves out what the buffers cannot hold."""
    which, state = made.which, made.state
    seen = look_at_whole(tables, which, state)
    if fitting:
        fits = (seen[:, FILLS] <= 1.0).all(axis=1)
        which, seen = which[fits], seen[fits]
        state = State(*(part[fits] for part in state))
    expected = (judged(proposer.weights, seen) * tables.weights[which]).sum(axis=1)
    return _Drawn(which, state, expected)


def _orders(found: _Drawn, problems: int, *, again: bool = True) -> list[Int64Array]:
    """The rows of each problem, those first that the judge expects most of.

    `again` keeps a mapping that came out before.
    """
    order = np.lexsort((found.expected, found.which))
    if not again:
        order = different(order, found.which, found.expected, fingerprints(found.state))
    counts = np.bincount(found.which[order], minlength=problems)
    return np.split(order, np.cumsum(counts)[:-1])


def _joined(parts: list[_Drawn]) -> _Drawn:
    if len(parts) == 1:
        return parts[0]
    which, states, expected = zip(*parts, strict=True)
    state = State(*(np.concatenate(arrays) for arrays in zip(*states, strict=True)))
    return _Drawn(np.concatenate(which), state, np.concatenate(expected))
