"""Which place in `seen_records.ChoiceRow` each feature of a choice has, by kind of decision.

Whatever a choice has no feature for is 0 there.
"""

from __future__ import annotations

from enum import IntEnum

Parallel = IntEnum(
    "Parallel",
    "EXTENT INPUT FILTER OUTPUT BUSY FILLS TAKEN SPARE IMAGE TAPS SHARE COVERED COVERED_LOG "
    "TAKEN_BESIDE BUSY_LEFT LEFT FILLS_LEFT",
    start=0,
)
"""Features of a dimension for a spread; `_LEFT`: of what spreads outside leave of it."""
Units = IntEnum(
    "Units",
    "SIZE SPARE SHARE BUSY CLUSTERS_BUSY WORK STEPS CLUSTERS_STEPS ONE ALL IDLE CLUSTERS_IDLE "
    "OVER CLUSTERS_OVER EVEN",
    start=0,
)
"""Features of units of a spread; `CLUSTERS_`: of the clusters that so many PEs make."""
Tile = IntEnum(
    "Tile",
    "BOX STEPS PADDING FILL FILL_LOG OUTER_FILL WORST_FILL ONE WHOLE EVEN OUTSIDE_BUSY WITHIN "
    "BUSY SAME RATIO ABOVE_SPREADS SPREADS CYCLES STEPS_ONE WITHIN_ONE SHARE INPUT FILTER "
    "OUTPUT",
    start=0,
)
"""Features of a tile; INPUT and what follows: whether the memory holds what it cuts."""
Loop = IntEnum(
    "Loop",
    "INPUT FILTER OUTPUT INPUT_SHARE FILTER_SHARE OUTPUT_SHARE MOVED_SHARE MOVED KEPT STEPS "
    "SPREADS PADDED WITHIN IMAGE BOX LAST LAST_INPUT LAST_FILTER LAST_OUTPUT STEPS_INSIDE "
    "HELD_INPUT HELD_FILTER HELD_OUTPUT",
    start=0,
)
"""Features of a loop of an order; `LAST_`: of the innermost loop outside that iterates."""
