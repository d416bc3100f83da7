"""Records of the kernel: a nest, how its dimensions are cut, its counts, and the work space.

Their fields are whole numbers. Levels are numbered as in :mod:`cost_models.exact.nest`: 0 is DRAM,
the MACs come after the last. Sets of dimensions, tensors or levels are bit masks. Node, run and
move numbers index the arrays of their dimension.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

DIMS, TENSORS = 8, 3
K, C, P, Q, R, S, N, G = range(DIMS)
INPUT, FILTER, OUTPUT = range(TENSORS)
PAIRS = 2
"""Rows (P, R) and columns (Q, S)."""
ENTRIES = 12
LEVELS = ENTRIES + 2
CUTS = ENTRIES + 1
PORTS = 6
"""Ports that can limit: DRAM's and those of five memories."""
KINDS = 10
NODES, RUNS, MOVES = 4096, 8192, 16384
PLACES, INTERVALS = 8192, 32768
LOOPS = DIMS * CUTS
MEMO, KNOWN, PAIR_SUMS = 256, 1024, 256
EVENTS = CUTS + 1
UNLIMITED = 1 << 33
"""Bits a cycle of a port without a limit: a first tile still takes a cycle."""
FAR = 1 << 60
ADVANCES = 16
"""Marks an event in which a dimension advances at a cut."""
NODE_BITS, MOVE_BITS = 12, 14
STATES_A_WORD = 5
STAMPS = 1 << 26
"""Nests after which what is known of earlier ones is forgotten, so that no stamp comes twice."""

FIRST, ROWS, PADDING, UNITS, ALL = 1, 2, 4, 8, 16
"""What a scope is made of: instances within the first of a level alone; rows that several of them
want count once; padding counts, though it is free; what instances want alike along other dimensions
counts once; even where a chip has it that they do not share."""
EACH, TILES, SHARED, DISTINCT = 0, UNITS, UNITS | ROWS, UNITS | ROWS | ALL
"""Scopes: every instance by itself; every distinct tile; what a level is read for; distinct
elements."""

COUNTED, TOO_MANY_STATES, TOO_LARGE_TILES = range(3)
"""Whether a nest was counted, and why not: a dimension has too many different steps; what an
instance of a level holds does not fit (the level is in the work space)."""


REAL = np.dtype("f8")


def record(single: str, real: str = "", **several: Any) -> np.dtype[Any]:
    """The type of a record; in a kernel it is a type.

    Args:
        single: Names of the fields that hold one whole number each.
        real: Names of those that hold one real number.
        several: Shapes of those that hold several whole numbers; or a type, and the shape.
    """
    fields: list[Any] = [(name, "i8") for name in single.split()]
    fields += [(name, REAL) for name in real.split()]
    for name, held in several.items():
        inner = isinstance(held, tuple) and isinstance(held[0], np.dtype)
        fields.append((name, *held) if inner else (name, "i8", held))
    return np.dtype(fields, align=True)


def each(shape: Any, names: str) -> dict[str, Any]:
    """Fields of one shape, for :func:`record`."""
    return dict.fromkeys(names.split(), shape)


