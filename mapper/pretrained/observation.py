"""What agents observe at a decision: the choices made so far, and each choice.

All features are logarithms, shares or flags, so that a network meets the same ranges on any layer
and any chip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import CHOICE_FEATURES, CONTEXT_FEATURES


class Observation(NamedTuple):
    """What `B` agents observe at one decision.

    Args:
        context: ``(B, CONTEXT_FEATURES)`` float32: problem, choices so far, the decision.
        choices: ``(B, C, CHOICE_FEATURES)`` float32.
        legal: ``(B, C)`` bool: what the buffers hold, or, of an order, the loops that iterate.
    """

    context: NDArray[np.float32]
    choices: NDArray[np.float32]
    legal: NDArray[np.bool_]

    def take(self, rows: Any) -> Observation:
        """Some rows."""
        return Observation(*(part[rows] for part in self))


def observe(
    decision: int,
    arrays: ProblemArrays,
    which: NDArray[np.int64],
    rows: NDArray[Any],
    members: NDArray[np.int64],
    width: int,
) -> Observation:
    """What some rows observe.

    Args:
        decision: Its index.
        arrays: The problems.
        which: ``(B,)`` the problem of each row.
        rows: ``(B,)`` records `seen_records.StateRow`: the choices so far.
        members: ``(N,)`` the rows that observe.
        width: Choices of the decision at most.
    """
    from mapper.pretrained.kernel import see_rows

    count, values = len(members), arrays.values
    found = Observation(
        np.zeros((count, CONTEXT_FEATURES), np.float32),
        np.zeros((count, width, CHOICE_FEATURES), np.float32),
        np.zeros((count, width), np.bool_),
    )
    given = arrays.rows, values, values.shape[2], which, rows, members, arrays.work
    see_rows(decision, *given, *found, count, width)
    return found
