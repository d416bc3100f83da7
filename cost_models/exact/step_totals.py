"""Fields of a row of sums over inner steps; `tables.TOTALS` and `tables.STEP0` are such rows."""

from __future__ import annotations

from typing import Final

# two fields each: without read-back of partial sums (0), and with it everywhere (+1)
CYCLES: Final = 0
IN_CYCLES: Final = 2
BY_IN: Final = 4
BY_OUT: Final = 6
OUT_CYCLES: Final = 8  # one field
TOTAL_FIELDS: Final = 9

# the same where there is a table `wide`
BY_DRAM: Final = 9
PAST_IN: Final = 11  # bits that pass L2 on their way to the PEs
PAST_OUT: Final = 13  # one field: output elements that pass L2 on their way to DRAM
WIDE_TOTAL_FIELDS: Final = 14
