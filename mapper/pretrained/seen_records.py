"""Records of what agents see: problems, choices made so far, and the work space of one row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mapper.pretrained.decisions import LEVELS, ORDER, SPREADS

D: Final = 8
"""Dimensions, in the order of ``layers.DIMS``."""
Y, X, R, S = range(2, 6)
INPUT, TENSORS = 0, 3
DECISION_COUNT: Final = ORDER + LEVELS
PROBLEM_FEATURES: Final = 2 * D + 27
LEVEL_FEATURES: Final = 17
"""Features of a memory that no choice changes."""
VIEWED: Final = 4
"""Memories that a decision observes: its own, the next ones outside and inside, the outermost."""
PER_LEVEL: Final = LEVEL_FEATURES + 6
"""Features of each of these memories."""
PER_DIM: Final = 11
"""State features of a dimension."""
OWN_FEATURES: Final = D + 8
"""Features of the decision itself."""
CONTEXT_FEATURES: Final = PROBLEM_FEATURES + VIEWED * PER_LEVEL + PER_DIM * D + OWN_FEATURES
CHOICE_FEATURES: Final = 24
POINTER: Final = 32
LOGS: Final = 4096
"""Whole numbers whose logarithm is looked up."""

ProblemRow: Any = np.dtype(
    [
        ("extents", "i8", (D,)),
        ("window", "i8", (4,)),
        ("coupling", "i8", (TENSORS, D)),
        ("memories", "i8"),
        ("pool", "i8"),
        ("spreads", "i8"),
        ("below", "i8", (SPREADS,)),
        ("most", "i8", (SPREADS,)),
        ("shared", "i8", (SPREADS, 2)),
        ("rivals", "i8", (SPREADS, SPREADS)),
        ("tiled", "i8", (LEVELS, D)),
        ("capacity", "f8", (LEVELS,)),
        ("own", "f8", (LEVELS, TENSORS)),
        ("bits", "f8", (LEVELS, TENSORS)),
        ("shares", "f8", (LEVELS, TENSORS)),
        ("counts", "i8", (DECISION_COUNT,)),
        ("features", "f4", (PROBLEM_FEATURES,)),
        ("levels", "f4", (LEVELS + 1, LEVEL_FEATURES)),
    ],
    align=True,
)
"""One problem. Memories are numbered from the innermost one; DRAM has the number after the last.

- `extents`; `window`: strides of rows and columns, dilations of rows and columns;
- `coupling`: 1 where a tensor (input, filter, output) depends on a dimension;
- `memories`, without DRAM; `pool`: PEs that clusters share on a chip of L2 and L1, else 0;
- `spreads`; `below`: the memory whose fan-out each stands in; `most`: units of its axis; `shared`:
  whether its units share reads, and sums; `rivals`: earlier ones that may not have its dimension;
- `tiled`: whether a memory has a tile of a dimension, else it takes its share of what is around;
- `capacity`: bits that tensors share, inf where nothing limits them; `own`: of one tensor alone;
- `bits`: what an element takes, double buffering included, 0 where the memory does not hold the
  tensor; `shares`: 1 where a tensor lies in the capacity that tensors share;
- `counts`: choices of each decision, of an order the loops that can iterate;
- `features` of the problem, and of each memory in `levels`, as the agents see them.
"""
StateRow: Any = np.dtype(
    [
        ("dims", "i8", (SPREADS,)),
        ("units", "i8", (SPREADS,)),
        ("tiles", "i8", (LEVELS, D)),
        ("orders", "i8", (LEVELS, D)),
    ],
    align=True,
)
"""The choices made so far: of each spread its dimension (-1: none) and units, of each memory its
tiles (0: its share of what is around; of L2 what a cluster gets) and loop order, outermost first.
What is not chosen yet stands at its least.
"""
Seen: Any = np.dtype(
    [
        ("at", "i8"),
        ("first", "i8"),
        ("units", "i8", (LEVELS + 1, D)),
        ("outside", "i8", (LEVELS + 1, D)),
        ("box", "i8", (LEVELS + 1, D)),
        ("steps", "i8", (LEVELS, D)),
        ("scale", "i8", (D,)),
        ("sizes", "f8", (LEVELS + 1, TENSORS)),
        ("rest", "f8", (LEVELS, TENSORS)),
        ("fills", "f8", (LEVELS + 1,)),
        ("choice", "f8", (CHOICE_FEATURES,)),
        ("logs", "f8", (LOGS,)),
        ("problem", ProblemRow),
        ("state", StateRow),
    ],
    align=True,
)
"""The work space of one row.

- `at`: where the values of the row's choices begin, `first`: where their features do;
- `units` along each dimension below a memory, `outside`: all units above an instance of it;
- `box`: what an instance of a memory works on; `steps` of the loops that bring its boxes;
- `scale`: clusters along each dimension, which L2's tile counts by;
- `sizes`: elements of each tensor in a memory; `rest`: those but for the factor of a dimension;
  `fills`: share of a memory that tensors take;
- `choice`: features of a choice; `logs`: see `log_of`.
"""
