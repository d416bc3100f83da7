"""What agents observe at a decision: the choices made so far, and each choice (compiled).

All features are logarithms, shares or flags, so that a network meets the same ranges on any layer
and any chip.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import compiled
from mapper.pretrained.choice_features import (
    CHOICE_FEATURES,
    see_cluster,
    see_loops,
    see_parallel,
    see_tiles,
)
from mapper.pretrained.decisions import (
    CLUSTER_SIZE,
    INNER,
    INNER_TILE,
    OUTER,
    OUTER_ORDER,
    OUTER_TILE,
)
from mapper.pretrained.problem_arrays import PROBLEM_FEATURES, D, ProblemArrays, problem_at
from mapper.pretrained.state import State, state_at
from mapper.pretrained.tile_sizes import (
    clusters_of,
    elements_but_one,
    fill_of,
    fill_steps,
    inner,
    l2_box,
    log,
    log_of,
)

PER_DIM: Final = 6
"""State features of a dimension: its tiles, what they leave, and whether it is parallel."""
STATE_FEATURES: Final = PER_DIM * D + 12
CONTEXT_FEATURES: Final = PROBLEM_FEATURES + STATE_FEATURES + D + 2


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


@inner()
def see_state(
    out: Any, problem: ProblemArrays, state: State, sizes: Any, steps: Any, box: Any
) -> None:
    """State features of one row, into ``out (STATE_FEATURES,)``.

    Args:
        out: Filled in.
        problem: The row's problem.
        state: The row's choices so far.
        sizes: ``(2, 3)`` becomes elements of each tensor in L2 and L1.
        steps: ``(2, D)`` becomes steps; see `fill_steps`.
        box: ``(D,)`` work space.
    """
    fill_steps(steps, problem, state)
    all_outer = 0.0
    all_inner = 0.0
    for d in range(D):
        own = out[d * PER_DIM :]
        own[4] = d == state.parallel[OUTER]
        own[5] = d == state.parallel[INNER]
        if problem.extents[d] == 1:
            own[:4] = 0.0
            continue
        own[0] = log_of(state.tiles[INNER, d])
        own[1] = log_of(state.tiles[OUTER, d]) - own[0]
        own[2] = log_of(steps[OUTER, d])
        own[3] = log_of(steps[INNER, d])
        all_outer += own[2]
        all_inner += own[3]
    l2_box(box, OUTER, problem, state)
    elements_but_one(sizes[OUTER], -1, box, problem)
    elements_but_one(sizes[INNER], -1, state.tiles[INNER], problem)
    whole = out[D * PER_DIM :]
    whole[0] = log_of(max(state.cluster, 1))
    whole[1] = log_of(clusters_of(problem, state))
    whole[2] = all_outer
    whole[3] = all_inner
    whole[4] = min(fill_of(INNER, sizes[INNER], problem), 2.0)
    whole[5] = min(fill_of(OUTER, sizes[OUTER], problem), 2.0)
    for tensor in range(3):
        whole[6 + tensor] = log(sizes[INNER, tensor])
        whole[9 + tensor] = log(sizes[OUTER, tensor])


@compiled(error_model="numpy")
def _see(
    decision: int, arrays: ProblemArrays, which: Any, states: State, found: Observation
) -> None:
    box = np.empty(D, np.int64)
    steps = np.empty((2, D), np.int64)
    seen = np.empty(STATE_FEATURES)
    sizes = np.empty((2, 3))
    rest = np.empty((2, 3))
    for row in range(len(which)):
        problem, state = problem_at(arrays, which[row]), state_at(states, row)
        choices, legal = found.choices[row], found.legal[row]
        context = found.context[row]
        context[:PROBLEM_FEATURES] = problem.features
        see_state(seen, problem, state, sizes, steps, box)
        context[PROBLEM_FEATURES : PROBLEM_FEATURES + STATE_FEATURES] = seen
        own = context[PROBLEM_FEATURES + STATE_FEATURES :]
        own[:] = 0.0
        if decision >= OUTER_ORDER:
            see_loops(decision, problem, state, sizes, steps, choices, legal)
        elif decision >= INNER_TILE:
            d = decision - (INNER_TILE if decision < OUTER_TILE else OUTER_TILE)
            own[d] = 1.0
            own[D] = d == state.parallel[OUTER]
            own[D + 1] = d == state.parallel[INNER]
            see_tiles(decision, problem, state, box, rest, sizes, choices, legal)
        else:
            for c in range(problem.counts[decision]):
                legal[c] = True
                if decision == CLUSTER_SIZE:
                    see_cluster(choices[c], problem.values[decision, c], problem, state)
                else:
                    see_parallel(choices[c], decision, problem.values[decision, c], problem, state)


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
    width = int(arrays.counts[which, decision].max())
    found = Observation(
        np.empty((len(which), CONTEXT_FEATURES), np.float32),
        np.zeros((len(which), width, CHOICE_FEATURES), np.float32),
        np.zeros((len(which), width), np.bool_),
    )
    _see(decision, arrays, which, state, found)
    return found
