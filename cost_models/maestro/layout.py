"""Where the kernel keeps what: one flat integer array a thread, in blocks of one cluster level.

An entry of level `l` is ``work[l * LEVEL_SIZE + ROW + index]``; the constants below are the rows.
One flat array keeps the calls small.
"""

from __future__ import annotations

from typing import NamedTuple

VARIABLES = "CGKMNRSXY"
"""Dimension names in the alphabetical order in which MAESTRO completes a level."""
C, G, K, M, N, R, S, X, Y = range(9)
NUM_VARIABLES = 9
MAX_LEVELS = 4
MAX_MAPS = 10
"""More than a level can have: each of the 9 variables once."""

# A program: its maps by level and row, see PROGRAM.
P_VAR, P_SPATIAL, P_PRIME, P_SIZE, P_OFFSET = range(5)
PROGRAM_ROWS = 5

# A layer: layer[entry]. The extents come first, 0 where the layer has no such dimension.
STRIDE = NUM_VARIABLES
MASK_INPUT, MASK_FILTER, MASK_OUTPUT = (NUM_VARIABLES + i for i in (1, 2, 3))
REPEATS, DEPTHWISE = NUM_VARIABLES + 4, NUM_VARIABLES + 5
LAYER_ENTRIES = NUM_VARIABLES + 6

# A mapping's arrays, dimensions in the order KCYXRSNG.
NUM_DIMS, NEST = 8, 6
"""All, and those of the nest, which come first; the others repeat it."""
DIM_K, DIM_Y, DIM_X, DIM_R, DIM_S = 0, 2, 3, 4, 5
VARIABLE_OF_DIM = (K, C, Y, X, R, S, N, G)

# An accelerator: hardware[entry]. Limits are -1 where there is none.
NUM_PES, NOC_BW, OFFCHIP_BW, LANES, NOC_GIVEN, L1_LIMIT, L2_LIMIT = range(7)
HARDWARE_ENTRIES = 7

# Static tables of a level, by directive. TILE is the tile's elements, LAST an edge tile's, NEW and
# LAST_NEW their new elements; the O_ rows are the same of the output (they differ on X and Y only).
# MADE and MADE_LAST are what MACs count: the O_ row where the output is coupled.
_W = MAX_MAPS
VAR, SPATIAL, TILE, OFFSET, LAST, NEW, LAST_NEW = (_W * i for i in range(7))
O_TILE, O_LAST, O_NEW, O_LAST_NEW, MADE, MADE_LAST = (_W * i for i in range(7, 13))
BIT, COUPLED = _W * 13, _W * 14
"""Bit of a directive in a set of edge tiles (0 if the edge tile is whole); and its tensors."""
IN_INPUT, IN_FILTER, IN_OUTPUT = 1, 2, 4

_HEAD = _W * 15
COUNT, UNITS, EDGE_UNITS, FIRST, SECOND = (_HEAD + i for i in range(5))
"""Directives, sub-clusters, sub-clusters of an edge step, and the spatial maps (-1: no second)."""

# Multipliers of the spatial maps, by the pattern both are in: SHARE + pattern * SHARE_ROWS + row.
PLAIN, SHORT, TAIL, RAGGED_TAIL = range(4)
"""Patterns of one spatial map: every PE full; one step that is not; a last step of full PEs only;
and one whose last PE is ragged. That of both maps is 4 * first + second."""
PATTERNS = 16
STAMPS = _HEAD + 5
SHARE = STAMPS + PATTERNS
S_EGRESS, S_MACS, S_CRITICAL, S_INPUT, S_FILTER = 0, 1, 2, 3, 8
SHARE_ROWS = 13
"""Input and filter have five variants: mapped, then whole or new for each of the two maps."""
MAPPED, WHOLE = 0, 1

# The tile a level is given, and how its directives walk it.
GIVEN = SHARE + PATTERNS * SHARE_ROWS
_FRAME = GIVEN + NUM_VARIABLES
ACTIVE, CASES, CASE, WALKER_1, WALKER_2 = (_FRAME + i for i in range(5))
VALID, OCCURRED, RUNTIME, SIZED, CHILD = (_FRAME + i for i in range(5, 10))
"""Directives of several states, cases, the case at hand, the active indices of the spatial maps;
valid cases, their occurrences, cycles, cases that sized the buffers, and the child's edge set."""
DIRECTIVE = _FRAME + 10
NUM_STATES = DIRECTIVE + _W
# By active directive and state: + 3 * active + state.
OCCURS, F_ALL, F_OUT, F_SET = (NUM_STATES + _W + 3 * _W * i for i in range(4))
PATTERN_1 = NUM_STATES + _W + 12 * _W
PATTERN_2 = PATTERN_1 + 3
# By the innermost active directive that moved; entry MAX_MAPS stands for none.
_C = MAX_MAPS + 1
T_INPUT, V_INPUT, T_FILTER, V_FILTER = (PATTERN_2 + 3 + _C * i for i in range(4))
EXITS = -1
"""Variant where the program exits: the tile that changes has no new element."""
# The case at hand: state by active directive, and products over the active directives before it.
W_STATE, W_OCCURS, W_ALL, W_OUT, W_SET = (V_FILTER + _C * (1 + i) for i in range(5))
LEVEL_SIZE = W_SET + _C

