"""Records of what agents see: problems, choices made so far, and the work space of one row."""

from __future__ import annotations

from typing import Any

from mapper.pretrained.decisions import DECISIONS, LEVELS, SPREADS
from marl_common import record_type, union_type

D = 8
"""Dimensions, in the order of ``layers.DIMS``."""
Y, X, R, S = range(2, 6)
INPUT, TENSORS = 0, 3
PROBLEM_FEATURES = 2 * D + 27
LEVEL_FEATURES = 17
"""Features of a memory that no choice changes."""
VIEWED = 4
"""Memories that a decision observes: its own, the next ones outside and inside, the outermost."""
POINTER = 32
LOGS = 4096
"""Whole numbers whose logarithm is looked up."""


ProblemRow: Any = record_type(
    ("i8", "extents", D),
    ("i8", "window", 4),
    ("i8", "coupling", (TENSORS, D)),
    ("i8", "memories pool spreads"),
    ("i8", "below most multicast reduce", SPREADS),
    ("i8", "rivals", (SPREADS, SPREADS)),
    ("f8", "capacity", LEVELS + 1),
    ("f8", "own bits shares", (LEVELS + 1, TENSORS)),
    ("i8", "counts", len(DECISIONS)),
    ("f4", "features", PROBLEM_FEATURES),
    ("f4", "levels", (LEVELS + 1, LEVEL_FEATURES)),
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
StateRow: Any = record_type(
    ("i8", "problem turned"), ("i8", "parallel units", SPREADS), ("i8", "tile order", (LEVELS, D))
)
"""The problem's number, whether tiles are chosen in the order of `TURNED`, and the choices made so
far: of each spread its dimension (-1: none) and units (of L2 and L1 only a cluster's), of each
memory its tiles (0: its share of what is around; of L2 what a cluster gets) and loop order,
outermost first. What is not chosen yet is at its least.
"""
LevelSeen: Any = record_type(
    ("f4", "fixed", LEVEL_FEATURES), ("f4", "fill"), ("f4", "sizes", TENSORS), ("f4", "steps units")
)
"""Features of a memory: those that no choice changes, and what the choices so far make of it."""
DimSeen: Any = record_type(
    ("f4", "box outer inside steps within units outside pieces below clusters spreads open")
)
"""Features of a dimension about a memory, as logarithms; `spreads`: half their number; `open`: 1
where the memory's tile is still to be chosen.
"""
OwnSeen: Any = record_type(("f4", "inside outside spreads pooled multicast reduce most outermost"))
"""Features of the decision: memories inside and outside of its own, spreads, whether PEs are
pooled; and of a spread what its units share, how many there are, and whether it is the outermost.
"""
ContextRow: Any = record_type(
    ("f4", "problem", PROBLEM_FEATURES),
    (LevelSeen, "levels", VIEWED),
    (DimSeen, "dims", D),
    ("f4", "tiled", D),
    (OwnSeen, "own"),
)
"""What is observed at a decision, whatever is chosen; `tiled`: 1 for the dimension of a tile."""
CONTEXT_FEATURES = ContextRow.itemsize // 4
ParallelSeen: Any = record_type(
    ("f4", "extent"),
    ("f4", "couples", TENSORS),
    ("f4", "busy fills taken spare image taps share covered covered_log taken_beside"),
    ("f4", "busy_left left fills_left"),
)
"""Features of a dimension for a spread; `_left`: of what spreads outside leave of it."""
UnitsSeen: Any = record_type(
    ("f4", "size spare share busy clusters_busy work steps clusters_steps one all idle"),
    ("f4", "clusters_idle over clusters_over even fill fill_log worst_fill"),
)
"""Features of units of a spread; `clusters_`: of the clusters that so many PEs make; `fill`: of the
memory around the spread by the least tiles that give the units work, the worst of it and others.
"""
TileSeen: Any = record_type(
    ("f4", "box steps padding fill fill_log outer_fill worst_fill one whole even outside_busy"),
    ("f4", "within busy same ratio above_spreads spreads cycles steps_one within_one share"),
    ("f4", "held", TENSORS),
)
"""Features of a tile; `held`: whether the memory holds what it cuts."""
LoopSeen: Any = record_type(
    ("f4", "couples shares", TENSORS),
    ("f4", "moved_share moved kept steps spreads padded within image box last"),
    ("f4", "last_couples", TENSORS),
    ("f4", "steps_inside"),
    ("f4", "held", TENSORS),
)
"""Features of a loop of an order; `last`: of the innermost loop outside that iterates."""
CHOICE_FEATURES = TileSeen.itemsize // 4
"""Of any kind; what a choice has no feature for is 0."""
ChoiceSeen: Any = union_type(
    parallel=ParallelSeen,
    units=UnitsSeen,
    tile=TileSeen,
    loop=LoopSeen,
    every=("f4", (CHOICE_FEATURES,)),
)
"""What is observed of a choice, by kind of decision, or `every` feature of it by its place."""
ChoiceRow: Any = record_type(
    (ChoiceSeen, "features"), ("f4", "score"), ("i4", "value"), ("?", "legal")
)
"""One choice of a decision: what is observed of it, its score, the dimension, units, tile or loop
that it stands for, and whether buffers hold it or, of an order, its loop iterates. A row that has
nothing to choose has no legal one.
"""
DrawRow: Any = record_type(
    ("i8", "group first split next chose"), ("f8", "draw"), ("f4", "warm"), ("i8", "picks", D)
)
"""How one row draws. Rows whose choices so far are alike are a group: they observe the same.

- `group` of the row; of the group with the row's number, `first`: its first row, `split`: the last
  group that was split from it, -1 for none, `next`: the one that was split before it;
- `draw`: a random number in [0, 1); `warm`: the temperature, 0 takes the likeliest choice;
- `chose`: the choice taken, or a number of the ranking of loops;
- `picks`: loops by rank, the outermost first.
"""
Step: Any = record_type(("i8", "place kind number dim groups rows width options problems"))
"""What is decided: the fields of a `Decision`, its kind as a number; rows that observe, and that
choose; choices of the decision at most, and of any decision; problems.
"""
Seen: Any = record_type(
    (Step, "step"),
    ("i8", "level dim place first"),
    ("i8", "units outside box steps", (LEVELS + 1, D)),
    ("i8", "scale", D),
    ("f8", "sizes", (LEVELS + 1, TENSORS)),
    ("f8", "fills", LEVELS + 1),
    ("f8", "logs", LOGS),
    (ProblemRow, "problem"),
    (StateRow, "state"),
)
"""The work space of one row.

- `step`: what is decided; `level`: the memory that it is on, of a spread the one whose fan-out it
  stands in; `dim`: the dimension of a tile; `place`: of the decision; `first`: the first choice;
- `units` along each dimension below a memory, `outside`: all units above an instance of it;
- `box`: what an instance of a memory works on; `steps` of the loops that bring its boxes;
- `scale`: clusters along each dimension, which L2's tile counts by;
- `sizes`: elements of each tensor in a memory; `fills`: share of it that these take;
- `logs`: see `log_of`.
"""
