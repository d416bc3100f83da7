"""Where the kernel keeps what: dimension numbers, work tables, and the columns of a result row."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntTable: TypeAlias = NDArray[np.int64]
"""A table of integers; the comments below give the meaning of each field."""
SegTable: TypeAlias = NDArray[np.int64]
RowTable: TypeAlias = NDArray[np.int64]
MoveTable: TypeAlias = NDArray[np.int64]

# dimensions, in the order of ``layers.DIMS``; Y and X are output rows and columns
K: Final = 0
C: Final = 1
Y: Final = 2
X: Final = 3
R: Final = 4
S: Final = 5
N: Final = 6
G: Final = 7
ALL_DIMS: Final = 8
NEST_DIMS: Final = 6  # without N and G, where both are 1

# tensors of one nest, without N and G, as bit masks of the dimensions they are coupled to
INPUT_MASK: Final = (1 << C) | (1 << Y) | (1 << X) | (1 << R) | (1 << S)
FILTER_MASK: Final = (1 << K) | (1 << C) | (1 << R) | (1 << S)
OUTPUT_MASK: Final = (1 << K) | (1 << Y) | (1 << X)
DEPTHWISE_OUTPUT_MASK: Final = (1 << C) | (1 << Y) | (1 << X)

# dimensions of the input that its rows and columns do not depend on, as a bit mask
PLAIN_MASK: Final = (1 << C) | (1 << N) | (1 << G)

# --- table `dims[d, field]`: one dimension over all its steps ---------------------------------
# The outer steps of a dimension fall into one or two classes: 0 holds the first step, 1 the last
# one where it is smaller. A dimension is "still" in an outer step that its inner loop covers in
# one iteration.
EXTENT: Final = 0
OUTER: Final = 1  # N: iterations of the outer loop
CLASSES: Final = 2
COUNT: Final = 3  # +class: outer steps in the class
SPAN: Final = 5  # +class: union over the clusters in one such step
INNER: Final = 7  # +class: m, iterations of the inner loop
SEGMENTS: Final = 9  # +class
STEPS: Final = 11  # inner iterations summed over outer ones
LEAD_SUM: Final = 12  # PE (0, 0)'s tile summed over all steps
PLACES: Final = 13  # PE tiles: active positions summed over all steps
PLACES_J0: Final = 14  # active positions at inner iteration 0, summed over outer ones
PLACES_FIRST: Final = 15  # active positions in the very first step
STILL: Final = 16  # +subset (0 = all steps, 1 = still steps): elements of the dimension
INNER_WIDTH: Final = 18  # w: what one inner iteration covers of a cluster's tile
OUTER_WIDTH: Final = 19  # W: what one outer iteration covers
PE_TILE: Final = 20  # tile of one PE
DIM_FIELDS: Final = 21

# --- table `segs[d, 4 * class + segment, field]`: inner iterations that are alike -------------
REPEAT: Final = 0  # inner iterations in the segment; segment 0 holds iteration 0
LEAD: Final = 1  # PE (0, 0)'s tile
UNION: Final = 2  # union over all PEs
BLOCKS: Final = 3  # clusters with a non-empty range
BLOCK: Final = 4  # union of cluster 0
POSITIONS: Final = 5  # active positions
OVER: Final = 6  # sum over positions of what a range has beyond `gap` (see `dims.fill_segment`)
SEG_FIELDS: Final = 7
MAX_SEGMENTS: Final = 4
ROW_KEYS: Final = 8  # 2 classes x MAX_SEGMENTS

# --- `hw`: the layer, the accelerator and the options, as integers ----------------------------
HW_EXTENT: Final = 0  # +dimension
HW_DIMS: Final = 8  # NEST_DIMS or ALL_DIMS
HW_STRIDE: Final = 9  # +pair (0 rows, 1 columns): distance of outputs, see `layers_rows`
HW_STEP: Final = 11  # +pair: distance of taps
HW_INPUT: Final = 13  # dimensions that each tensor is coupled to, as a bit mask
HW_FILTER: Final = 14
HW_OUTPUT: Final = 15
HW_PES: Final = 16
HW_L1: Final = 17  # bytes, -1 = unlimited
HW_L2: Final = 18
HW_NOC: Final = 19  # elements per cycle
HW_OFFCHIP: Final = 20
HW_NOC_SHIFT: Final = 21  # the bandwidth's logarithm where it is a power of two, else -1
HW_OFFCHIP_SHIFT: Final = 22
HW_LANES: Final = 23
HW_HALO: Final = 24  # HALO_NONE or HALO_RETAIN
HW_TILE: Final = 25
HW_BOUND: Final = 26
HW_BUFFERS: Final = 27  # copies of each tile that a buffer holds: 2 with double buffering
HW_FIELDS: Final = 28

HALO_NONE: Final = 0
HALO_RETAIN: Final = 1

# --- a result row -----------------------------------------------------------------------------
COUNT_NAMES: Final = (
    "dram_in",
    "dram_fil",
    "dram_out_w",
    "dram_out_r",
    "l2_peak",
    "macs",
    "steps",
    "active_pe_steps",
    "compute_cycles",
    "l2r_in",
    "l1w_in",
    "l2r_in_tile",
    "l2r_fil",
    "l1w_fil",
    "l2r_fil_tile",
    "l2w_out",
    "l1drain_out",
    "l2w_out_tile",
    "l2r_psum",
    "l1_peak",
    "latency",
    "noc_in_cycles",
    "noc_out_cycles",
    "dram_in_cycles",
    "dram_out_cycles",
    "outer_steps",
)
"""Names of the counts, as the reference file's columns have them."""
(
    DRAM_IN,
    DRAM_FIL,
    DRAM_OUT_W,
    DRAM_OUT_R,
    L2_PEAK,
    MACS,
    ALL_STEPS,
    ACTIVE_PE_STEPS,
    COMPUTE,
    L2R_IN,
    L1W_IN,
    L2R_IN_TILE,
    L2R_FIL,
    L1W_FIL,
    L2R_FIL_TILE,
    L2W_OUT,
    L1DRAIN_OUT,
    L2W_OUT_TILE,
    L2R_PSUM,
    L1_PEAK,
    LATENCY,
    NOC_IN,
    NOC_OUT,
    DRAM_IN_CYCLES,
    DRAM_OUT_CYCLES,
    OUTER_STEPS,
) = range(26)
BOUND_NAMES: Final = ("bound_compute", "bound_noc_in", "bound_noc_out", "bound_dram")
"""Names of the cycles of the latency by what binds them; they follow the counts in a row."""
BOUND_COMPUTE: Final = 26
BOUND_NOC_IN: Final = 27
BOUND_NOC_OUT: Final = 28
BOUND_DRAM: Final = 29
ROW_FIELDS: Final = 30

