"""What agents observe at a decision: the choices made so far, and each choice.

All features are logarithms, shares or flags, so that a network meets the same ranges on any layer
and any chip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.problem_arrays import ProblemArrays
from mapper.pretrained.seen_records import CHOICE_FEATURES, CONTEXT_FEATURES, LOGS, Seen
from mapper.pretrained.state import State

_WORK = np.zeros(1, Seen)
_WORK["logs"] = np.log2(np.maximum(np.arange(LOGS), 1e-9)) / 8


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
    decision: int, arrays: ProblemArrays, which: NDArray[np.int64], state: State
) -> Observation:
    """What every row observes.

    Args:
        decision: Its index.
        arrays: The problems.
        which: ``(B,)`` the problem of each row.
        state: Choices so far.
    """
    from mapper.pretrained.kernel import see_rows

    width = int(arrays.counts[which, decision].max())
    found = Observation(
        np.empty((len(which), CONTEXT_FEATURES), np.float32),
        np.zeros((len(which), width, CHOICE_FEATURES), np.float32),
        np.zeros((len(which), width), np.bool_),
    )
    work = _WORK.copy()
    work["width"], work["values"] = width, arrays.values.shape[2]
    rows, which = state.rows(), np.ascontiguousarray(which)
    see_rows(decision, arrays.rows, arrays.values, which, rows, work, *found, len(which))
    return found