# rows = stride * output + dilation * tap; those from `low` to `high` count. `live`: whether rows
# are more than outputs under other names
Window: Any = record("stride dilation box padded low high live")
# `keeps` is a set of tensors, `alone` one of dimensions whose units share no transfer. `port`:
# whether it has one; `read` and `write` are its rates in units of bits, `both` says that `read` is
# for both directions together; `spare` that it has no limit and can't bind, so that its cycles but
# for first tiles are left out. A capacity of -1 is none
Level: Any = record(
    "keeps port read write both spare shared_bits joined",
    **each(DIMS, "tile units order"),
    **each(TENSORS, "alone copies own_bits"),
)
# `widths` are those of an element, and `partial` that of a partial sum, in units of `unit` bits;
# `lanes` MACs take whatever is next. `every`: what no figure needs is counted too. `resident`:
# tensors that are whole in the outermost level
Nest: Any = record(
    "depth partial unit lanes retain whole_tiles stepwise every resident",
    extents=DIMS,
    **each(TENSORS, "coupled widths"),
    windows=(Window, PAIRS),
    levels=(Level, LEVELS),
)
# a level that loops over a dimension, or spreads it over units
Cut: Any = record("level tile units width instances")
# steps in which all instances have tiles of the same shape. `at`: the counter of the first of these
# steps within its parent; `lead`: the tile of the first instance; `base`: where it starts, if
# padding may be near, else -1; `times`: steps of this shape in the nest; `run`: the first of `runs`
# of the next cut inside it; `stay`: the move that is none; `total`: tiles of all instances
# together; `active`: instances with a tile; `cuts`: those that it lies behind; `turns`: cycles of
# the lead's tile on the lanes of this dimension; `span`: tiles below the first instance of a port's
# level; `count` instances have a tile of a `size`
Node: Any = record(
    "parent at lead base times run runs stay total active cuts turns kinds",
    span=PORTS,
    **each(KINDS, "size count"),
)
# consecutive counters of a cut whose steps have one shape
Run: Any = record("node at count enter within")
# from one step's tiles to the next one's; `shift` is how far the lead's start moves
Move: Any = record("old new shift down")
# `cuts_at`: cuts down to a level, and `lead`: the first instance's first tile there; `fans`: levels
# with more than one unit; `windowed`: whether its tiles touch rows together with another
# dimension's; `first`: the first node behind so many cuts, `steps` the steps behind them; `still`:
# see `sums.fill_coupled`
Dim: Any = record(
    "cuts fans windowed runs moves still_at",
    **each(LEVELS, "cuts_at lead"),
    first=CUTS + 2,
    steps=CUTS + 1,
    still=EVENTS + 1,
    cut=(Cut, CUTS),
    node=(Node, NODES),
    run=(Run, RUNS),
    move=(Move, MOVES),
)
Loop: Any = record("dim cut")
# instances along a dimension: `count` with like tiles, `pitch` apart
Places: Any = record("start now before count pitch group")
# how instances are listed, and how many places and groups there are: `lead`: levels whose first
# unit alone is listed; `own`: levels whose units are groups of their own; `spread`: the last cut
# with more than one unit; `start`: that of the lead where padding may be near, else 0
Listing: Any = record("dim cuts lead own spread places groups start")
Known: Any = record("key found")
# a move that an event leads to, and in how many steps
Turn: Any = record("move times")
# `read_shift`: the rate's logarithm where it is a power of two, else -1; `meter`: the clock level
# whose steps its cycles are rounded up for; `begun`: bits of first tiles; `rows`: see
# `rows.asked_rows`, and `lanes` those that MACs read
Port: Any = record(
    "level read write read_shift write_shift both meter begun", **each(PAIRS, "rows lanes")
)
# `dims`: those of the tensor
Link: Any = record("tensor port dims")
# a level that has steps of its own. `outer`: ports outside it; `first`: the first port that steps
# of it, or inside it, can use, `through` those of them outside it; `links`: tensors that its steps
# move, and through which port. `here`: the nodes of the step around; `move` and `now`: how the step
# is reached, and its nodes; `moved`: dimensions that moved; `loop`: those that iterate, outermost
# first; `low` and `high`: the first of the two cases of a `Span` that are worked out, and the one
# behind the last; `slot`: the place in the memo where steps are added; `fresh`: whether no loop
# around its steps is of a reduced dimension, so that sums come back at first in none of them
ClockLevel: Any = record(
    "level outer first links moved loops low high slot fresh",
    through=PORTS,
    **each(DIMS, "here move now loop"),
    link=(Link, TENSORS * PORTS),
)
# the port of a level's first instance: bits, cycles, and those of them that bind
Passed: Any = record("into out busy_in busy_out bind_in bind_out")
Case: Any = record("time", port=(Passed, PORTS))
# steps together, if partial sums come back in none of the first, and in all; `again`: whether the
# two differ; if not, the first holds. `low` and `high`: nodes of the step around them
Span: Any = record("low high again", cases=(Case, 2))
# `bits`: what an instance needs room for
Counts: Any = record(
    "macs compute latency bind_compute",
    **each(LEVELS, "steps active drain add bits"),
    **each((TENSORS, LEVELS), "fill tiles peak"),
    read=(TENSORS, LEVELS, LEVELS),
    **each((LEVELS, LEVELS), "write refill"),
    port=(Passed, LEVELS),
)
# `full`: the innermost level whose capacity tiles exceed; `deepest`: the last that dimensions are
# cut for; `cut_dim`: the `dims` dimensions with cuts; `apart`: a tensor's dimensions, of inputs
# those without rows; `plain`: extents of those without cuts; `part`: its `parts` with cuts;
# `looping`: levels with loops; `loops_to`: loops of a level and of those outside; `known`: what
# ports and keepers follow from, -1 if it is another nest; `alone`: levels whose units share no
# transfer; `windowed`: dimensions whose tiles touch rows together; `turns`: cycles of dimensions
# without cuts; `shares_lanes`: whether MACs of an instance may want the same element; `own_room`:
# bits that a memory holds of tensors apart; `padding`: PADDING where MACs read padding; `asked`:
# whose rows are summed, see `rows.asked_rows`; `near`: whether rows at hand may be padding;
# `y_shift`, `t_shift`: how far their outputs and taps moved; `lacking`: whether it is asked which
# are lacking; `memo_at`: stamp and slot of what a hash stands for; `nothing`: counts of 0
Work: Any = record(
    "status full stamp deepest dims looping known windowed turns shares_lanes padding loops"
    " near y_shift t_shift lacking intervals ports clocks dram_width",
    **each(DIMS, "cut_dim event"),
    **each(TENSORS, "apart plain parts any_alone own_room"),
    **each((TENSORS, DIMS), "part alone"),
    keeper=(TENSORS, LEVELS),
    loop=(Loop, LOOPS),
    **each(LEVELS, "loops_to memos"),
    sums=(DIMS, EVENTS + 1),
    **each(PAIRS, "asked turned"),
    path=(PAIRS, CUTS),
    **each(INTERVALS, "low high"),
    memo_at=(LEVELS, MEMO),
    listing=(Listing, PAIRS),
    around=(Places, CUTS + 1),
    place=(Places, (PAIRS, PLACES)),
    rows=(Known, KNOWN),
    pair_sum=(Known, PAIR_SUMS),
    turn=(Turn, (PAIRS, MOVES)),
    port=(Port, PORTS),
    clock=(ClockLevel, LEVELS),
    span=(Span, LEVELS),
    memo=(Span, (LEVELS, MEMO)),
    nest=(Nest, ()),
    counts=(Counts, ()),
    nothing=(Counts, ()),
    dim=(Dim, DIMS),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


L2, CLUSTERS, L1, MACS = 1, 2, 3, 4
"""Places in the chain; DRAM is 0."""
MALFORMED = -1
"""In place of a reason code: no mapping at all."""
COUNT_NAMES: Final = _words(
    "dram_in dram_fil dram_out_w dram_out_r l2_peak macs steps active_pe_steps compute_cycles"
    " l2r_in l1w_in l2r_in_tile l2r_fil l1w_fil l2r_fil_tile l2w_out l1drain_out l2w_out_tile"
    " l2r_psum l1_peak latency noc_in_cycles noc_out_cycles dram_in_cycles dram_out_cycles"
    " outer_steps"
)
"""Names of the counts, as the reference file's columns have them."""
BOUND_NAMES: Final = ("bound_compute", "bound_noc_in", "bound_noc_out", "bound_dram")
"""Names of the cycles of the latency by what binds them."""
WIDE_NAMES: Final = _words(
    "dram_in_direct dram_fil_direct dram_out_w_direct dram_out_r_direct"
    " l1_skipped_in l1_skipped_fil l1_skipped_out l2_bits l1_bits"
)
"""Counts of chips and mappings that are not plain: elements between DRAM and PEs that bypass L2
(parts of the DRAM counts), L1 accesses that bypass removes (one a MAC, and one a partial sum that
is read back), and what buffers must hold [bits]."""

# a mapping of two levels, as in a `MappingBatch`
MappingRow: Any = np.dtype(
    [
        ("orders", "i1", (2, DIMS)),
        ("parallel", "i1", (2,)),
        ("parallel2", "i1", (2,)),
        ("bypass", "?", (2, TENSORS)),
        ("tiles", "i4", (2, DIMS)),
        ("cluster_size", "i4"),
        ("num_pes", "i4"),
        ("units", "i4", (2,)),
    ],
    align=True,
)
CountRow: Any = record(" ".join((*COUNT_NAMES, *BOUND_NAMES, *WIDE_NAMES)))
