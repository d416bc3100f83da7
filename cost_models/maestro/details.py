"""What MAESTRO reports beside the figures that all models have, and in which mode."""

from __future__ import annotations

from cost_models.figure_places import NUM_FIGURES

DETAILS = (
    "avg_noc_bw",
    "peak_noc_bw",
    "ingress_delay_min",
    "ingress_delay_max",
    "ingress_delay_avg",
    "egress_delay_min",
    "egress_delay_max",
    "egress_delay_avg",
    "compute_delay_avg",
    "maestro_macs",
    "maestro_latency_cycles",
)
FIRST_DETAIL = NUM_FIGURES
OUTPUTS = FIRST_DETAIL + len(DETAILS)

# Places in an array of figures after those of all models, in the order of DETAILS.
AVG_NOC_BW, PEAK_NOC_BW, INGRESS_MIN, INGRESS_MAX, INGRESS_AVG = range(
    FIRST_DETAIL, FIRST_DETAIL + 5
)
EGRESS_MIN, EGRESS_MAX, EGRESS_AVG, COMPUTE_AVG, MAESTRO_MACS, MAESTRO_LATENCY = range(
    FIRST_DETAIL + 5, OUTPUTS
)

RAW, GUARDED, WIDE = range(3)
"""What is reported: the program's figures; those, refused or mended where they are impossible; or
the program's with buffer sizes of 64 bits."""
LARGEST_COUNT = 2.0**31 - 1
"""The most that MAESTRO counts in 32 bits."""