# Results of sub-levels by the set of edge tiles above: + level * SETS + set.
SETS = 1 << MAX_MAPS
MEMO_STAMP = MAX_LEVELS * LEVEL_SIZE
MEMO_RUNTIME = MEMO_STAMP + MAX_LEVELS * SETS
STAMP = MEMO_RUNTIME + MAX_LEVELS * SETS
"""Number of the mapping at hand: what carries another number is left over from an earlier one."""
EXTENTS = STAMP + 1
"""Extents of the level that is being completed, by variable."""
PROGRAM = EXTENTS + NUM_VARIABLES
"""The program: ``+ (level * PROGRAM_ROWS + row) * MAX_MAPS + map``."""
COUNTS = PROGRAM + MAX_LEVELS * PROGRAM_ROWS * MAX_MAPS
CLUSTERS = COUNTS + MAX_LEVELS
"""Maps of each level, and cluster sizes, of which one fewer than levels are used."""
WORK_SIZE = CLUSTERS + MAX_LEVELS
BUSY = MAX_LEVELS * SETS
"""In the float array: active PEs of sub-levels by set, then of each level under way."""
WORK_FLOATS = BUSY + MAX_LEVELS

# Counts of the top level: raw[entry].
LATENCY, MACS, ANY_VALID, L1_SIZE, L2_SIZE = range(5)
INPUT_READS, FILTER_READS, OUTPUT_WRITES, OUTPUT_L1 = range(5, 9)
PEAK_BW, OFFCHIP_REQ, RECORDS, ALL_OCCURRED = range(9, 13)
IN_MIN, IN_MAX, IN_SUM, OUT_MIN, OUT_MAX, OUT_SUM, COMPUTE_SUM, BW_SUM = range(13, 21)
LAST_MACS, LAST_LOADS = 21, 22
L2_LOADS, L2_OUTPUT = 23, 24
"""L2 requirement so far: of inputs and filters, and of outputs."""
OVERFLOWED = 25
"""Whether a counter that is 32 bits wide in the program has wrapped to another positive number."""
RAW_ENTRIES = 26
NEVER = 2**63 - 1
"""Minimum of nothing."""
LOWEST = -(2.0**63)
"""What x86 makes of the mean of nothing."""

RANKS = (3, 1, 2, -1, 0, 4, 5, 7, 6)
"""Place of each variable in MAESTRO's tensor lists: N G K C R S Y X."""
RANK_OF_GEMM_N = 9
"""A GEMM's are M K N."""


class StepCase(NamedTuple):
    """Volumes of one case, of the whole array but for `critical`.

    Args:
        occurs: How often the case occurs (`GetNumOccurrences`); not positive where 32 bits are
            too few.
        inputs: Input elements that the array loads (`GetSpatialIngressTraffic`); EXITS where the
            program stops there.
        filters: Filter elements likewise.
        egress: Outputs that leave it (`GetSpatialEgressTraffic`).
        macs: MACs of all PEs (`GetOutputTensorSpatialMappingSize`, with partial sums).
        critical: MACs of the busiest PE (`GetNumCriticalPathPartialSums`); where it has none, the
            program skips the case.
        edges: Set of directives that are in an edge tile.
        pattern1: Pattern of the first spatial map.
        pattern2: Pattern of the second.
    """

    occurs: int
    inputs: int
    filters: int
    egress: int
    macs: int
    critical: int
    edges: int
    pattern1: int
    pattern2: int


class LevelSpread(NamedTuple):
    """The spatial maps of a level in one combination of patterns.

    Args:
        d1: Place of the first map.
        d2: Place of the second; -1 where there is none.
        pattern1: Pattern of the first map.
        pattern2: Pattern of the second.
        later: Whether the second map's variable stands later in MAESTRO's tensor lists.
        units: Sub-clusters.
        edge_units: Sub-clusters at work in an edge step.
    """

    d1: int
    d2: int
    pattern1: int
    pattern2: int
    later: bool
    units: int
    edge_units: int


class StepShares(NamedTuple):
    """Who takes part in a step, as one tensor sees it.

    Args:
        edge: Whether it is an edge step of one of the tensor's spatial maps.
        ragged: Whether its last PE has a partial tile.
        alone: Whether that is the only PE at work.
    """

    edge: bool
    ragged: bool
    alone: bool


# What becomes of a mapping; of a case also that a sub-cluster must be evaluated first.
OK, REFUSED, DIES, NO_PES, DESCENDS = range(5)
NOTHING_MISSING = -1
"""The set of edge tiles of the sub-cluster that is missing, where none is."""
