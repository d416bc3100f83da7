"""Names of a two-level mapping's counts, and where its levels are in a nest."""

from __future__ import annotations

from typing import Final


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
