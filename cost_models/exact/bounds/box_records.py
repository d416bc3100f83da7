"""Records of the bounds: one problem, what it offers and costs, and the work space of a box.

A box is a set of mappings: one allocation, and a range of tiles for each dimension and level. The
outer level are the clusters' tiles, which L2 holds; the inner one those of PEs, which L1 holds.
Whatever crosses DRAM's boundary does so in outer steps, what crosses the NoC in inner ones. Sets of
dimensions or tensors are bits.
"""

from __future__ import annotations

from typing import Any

from cost_models.exact.records import DIMS, PAIRS, REAL, TENSORS, P, Q, R, S, record

__all__ = ["DIMS", "PAIRS", "TENSORS", "P", "Q", "R", "S"]

IN, FILTER, OUT = range(TENSORS)
OUTER, INNER = range(2)
FIRST, TRIED = 2, 3
"""Kinds of tiles whose elements are asked for, besides the least that L2 and an L1 hold at a time
(`OUTER`, `INNER`): what all PEs cover in the first step, at least; one that is tried."""
WINDOW, PSUMS = TENSORS, TENSORS + 1
"""Flows besides those of the tensors: the input while its window moves on, the output while
loops over taps iterate."""
TAPS, NOTHING, EVERYTHING = TENSORS, TENSORS + 1, TENSORS + 2
"""In place of the tensor that stays where it is: the output while loops over taps iterate, so
that the innermost other loop is not known; none, as the innermost loop is coupled to all; all, as
no loop iterates."""
WAYS = NOTHING + 1
OUTER_ROWS, NOC_ROWS, PE_ROWS, HELD_ROWS = range(4)
"""Input rows that L2 takes in outer steps; that cross the NoC, and that PEs take, in inner steps;
that cross the NoC once per outer step."""
TAP_LOOPS, WINDOWS = 3 << R, 15 << P
"""Taps; these and the output rows and columns, which slide over the input together."""
LIMITS = 4
"""Most capacities of a level."""
SCANNED = 24
"""Most outer tiles of a range that are looked at one by one for ragged last steps."""

# energies [nJ] of an element over DRAM's boundary (of an output that went there before, as over the
# NoC), of a distinct one over the NoC, of one that a PE receives or gives; of all that no mapping
# changes (`base`), of a cycle, and of a cycle of a PE
Price: Any = record(
    "",
    "base leakage pe_leakage",
    dram=(REAL, TENSORS),
    noc=(REAL, TENSORS),
    pe=(REAL, TENSORS),
)
# a capacity [bits], and what an element of each tensor takes of it
Room: Any = record("", "bits input filter output")
# `power`: how often latency, energy and area are factors of the objective; `fills`: whether the
# first tiles' fills come before all else; `phases`: whether what outer steps move is all that
# crosses DRAM's boundary in them; `bypass_l2` and `bypass_l1`: tensors that bypass L2, and L1;
# `refused`: whether no mapping may have so many bypass a level; `loose`: whether little is known of
# what input tiles share; `free`: whether padding is (then `bits` of an input are those of a real
# one); `sizes`: rows of a table of prices. `stride` and `dilation`: distances of outputs and of
# taps in rows; `size`: a tensor's elements, the input's without rows, columns and taps; `bits` of
# an element over a level's boundary, the output's of a partial sum, over DRAM's 0 of one that is
# whole in L2; `leave`: bits at least of an output that goes to DRAM where none is read back; `into`
# and `out`: bandwidths of DRAM's boundary and of the NoC [bits/cycle], or inf; `most_cycles` and
# `most_energy`: limits; `area` of a bit that L2, or every L1, must hold; `held`: what an element
# takes of a level; `scale`: rows of a table of prices per doubling of a size
Problem: Any = record(
    "retain fills phases bypass_l2 bypass_l1 refused loose free sizes",
    "leave most_cycles most_energy lanes",
    power=3,
    coupled=TENSORS,
    slots=2,
    slot=(Room, (2, LIMITS)),
    held=(Room, 2),
    stride=(REAL, PAIRS),
    dilation=(REAL, PAIRS),
    size=(REAL, TENSORS),
    bits=(REAL, (2, TENSORS)),
    into=(REAL, 2),
    out=(REAL, 2),
    area=(REAL, 2),
    scale=(REAL, 2),
    fixed=(Price, ()),
)
# of a dimension, by place: outer and inner tiles in ascending order (`tile`), and which share of it
# a smaller last step of such an outer tile has, not in parallel, where an inner tile may cover that
# step but not the others; by number, from 0 to the extent: the smallest inner tile at or above it,
# and the largest tiles at or below it
Offer: Any = record("", "uneven above", tile=(REAL, 2), below=(REAL, 2))
# ways of spreading a level's units: along each dimension, and the dimensions in parallel
Fan: Any = record("spread", units=DIMS)
# a cluster size and number of PEs: its first way of spreading clusters, how many it has, the same
# of PEs; its first allocation; PEs in use, and area but for what buffers must hold [um^2]
ArrayRow: Any = record("outer outers inner inners start", "pes area")