# what follows in the row of a mapping that is counted with the table `wide`
WIDE_NAMES: Final = (
    "dram_in_direct",
    "dram_fil_direct",
    "dram_out_w_direct",
    "dram_out_r_direct",
    "l1_skipped_in",
    "l1_skipped_fil",
    "l1_skipped_out",
    "l2_bits",
    "l1_bits",
)
"""Elements between DRAM and PEs that pass L2 (parts of the DRAM counts), accesses that L1 is spared
(an access a MAC, and one a partial sum that is read back), and what buffers must hold [bits]."""
DRAM_IN_DIRECT: Final = 30
DRAM_FIL_DIRECT: Final = 31
DRAM_OUT_W_DIRECT: Final = 32
DRAM_OUT_R_DIRECT: Final = 33
SKIPPED_IN: Final = 34
SKIPPED_FIL: Final = 35
SKIPPED_OUT: Final = 36
L2_BITS: Final = 37
L1_BITS: Final = 38
WIDE_ROW_FIELDS: Final = 39

# --- `wide`: what else is known of a chip and a mapping; None where nothing else is -----------
WIDTH: Final = 0  # +tensor: bits of an element; 3: of a partial sum
NOC_IN_BW: Final = 4  # bits per cycle: to the PEs, from them, from DRAM, to DRAM
NOC_OUT_BW: Final = 5
DRAM_IN_BW: Final = 6
DRAM_OUT_BW: Final = 7
LEVEL_FIELDS: Final = 8
SHARED: Final = 8  # +LEVEL_FIELDS * level (0 = L2, 1 = L1): bits for all tensors, -1 = unlimited
OWN: Final = 9  # +LEVEL_FIELDS * level + tensor: bits for it alone, -1 = shared
COPIES: Final = 12  # +LEVEL_FIELDS * level + tensor: copies of its tile
CHIP_PASSES: Final = 15  # +LEVEL_FIELDS * level: tensors that the chip does not hold there
BOX: Final = 24  # whether an input tile counts what lies between its rows and columns
FREE: Final = 25  # whether padding is not counted
PAD_LOW: Final = 26  # +pair: rows (columns) of padding before the input's
PAD_END: Final = 28  # +pair: where the padding after them begins
TRUE_STRIDE: Final = 30  # +pair
TRUE_STEP: Final = 32  # +pair: dilation
SECOND: Final = 34  # +level: the second parallel dimension, -1 = none
UNITS: Final = 36  # +level: units of the first one
PASSES: Final = 38  # +level: bit mask of the tensors that the mapping has pass it
LEAVE: Final = 40  # bits of an output element on its way to DRAM
SPREAD: Final = 41  # dimensions that the mapping spreads over units, as a bit mask
WIDE_FIELDS: Final = 42
INPUT: Final = 1  # tensors in a bit mask
FILTER: Final = 2
OUTPUT: Final = 4
