"""Records of what agents see: problems, choices made so far, and the work space of one row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

D: Final = 8
"""Dimensions, in the order of ``layers.DIMS``."""
Y, X, R, S = range(2, 6)
INPUT, TENSORS = 0, 3
DECISION_COUNT: Final = 2 * D + 5
PROBLEM_FEATURES: Final = 2 * D + 30
PER_DIM: Final = 6
"""State features of a dimension: its tiles, what they leave, and whether it is parallel."""
STATE_FEATURES: Final = PER_DIM * D + 12
CONTEXT_FEATURES: Final = PROBLEM_FEATURES + STATE_FEATURES + D + 2
CHOICE_FEATURES: Final = 18
POINTER: Final = 32
LOGS: Final = 4096
"""Whole numbers whose logarithm is looked up."""

ProblemRow: Any = np.dtype(
    [
        ("extents", "i8", (D,)),
        ("window", "i8", (4,)),
        ("coupling", "i8", (TENSORS, D)),
        ("pes", "i8"),
        ("capacity", "f8", (2,)),
        ("own", "f8", (2, TENSORS)),
        ("bits", "f8", (2, TENSORS)),
        ("shares", "f8", (2, TENSORS)),
        ("counts", "i8", (DECISION_COUNT,)),
        ("features", "f4", (PROBLEM_FEATURES,)),
    ],
    align=True,
)
"""One problem.

- `extents`; `window`: strides of rows and columns, dilations of rows and columns;
- `coupling`: 1 where a tensor (input, filter, output) depends on a dimension; `pes`: PEs;
- `capacity`: bits that L2 and L1 hold, inf where nothing limits them; `own`: of one tensor alone;
- `bits`: what an element takes in L2 and L1, double buffering included, 0 where the level does not
  hold the tensor; `shares`: 1 where a tensor lies in the capacity that tensors share;
- `counts`: choices of each decision, of an order the loops that can iterate;
- `features`: the problem as the agents see it.
"""
StateRow: Any = np.dtype(
    [
        ("parallel", "i8", (2,)),
        ("cluster", "i8"),
        ("tiles", "i8", (2, D)),
        ("orders", "i8", (2, D)),
    ],
    align=True,
)
"""The choices made so far, see `state.State`."""
Seen: Any = np.dtype(
    [
        ("width", "i8"),
        ("values", "i8"),
        ("at", "i8"),
        ("first", "i8"),
        ("held", "i8", (2, D)),
        ("steps", "i8", (2, D)),
        ("sizes", "f8", (2, TENSORS)),
        ("rest", "f8", (2, TENSORS)),
        ("choice", "f8", (CHOICE_FEATURES,)),
        ("whole", "f8", (STATE_FEATURES,)),
        ("logs", "f8", (LOGS,)),
        ("problem", ProblemRow),
        ("state", StateRow),
    ],
    align=True,
)
"""The work space of one row.

- `width`: choices of the decision at most; `values`: those of any decision; `at`: where the values
  of the row's choices begin, `first`: where their features do;
- `held`: the part of the nest that L2 holds of all clusters' tiles of a level, and L1 of its own;
- `sizes`: elements of each tensor in L2 and L1; `rest`: those but for the factor of a dimension;
- `steps` of each dimension in the outer and in the inner loops;
- `choice` and `whole`: features of a choice and of the state; `logs`: see `log_of`.
"""
