"""Records of the kernel: a nest, how its dimensions are cut, its counts, and the work space.

All fields are whole numbers. Levels are numbered as in :mod:`cost_models.exact.nest`: 0 is DRAM,
the MACs come after the last. Sets of dimensions, tensors or levels are bit masks. Node, run and
move numbers index the arrays of their dimension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

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

if TYPE_CHECKING:  # in a kernel a record is a type
    Window: TypeAlias = Any
    Level: TypeAlias = Any
    Nest: TypeAlias = Any
    Cut: TypeAlias = Any
    Node: TypeAlias = Any
    Run: TypeAlias = Any
    Move: TypeAlias = Any
    Dim: TypeAlias = Any
    Loop: TypeAlias = Any
    Places: TypeAlias = Any
    Listing: TypeAlias = Any
    Rows: TypeAlias = Any
    PairSum: TypeAlias = Any
    Port: TypeAlias = Any
    Link: TypeAlias = Any
    ClockLevel: TypeAlias = Any
    Span: TypeAlias = Any
    Passed: TypeAlias = Any
    Counts: TypeAlias = Any
    Work: TypeAlias = Any
else:
    # rows = stride * output + dilation * tap; those from `low` to `high` count
    Window = np.dtype(
        [
            ("stride", "i8"),
            ("dilation", "i8"),
            ("box", "i8"),
            ("padded", "i8"),
            ("low", "i8"),
            ("high", "i8"),
            ("live", "i8"),  # whether rows are more than outputs under other names
        ],
        align=True,
    )
    Level = np.dtype(
        [
            ("tile", "i8", (DIMS,)),
            ("units", "i8", (DIMS,)),
            ("order", "i8", (DIMS,)),
            ("keeps", "i8"),  # tensors
            ("alone", "i8", (TENSORS,)),  # dimensions whose units share no transfer
            ("port", "i8"),  # whether it has one
            ("read", "i8"),  # units of bits a cycle
            ("write", "i8"),
            ("both", "i8"),  # whether `read` is for both directions together
            ("copies", "i8", (TENSORS,)),
            ("shared_bits", "i8"),  # capacity; -1 for none
            ("own_bits", "i8", (TENSORS,)),
            ("joined", "i8"),
        ],
        align=True,
    )
    Nest = np.dtype(
        [
            ("extents", "i8", (DIMS,)),
            ("depth", "i8"),
            ("levels", Level, (LEVELS,)),
            ("coupled", "i8", (TENSORS,)),  # dimensions
            ("windows", Window, (PAIRS,)),
            ("widths", "i8", (TENSORS,)),  # of an element, in units of `unit` bits
            ("partial", "i8"),  # a partial sum's
            ("unit", "i8"),
            ("lanes", "i8"),  # MACs that take whatever is next
            ("retain", "i8"),
            ("whole_tiles", "i8"),
            ("stepwise", "i8"),
            ("every", "i8"),  # whether what no figure needs is counted too
        ],
        align=True,
    )
    # a level that loops over a dimension, or spreads it over units
    Cut = np.dtype(
        [("level", "i8"), ("tile", "i8"), ("units", "i8"), ("width", "i8"), ("instances", "i8")],
        align=True,
    )
    # steps in which all instances have tiles of the same shape
    Node = np.dtype(
        [
            ("parent", "i8"),
            ("at", "i8"),  # counter of the first of these steps within its parent
            ("lead", "i8"),  # tile of the first instance
            ("base", "i8"),  # where it starts, if padding may be near; else -1
            ("times", "i8"),  # steps of this shape in the nest
            ("run", "i8"),  # runs of the next cut inside it
            ("runs", "i8"),
            ("stay", "i8"),  # the move that is none
            ("total", "i8"),  # tiles of all instances together
            ("active", "i8"),  # instances with a tile
            ("cuts", "i8"),  # cuts that it lies behind
            ("turns", "i8"),  # cycles of the lead's tile on the lanes of this dimension
            ("span", "i8", (PORTS,)),  # tiles below the first instance of a port's level
            ("kinds", "i8"),
            ("size", "i8", (KINDS,)),  # different tiles,
            ("count", "i8", (KINDS,)),  # and how many instances have each
        ],
        align=True,
    )
    # consecutive counters of a cut whose steps have one shape
    Run = np.dtype(
        [("node", "i8"), ("at", "i8"), ("count", "i8"), ("enter", "i8"), ("within", "i8")],
        align=True,
    )
    # from one step's tiles to the next one's; `shift` is how far the lead's start moves
    Move = np.dtype([("old", "i8"), ("new", "i8"), ("shift", "i8"), ("down", "i8")], align=True)
    Dim = np.dtype(
        [
            ("cut", Cut, (CUTS,)),
            ("cuts", "i8"),
            ("cuts_at", "i8", (LEVELS,)),  # cuts down to a level
            ("fans", "i8"),  # levels with more than one unit
            ("windowed", "i8"),  # whether its tiles touch rows together with another dimension's
            ("first", "i8", (CUTS + 2,)),  # the first node behind so many cuts
            ("node", Node, (NODES,)),
            ("runs", "i8"),
            ("run", Run, (RUNS,)),
            ("moves", "i8"),
            ("move", Move, (MOVES,)),
            ("steps", "i8", (CUTS + 1,)),  # steps behind so many cuts
            ("still", "i8", (EVENTS + 1,)),  # see `sums.fill_still`
            ("still_at", "i8"),
        ],
        align=True,
    )
    Loop = np.dtype([("dim", "i8"), ("cut", "i8"), ("level", "i8")], align=True)
    # instances along a dimension: `count` with like tiles, `pitch` apart
    Places = np.dtype(
        [
            ("start", "i8"),
            ("now", "i8"),
            ("before", "i8"),
            ("count", "i8"),
            ("pitch", "i8"),
            ("group", "i8"),
        ],
        align=True,
    )
    # how instances are listed, and how many places and groups there are
    Listing = np.dtype(
        [
            ("dim", "i8"),
            ("cuts", "i8"),
            ("lead", "i8"),  # levels whose first unit alone is listed
            ("own", "i8"),  # levels whose units are groups of their own
            ("spread", "i8"),  # the last cut with more than one unit
            ("places", "i8"),
            ("groups", "i8"),
            ("start", "i8"),  # of the lead: where padding may be near, else 0
        ],
        align=True,
    )
    Rows = np.dtype([("key", "i8"), ("own", "i8"), ("kept", "i8")], align=True)
    PairSum = np.dtype([("key", "i8"), ("found", "i8")], align=True)
    Port = np.dtype(
        [
            ("level", "i8"),
            ("read", "i8"),
            ("write", "i8"),
            ("read_shift", "i8"),  # the rate's logarithm where it is a power of two, else -1
            ("write_shift", "i8"),
            ("both", "i8"),
            ("meter", "i8"),  # the clock level whose steps its cycles are rounded up for
            ("first", "i8"),  # bits of first tiles
            ("rows", "i8", (PAIRS,)),  # see `rows.asked_rows`
        ],
        align=True,
    )
    Link = np.dtype([("tensor", "i8"), ("port", "i8")], align=True)
    # a level that has steps of its own
    ClockLevel = np.dtype(
        [
            ("level", "i8"),
            ("outer", "i8"),  # ports outside it
            ("first", "i8"),  # the first port that steps of it, or inside it, can use
            ("through", "i8", (PORTS,)),  # whether a step can use a port outside it
            ("links", "i8"),  # tensors that its steps move, and through which port
            ("link", Link, (TENSORS * PORTS,)),
            ("here", "i8", (DIMS,)),  # node of the step around
            ("move", "i8", (DIMS,)),
            ("now", "i8", (DIMS,)),  # node of the step
            ("moved", "i8"),  # dimensions
            ("loop", "i8", (DIMS,)),  # dimensions that iterate, outermost first
            ("loops", "i8"),
            ("low", "i8"),  # the first of the two cases of a `Span` that are worked out,
            ("high", "i8"),  # and the one behind the last
            ("slot", "i8"),  # place in the memo: what is added up
        ],
        align=True,
    )
    # steps together: cycles and bits, if partial sums come back in none of the first, and in all
    Span = np.dtype(
        [
            ("low", "i8"),  # the step around them: nodes of its dimensions
            ("high", "i8"),
            ("again", "i8"),  # whether the two differ; if not, the first holds
            ("time", "i8", (2,)),
            ("into", "i8", (PORTS, 2)),
            ("out", "i8", (PORTS, 2)),
            ("busy_in", "i8", (PORTS, 2)),
            ("busy_out", "i8", (PORTS, 2)),
            ("bind_in", "i8", (PORTS, 2)),
            ("bind_out", "i8", (PORTS, 2)),
        ],
        align=True,
    )
    # the port of a level's first instance: bits, cycles, and those of them that bind
    Passed = np.dtype(
        [(f, "i8") for f in ("into", "out", "busy_in", "busy_out", "bind_in", "bind_out")],
        align=True,
    )
    Counts = np.dtype(
        [
            ("fill", "i8", (TENSORS, LEVELS)),
            ("read", "i8", (TENSORS, LEVELS, LEVELS)),
            ("tiles", "i8", (TENSORS, LEVELS)),
            ("write", "i8", (LEVELS, LEVELS)),
            ("refill", "i8", (LEVELS, LEVELS)),
            ("drain", "i8", (LEVELS,)),
            ("add", "i8", (LEVELS,)),
            ("port", Passed, (LEVELS,)),
            ("steps", "i8", (LEVELS,)),
            ("active", "i8", (LEVELS,)),
            ("peak", "i8", (TENSORS, LEVELS)),
            ("bits", "i8", (LEVELS,)),  # what an instance needs room for
            ("macs", "i8"),
            ("compute", "i8"),
            ("latency", "i8"),
            ("bind_compute", "i8"),
        ],
        align=True,
    )
    Work = np.dtype(
        [
            ("nest", Nest),
            ("counts", Counts),
            ("dim", Dim, (DIMS,)),
            ("status", "i8"),
            ("full", "i8"),  # the innermost level whose capacity tiles exceed
            ("stamp", "i8"),
            ("deepest", "i8"),  # the last level that dimensions are cut for
            ("dims", "i8"),  # dimensions with cuts,
            ("cut_dim", "i8", (DIMS,)),
            ("plain", "i8", (TENSORS,)),  # extents of coupled dimensions without any
            ("parts", "i8", (TENSORS,)),  # coupled dimensions with cuts; of inputs without windows
            ("part", "i8", (TENSORS, DIMS)),
            ("looping", "i8"),  # levels with loops
            ("known", "i8"),  # what ports and keepers follow from; -1 if it is another nest
            ("alone", "i8", (TENSORS, DIMS)),  # levels whose units share no transfer
            ("any_alone", "i8", (TENSORS,)),
            ("windowed", "i8"),  # dimensions whose tiles touch rows together
            ("turns", "i8"),  # cycles of dimensions without cuts
            ("shares_lanes", "i8"),  # whether MACs of an instance may want the same element
            ("own_room", "i8", (TENSORS,)),  # bits that a memory holds of tensors apart
            ("padding", "i8"),  # PADDING where MACs read padding
            ("keeper", "i8", (TENSORS, LEVELS)),
            ("loop", Loop, (LOOPS,)),
            ("loops", "i8"),
            ("sums", "i8", (DIMS, EVENTS + 1)),
            ("event", "i8", (DIMS,)),
            ("listing", Listing, (PAIRS,)),
            ("place", Places, (PAIRS, PLACES)),
            ("around", Places, (CUTS + 1,)),
            ("path", "i8", (PAIRS, CUTS)),
            ("near", "i8"),  # whether rows at hand may be padding
            ("intervals", "i8"),
            ("low", "i8", (INTERVALS,)),
            ("high", "i8", (INTERVALS,)),
            ("rows", Rows, (KNOWN,)),
            ("pair_sum", PairSum, (PAIR_SUMS,)),
            ("port", Port, (PORTS,)),
            ("ports", "i8"),
            ("clock", ClockLevel, (LEVELS,)),
            ("clocks", "i8"),
            ("span", Span, (LEVELS,)),
            ("memo", Span, (LEVELS, MEMO)),
            ("memos", "i8", (LEVELS,)),
            ("memo_at", "i8", (LEVELS, MEMO)),  # stamp and place of what a hash stands for
            ("dram_width", "i8"),
        ],
        align=True,
    )
