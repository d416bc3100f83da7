"""What the judge sees of finished mappings (compiled).

The agents choose in turn and never see the whole. The judge does: the problem, all choices, and how
often the loop orders make each tensor move.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from common import compiled, inner_function
from mapper.pretrained.flows import FLOW_FEATURES, FLOWS, see_flows
from mapper.pretrained.state import State
from mapper.pretrained.step_clock import no_transfers
from mapper.pretrained.tables import PROBLEM_FEATURES, D, ProblemTables
from mapper.pretrained.tile_sizes import log
from mapper.pretrained.view import PER_DIM, STATE_FEATURES, see_state

PER_LEVEL: Final = D + 7
JUDGE_FEATURES: Final = PROBLEM_FEATURES + STATE_FEATURES + 2 * PER_LEVEL + FLOW_FEATURES
"""The last of them, `flows.TERMS`, are what the judge adds up."""
FILLS: Final = slice(PROBLEM_FEATURES + PER_DIM * D + 4, PROBLEM_FEATURES + PER_DIM * D + 6)
"""Shares of L1 and L2 that are taken; above 1 a mapping does not fit."""


def look_at_whole(
    tables: ProblemTables, which: NDArray[np.int64], state: State
) -> NDArray[np.float32]:
    """``(B, JUDGE_FEATURES)`` what the judge sees of finished mappings.

    Args:
        tables: The problems.
        which: ``(B,)`` problem of each mapping.
        state: The mappings.
    """
    out = np.empty((len(which), JUDGE_FEATURES), np.float32)
    _see_whole(tables, which, state, out)
    return out


@compiled
def _see_whole(tables: ProblemTables, which: Any, state: State, out: Any) -> None:
    box = np.empty(D, np.int64)
    steps = np.empty((2, D), np.int64)
    sizes = np.empty((2, 3))
    flows = np.empty((FLOWS, 3))
    transfers = no_transfers()
    for row in range(len(which)):
        problem = which[row]
        seen = out[row]
        seen[:PROBLEM_FEATURES] = tables.features[problem]
        place = PROBLEM_FEATURES
        see_state(seen[place:], row, problem, tables, state, box, sizes, steps)
        place += STATE_FEATURES
        for level in range(2):
            _see_level(
                seen[place:],
                state.orders[row, level],
                steps[level],
                sizes[level],
                tables.coupling[problem],
            )
            place += PER_LEVEL
        see_flows(seen[place:], row, problem, tables, state, steps, sizes, flows, transfers)


@inner_function
def _see_level(out: Any, order: Any, steps: Any, sizes: Any, coupling: Any) -> None:
    """How the loops of a level move its tensors: places, visits, elements moved."""
    loops = 0
    for place in range(D):
        loops += steps[order[place]] > 1
    rank = 0
    for place in range(D):
        d = order[place]
        out[d] = 0.0
        if steps[d] > 1:
            rank += 1
            out[d] = rank / loops
    moved = 0.0
    for tensor in range(3):
        visits = 1.0
        until_last = 1.0
        for place in range(D):
            d = order[place]
            visits *= steps[d]
            if coupling[tensor, d] and steps[d] > 1:
                until_last = visits
        out[D + tensor] = log(until_last)
        out[D + 3 + tensor] = log(until_last * sizes[tensor])
        moved += until_last * sizes[tensor]
    out[D + 6] = log(moved)
