"""Records of what agents see: problems, choices made so far, and the work space of one row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mapper.pretrained.decisions import DECISION_COUNT, LEVELS, SPREADS

D: Final = 8
"""Dimensions, in the order of ``layers.DIMS``."""
Y, X, R, S = range(2, 6)
INPUT, TENSORS = 0, 3
PROBLEM_FEATURES: Final = 2 * D + 27
LEVEL_FEATURES: Final = 17
"""Features of a memory that no choice changes."""
VIEWED: Final = 4
"""Memories that a decision observes: its own, the next ones outside and inside, the outermost."""
CHOICE_FEATURES: Final = 24
POINTER: Final = 32
LOGS: Final = 4096
"""Whole numbers whose logarithm is looked up."""


def _record(**fields: Any) -> Any:
    """A record of fields in C's layout: each is a type, or a type and a shape."""
    return np.dtype(list(fields.items()), align=True)


def _features(names: str) -> Any:
    """A record of one float32 for each name."""
    return _record(**dict.fromkeys(names.split(), "f4"))


ProblemRow: Any = _record(
    extents=("i8", D),
    window=("i8", 4),
    coupling=("i8", (TENSORS, D)),
    memories="i8",
    pool="i8",
    spreads="i8",
    below=("i8", SPREADS),
    most=("i8", SPREADS),
    multicast=("i8", SPREADS),
    reduce=("i8", SPREADS),
    rivals=("i8", (SPREADS, SPREADS)),
    capacity=("f8", LEVELS),
    own=("f8", (LEVELS, TENSORS)),
    bits=("f8", (LEVELS, TENSORS)),
    shares=("f8", (LEVELS, TENSORS)),
    counts=("i8", DECISION_COUNT),
    features=("f4", PROBLEM_FEATURES),
    levels=("f4", (LEVELS + 1, LEVEL_FEATURES)),
)
"""One problem. Memories are numbered from the innermost one; DRAM has the number after the last.

- `extents`; `window`: strides of rows and columns, dilations of rows and columns;
- `coupling`: 1 where a tensor (input, filter, output) depends on a dimension;
- `memories`, without DRAM; `pool`: PEs that clusters share on a chip of L2 and L1, else 0;
- `spreads`; `below`: the memory whose fan-out each stands in; `most`: units of its axis;
  `multicast`, `reduce`: whether these share reads, and sums; `rivals`: earlier spreads that may
  not have its dimension;
- `capacity`: bits that tensors share, inf where nothing limits them; `own`: of one tensor alone;
- `bits`: what an element takes, double buffering included, 0 where the memory does not hold the
  tensor; `shares`: 1 where a tensor lies in the capacity that tensors share;
- `counts`: choices of each decision, of an order the loops that can iterate;
- `features` of the problem, and of each memory in `levels`, as the agents see them.
"""
StateRow: Any = _record(
    problem="i8",
    dims=("i8", SPREADS),
    units=("i8", SPREADS),
    tiles=("i8", (LEVELS, D)),
    orders=("i8", (LEVELS, D)),
)
"""The problem's number and the choices made so far: of each spread its dimension (-1: none) and
units (of L2 and L1 only a cluster's), of each memory its tiles (0: its share of what is around; of
L2 what a cluster gets) and loop order, outermost first. What is not chosen yet is at its least.
"""
LevelSeen: Any = _record(
    fixed=("f4", LEVEL_FEATURES), fill="f4", sizes=("f4", TENSORS), steps="f4", units="f4"
)
"""Features of a memory: those that no choice changes, and what the choices so far make of it."""
DimSeen: Any = _features(
    "box outer inside steps within units outside pieces below clusters spreads"
)
"""Features of a dimension about a memory; all but `spreads`, half their number, are logarithms."""
OwnSeen: Any = _features("inside outside spreads pooled multicast reduce most outermost")
"""Features of the decision: memories inside and outside of its own, spreads, whether PEs are
pooled; and of a spread what its units share, how many there are, and whether it is the outermost.
"""
ContextRow: Any = _record(
    problem=("f4", PROBLEM_FEATURES),
    levels=(LevelSeen, VIEWED),
    dims=(DimSeen, D),
    tiled=("f4", D),
    own=OwnSeen,
)
"""What is observed at a decision, whatever is chosen; `tiled`: 1 for the dimension of a tile."""
CONTEXT_FEATURES: Final = ContextRow.itemsize // 4
ChoiceRow: Any = _record(features=("f4", CHOICE_FEATURES), score="f4", value="i4", legal="?")
"""One choice of a decision: what is observed of it, its score, the dimension, units, tile or loop
that it stands for, and whether buffers hold it or, of an order, its loop iterates. A row that has
nothing to choose has no legal one.
"""
DrawRow: Any = _record(
    group="i8",
    first="i8",
    split="i8",
    next="i8",
    draw="f8",
    warm="f4",
    chose="i8",
    picks=("i8", D),
)
"""How one row draws. Rows whose choices so far are alike are a group: they observe the same.

- `group` of the row; of the group with the row's number, `first`: its first row, `split`: the last
  group that was split from it, -1 for none, `next`: the one that was split before it;
- `draw`: a random number in [0, 1); `warm`: the temperature, 0 takes the likeliest choice;
- `chose`: the choice taken, or a number of the ranking of loops;
- `picks`: loops by rank, the outermost first.
"""
Step: Any = _record(
    place="i8", kind="i8", number="i8", dim="i8", groups="i8", rows="i8", width="i8", options="i8"
)
"""What is decided: the fields of a `Decision`, its kind as a number; rows that observe, and that
choose; choices of the decision at most, and of any decision.
"""
Seen: Any = _record(
    step=Step,
    level="i8",
    first="i8",
    units=("i8", (LEVELS + 1, D)),
    outside=("i8", (LEVELS + 1, D)),
    box=("i8", (LEVELS + 1, D)),
    steps=("i8", (LEVELS, D)),
    scale=("i8", D),
    sizes=("f8", (LEVELS + 1, TENSORS)),
    fills=("f8", LEVELS + 1),
    logs=("f8", LOGS),
    problem=ProblemRow,
    state=StateRow,
)
"""The work space of one row.

- `step`: what is decided; `level`: the memory that it is on, of a spread the one whose fan-out it
  stands in; `first`: the first choice;
- `units` along each dimension below a memory, `outside`: all units above an instance of it;
- `box`: what an instance of a memory works on; `steps` of the loops that bring its boxes;
- `scale`: clusters along each dimension, which L2's tile counts by;
- `sizes`: elements of each tensor in a memory; `fills`: share of it that these take;
- `logs`: see `log_of`.
"""
