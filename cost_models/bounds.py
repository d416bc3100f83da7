"""What no mapping can beat: a tensor's unique elements, and lower bounds of the objectives."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.energy_tables import MAESTRO_L2_ONLY, MAESTRO_TOTAL, EnergyTable
from layers import TENSORS, Layer


@dataclass(frozen=True)
class Laws:
    """Which physical laws the figures of a cost model obey.

    Args:
        output_l2_reads: Outputs are read from L2 (to go off chip) in the energy.
        energy: Parts that `energy_nj` adds up.
        energy_total: Parts that `energy_total_nj` adds up.
    """

    output_l2_reads: bool
    energy: EnergyTable
    energy_total: EnergyTable


EXACT_LAWS = Laws(True, EnergyTable(), EnergyTable())
"""Counts that equal an execution of the loop nest."""
MAESTRO_LAWS = Laws(False, MAESTRO_L2_ONLY, MAESTRO_TOTAL)
"""MAESTRO behind its guard, which lifts the latency to what the traffic takes."""


def unique_elements(layer: Layer) -> dict[str, int]:
    """Elements of each tensor that must move at least once: input, filter and output.

    Input rows and columns that a wide stride skips are not counted.
    """
    return dict(zip(TENSORS, (layer.input_size, layer.filter_size, layer.output_size), strict=True))


def latency_bound(layer: Layer, accelerator: Accelerator, inputs: int) -> int:
    """Fewest cycles: all MACs at the array's peak, and all tensors at the bandwidths [cycles].

    Args:
        layer: The layer.
        accelerator: The accelerator.
        inputs: Input elements that must move.
    """
    widths = accelerator.widths
    loads = inputs * widths.input + layer.filter_size * widths.filter
    results = layer.output_size * widths.output
    cycles = [accelerator.compute_bound(layer.macs)]
    for buffer in accelerator.buffers():
        for bits, rate in ((loads, buffer.read_bw), (results, buffer.write_bw)):
            cycles.append(0 if rate is None else math.ceil(bits / rate))
    return max(cycles)


def energy_bound(layer: Layer, table: EnergyTable, output_l2_reads: bool = True) -> float:
    """Least energy: every MAC, and every tensor once over every boundary [nJ].

    Each MAC reads input, filter and partial sum and writes the partial sum in L1; inputs and
    filters are written once to L1, and written and read once in L2; outputs are written once to L2.
    """
    loads, outputs = layer.input_size + layer.filter_size, layer.output_size
    l1 = 4 * layer.macs + loads
    l2 = 2 * loads + outputs * (2 if output_l2_reads else 1)
    return float(table.energy_nj(layer.macs, l1, l2, loads + outputs))


def physical_bounds(
    layer: Layer, accelerator: Accelerator, laws: Laws = EXACT_LAWS
) -> dict[str, float]:
    """Lower bounds that no mapping goes below, by figure.

    Args:
        layer: The layer.
        accelerator: The accelerator with the PEs that are used; where a search chooses the number
            of PEs, give the largest for latency and the smallest for area and power.
        laws: The laws of the cost model, `EXACT_LAWS` or `MAESTRO_LAWS`.

    Returns:
        ``latency_cycles``, ``energy_nj``, ``energy_total_nj``, ``area_um2`` and ``power_mw``.
    """
    hardware = (accelerator.num_pes, accelerator.simd_lanes, 1, 1, accelerator.noc_bw or 0)
    return {
        "latency_cycles": float(latency_bound(layer, accelerator, layer.input_size)),
        "energy_nj": energy_bound(layer, laws.energy, laws.output_l2_reads),
        "energy_total_nj": energy_bound(layer, laws.energy_total, laws.output_l2_reads),
        "area_um2": float(area_um2(*hardware)),
        "power_mw": float(power_mw(*hardware)),
    }
