"""Mappings with what the judge expects of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.judge_view import FILLS, look_at_whole
from mapper.pretrained.network import judged
from mapper.pretrained.offering import different, fingerprints
from mapper.pretrained.proposer import Int64Array, ProposedMappings, Proposer
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables

AT_ONCE = 512
"""Mappings made at a time: what is worked on stays in the processor's cache."""


class Judged(NamedTuple):
    """`B` mappings, ``which (B,)`` problem each is for, and ``(B,)`` what the judge expects."""

    which: Int64Array
    state: State
    expected: NDArray[np.float32]

    @property
    def proposals(self) -> ProposedMappings:
        """The mappings alone."""
        return ProposedMappings(self.which, self.state)

    def take(self, rows: Int64Array | NDArray[np.bool_] | slice) -> Judged:
        """Some of them."""
        state = State(*(part[rows] for part in self.state))
        return Judged(self.which[rows], state, self.expected[rows])


def judge(
    proposer: Proposer, tables: ProblemTables, made: ProposedMappings, *, fitting: bool = False
) -> Judged:
    """With what the judge expects; `fitting` leaves out what the buffers cannot hold."""
    which, state = made.which, made.state
    seen = look_at_whole(tables, which, state)
    if fitting:
        fits = (seen[:, FILLS] <= 1.0).all(axis=1)
        which, seen = which[fits], seen[fits]
        state = State(*(part[fits] for part in state))
    expected = (judged(proposer.weights, seen) * tables.weights[which]).sum(axis=1)
    return Judged(which, state, expected)


def in_order(found: Judged, problems: int, *, again: bool = True) -> list[Int64Array]:
    """The rows of each problem, those first that the judge expects most of.

    `again` keeps a mapping that came out before.
    """
    order = np.lexsort((found.expected, found.which))
    if not again:
        order = different(order, found.which, found.expected, fingerprints(found.state))
    counts = np.bincount(found.which[order], minlength=problems)
    return np.split(order, np.cumsum(counts)[:-1])


def joined(parts: list[Judged]) -> Judged:
    """One after another."""
    if len(parts) == 1:
        return parts[0]
    which, states, expected = zip(*parts, strict=True)
    state = State(*(np.concatenate(arrays) for arrays in zip(*states, strict=True)))
    return Judged(np.concatenate(which), state, np.concatenate(expected))


def first_of_each(kinds: Int64Array, rows: Int64Array, most: int) -> Int64Array:
    """The first of some rows of each kind, in their order and at most so many; `kinds` by row."""
    _, first = np.unique(kinds[rows], return_index=True)
    return np.asarray(rows[np.sort(first)[:most]])


def a_few(problems: Int64Array, count: int) -> Iterator[Int64Array]:
    """Problems for which `count` mappings each are made at a time."""
    step = max(1, AT_ONCE // count)
    return (problems[low : low + step] for low in range(0, len(problems), step))