# what a dimension's ranges of tiles allow at best. `at`: its first `Offer`; `units`: clusters along
# it; `members`: PEs of a cluster; `low` and `high`: smallest and largest tiles; `tile`: see
# `FIRST`; `steps`: outer steps, and inner ones summed over them, at least (`most_steps`: at most;
# `blocks`: every cluster's counted); `cluster_tiles`: outer tiles in all, at least; `places`: inner
# ones; `first_places`: active PEs at the first inner step, summed over outer ones, at least;
# `holders`: PEs side by side that ever work, at least; `ragged`: share in a last outer step that
# may be still; `part`: smallest outer tile of cluster 0 in the last step; `lead`: elements of the
# busiest PE, at least; `first_lead`: those in the first outer step, and, where tiles are known, in
# the first inner step of each outer one; `first_span`: what all units cover in those
BoxDim: Any = record(
    "at",
    "extent units members cluster_tiles most_steps blocks places first_places holders ragged part"
    " lead",
    low=(REAL, 2),
    high=(REAL, 2),
    tile=(REAL, 4),
    steps=(REAL, 2),
    first_lead=(REAL, 2),
    first_span=(REAL, 2),
)
# rows summed over steps, every step's in full (`each`), where the window moves along this axis
# (`once`), and without what a tile needs beyond its stride (`flat`); what a run of its loop
# saves at most after a loop that leaves the input alone (`wrap`), and after one of the other axis
# (`corner`); steps
RowSums: Any = record("", "each once flat wrap corner steps")
# distinct elements over the NoC in every inner step, and what PEs receive or give then; those once
# per outer step; every element once to each PE that ever works with it; what MACs touch, moment by
# moment, of a tensor that bypasses L1, else 0
Flow: Any = record("", "each each_pe kept kept_pe once_pe served")
# cycles of the first fills, outside all else (`fill`); of the busiest PE, and its MACs over its
# lanes without rounding; of the first outer step, which hide no load from DRAM; bits that may cross
# DRAM's boundary in the first fill's whole cycles (`loaded`), and the NoC in the first feed's
Clock: Any = record("", "fill compute macs first_step loaded fed")
# what stays in L2: cycles (inf where it can't), energy, and bits that it loads
Way: Any = record("", "cycles energy loads")
# what stays in the PEs; share of steps in which another loop may be innermost; share of the tensor,
# and of the input while loops over taps iterate, that PEs may hold over outer steps; cycles at
# least
Staying: Any = record("stays", "ragged held window cycles")
# `bypass`: row of `Problem`, `arrays` that there are; `spread`: dimensions in parallel; `still`:
# those whose inner loop may be still throughout, `moves`: those where it may iterate; `outer_taps`:
# whether outer loops over taps may iterate while buffers keep what they hold, `taps`: or inner ones
Box: Any = record(
    "bypass arrays spread still moves outer_taps taps",
    "pes area scale",
    dim=(BoxDim, DIMS),
    rows=(RowSums, (PAIRS, 4)),
    dram=(REAL, (WAYS, TENSORS)),
    flow=(Flow, PSUMS + 1),
    way=(Way, WAYS),
    clock=(Clock, ()),
    price=(Price, ()),
    inner=(Staying, ()),
    problem=(Problem, ()),
)
