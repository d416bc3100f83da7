"""Places in an array of figures and in one of facts: plain numbers, for kernels too."""

from __future__ import annotations

LATENCY_CYCLES, ENERGY_NJ, ENERGY_TOTAL_NJ, POWER_MW, AREA_UM2, THROUGHPUT, NUM_MACS = range(7)
L1_BYTES, L2_BYTES, NOC_BW_REQ, OFFCHIP_BW_REQ, UTILIZED_PES, INTENSITY = range(7, 13)
"""``figures[place]`` in the order of `cost.FIGURES`; accesses by tensor come after them."""
FIRST_ACCESS = 13
L1_READ, L1_WRITE, L2_READ, L2_WRITE = range(4)
NUM_TENSORS, NUM_KINDS = 3, 4
INPUT, FILTER, OUTPUT = (FIRST_ACCESS + NUM_KINDS * tensor for tensor in range(NUM_TENSORS))
"""Accesses of a tensor: ``figures[INPUT + L2_READ]``."""
NUM_FIGURES = FIRST_ACCESS + NUM_TENSORS * NUM_KINDS

PES, PEAK, NOC, OFFCHIP, L1_LIMIT, L2_LIMIT = range(6)
"""``facts[place]``; bandwidths and limits are inf where there is none."""
MACS_OF_LAYER, INPUT_SIZE, FILTER_SIZE, OUTPUT_SIZE = range(6, 10)
LEAST_LATENCY, LEAST_ENERGY, LEAST_TOTAL, LEAST_AREA, LEAST_POWER = range(10, 15)
NUM_FACTS = 15

ROUNDING = 1 - 1e-9
"""By how much a figure may miss a bound: both are sums of rounded terms."""
LARGEST = 1.7976931348623157e308
"""The largest finite number."""
