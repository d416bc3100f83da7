"""Arrangements of PEs a move away from the best, with tiles and orders drawn for them anew."""

from __future__ import annotations

from typing import Final

import numpy as np

from mapper.pretrained.judging import Judged, a_few, first_of_each, joined, judge
from mapper.pretrained.proposer import Int64Array, Proposer, arrangement
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.turns import CLUSTER_SIZE, INNER_PARALLEL, OUTER_PARALLEL, TURNS

MOVES: Final = 192
"""Moves of a problem's arrangements, of which those that differ are drawn for; chosen on random
problems, as all numbers here."""
LEADERS: Final = 24
"""Best arrangements that are moved."""
NEW_OUTER, NEW_INNER, SWAP = 0.3, 0.3, 0.1
"""Another outer or inner parallel dimension, or both change places; else another cluster size."""
NEW_CLUSTER: Final = 0.5
"""With one of these, another cluster size too."""
COOL: Final = 0.5
"""Temperature of tiles and orders: each arrangement is drawn for once."""


def rearranged(
    proposer: Proposer,
    tables: ProblemTables,
    found: Judged,
    offered: list[Int64Array],
    rng: np.random.Generator,
) -> Judged:
    """A mapping for each of many arrangements that are a move away from the best ones.

    Which arrangement is best hangs on how factors of the PEs and of the extents meet, which agents
    that choose in turns foresee badly; with tiles of their own, the judge can compare them.

    Args:
        proposer: The agents and the judge.
        tables: The problems.
        found: Mappings of the problems.
        offered: The rows of each problem in it, the best first.
        rng: Randomness.
    """
    kinds = arrangement(found.which, found.state)
    leading = [rng.choice(first_of_each(kinds, rows, LEADERS), MOVES) for rows in offered]
    moved = _moved(tables, found.take(np.concatenate(leading)), rng)
    _, new = np.unique(arrangement(moved.which, moved.state), return_index=True)
    parts = [found.take(slice(0))]
    for some in a_few(np.sort(new), 1):
        like = moved.take(some)
        heat = np.full((len(some), TURNS), COOL, np.float32)
        made = proposer.propose(tables, like.which, rng, heat=heat, like=like.state)
        parts.append(judge(proposer, tables, made, fitting=True))
    return joined(parts)


def _moved(tables: ProblemTables, given: Judged, rng: np.random.Generator) -> Judged:
    """The arrangements a move away; all else stays as it is."""
    which, count = given.which, len(given.which)
    kind, draws = rng.random(count), rng.random((3, count))

    def any_of(turn: int, draw: np.ndarray) -> Int64Array:
        choice = (tables.counts[which, turn] * draw).astype(np.int64)
        return np.asarray(tables.values[which, turn, choice])

    outer, inner = given.state.spread.T
    ends = np.cumsum([NEW_OUTER, NEW_INNER, SWAP])
    new_outer, new_inner, swap, only_size = (np.digitize(kind, ends) == n for n in range(4))
    spread = np.stack(
        [
            np.select([new_outer, swap], [any_of(OUTER_PARALLEL, draws[0]), inner], outer),
            np.select([new_inner, swap], [any_of(INNER_PARALLEL, draws[0]), outer], inner),
        ],
        axis=1,
    )
    sized = only_size | (draws[1] < NEW_CLUSTER)
    cluster = np.where(sized, any_of(CLUSTER_SIZE, draws[2]), given.state.cluster)
    return given._replace(state=given.state._replace(spread=spread, cluster=cluster))
