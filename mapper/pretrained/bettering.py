"""The best mappings varied under the judge."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mapper.pretrained.judging import Judged, a_few, joined, judge
from mapper.pretrained.proposer import Int64Array, ProposedMappings, Proposer
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.variation import DRAWS, varied

FAVOUR = 1.5
"""A parent's place among all is a random share to this power: better ones come more often."""
CHILDREN = 128
"""Variations of a problem's mappings; chosen on random problems, as all numbers here."""


def bred(
    proposer: Proposer, tables: ProblemTables, best: Judged, mates: Judged, rng: Generator
) -> Judged:
    """`CHILDREN` of the best mappings of each problem, but for those that buffers cannot hold.

    Args:
        proposer: Has the judge.
        tables: The problems.
        best: The mappings that are varied, problem by problem, the best first; for a problem
            without any there are no children.
        mates: What they are crossed with, problem by problem.
        rng: Randomness.
    """
    parts = [best.take(slice(0))]
    for some in a_few(np.unique(best.which), CHILDREN):
        which = np.repeat(some, CHILDREN)
        likely, any_of = rng.random(len(which)) ** FAVOUR, rng.random(len(which))
        state = varied(
            tables,
            which,
            best.take(_rows(best.which, which, likely)).state,
            mates.take(_rows(mates.which, which, any_of)).state,
            rng.random((len(which), DRAWS)),
        )
        parts.append(judge(proposer, tables, ProposedMappings(which, state), fitting=True))
    return joined(parts)


def _rows(of: Int64Array, which: Int64Array, place: NDArray[np.float64]) -> Int64Array:
    """Rows of the problems `which`, at places in [0, 1) among theirs; `of` is in order."""
    first, end = np.searchsorted(of, which, "left"), np.searchsorted(of, which, "right")
    return np.asarray(first + ((end - first) * place).astype(np.int64))
