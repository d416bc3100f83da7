"""Lower bounds of the exact model's figures: what a mapping costs that moves nothing twice."""

from __future__ import annotations

from cost_models.bounds import latency_bound, unique_elements
from cost_models.exact.figures import MAESTRO_AREA, Setting, energy_nj
from cost_models.exact.layout import COUNT_NAMES
from cost_models.physical import area_um2, power_mw
from layers import Layer

SMALLEST_TILE = 3
"""A buffer holds at least one element of every tensor."""


def figure_floors(layer: Layer, setting: Setting) -> dict[str, float]:
    """Figures that no mapping of a layer goes below, whatever part of the PEs it uses.

    Every MAC reads input, filter and partial sum and writes the partial sum in L1; inputs and
    filters cross every boundary once, finished outputs likewise, and no partial sum is moved. PEs
    leak as long as MACs at all lanes take.

    Args:
        layer: The layer.
        setting: Chip, prices and options.

    Returns:
        ``energy_nj`` and ``energy_total_nj`` [nJ]; ``area_um2`` and ``power_mw`` with all PEs of
        the chip.
    """
    chip = setting.accelerator
    counts = dict.fromkeys(COUNT_NAMES, 0) | _least_moves(layer)
    counts |= {"compute_cycles": 1, "num_pes": 0, "latency": latency_bound(layer, chip)}
    energy = energy_nj(counts, setting)
    if setting.table is None:
        energy += setting.prices(counts).pe_leakage_nj(layer.macs / chip.simd_lanes)
    area, power = _hardware(counts, setting)
    return {
        "energy_nj": float(energy),
        "energy_total_nj": float(energy),
        "area_um2": float(area),
        "power_mw": float(power),
    }


def _hardware(counts: dict[str, int], setting: Setting) -> tuple[float, float]:
    """Area [um^2] and power [mW] of all PEs, with the smallest buffers where they are open."""
    chip = setting.accelerator
    if setting.area == MAESTRO_AREA:
        hardware = (chip.num_pes, chip.simd_lanes, 1, 1, chip.noc_bw or 0)
        return area_um2(*hardware), power_mw(*hardware)
    prices = setting.prices(counts)
    leakage = prices.leakage_mw(chip.num_pes) if setting.table is None else 0.0
    return prices.area_um2(chip.num_pes, chip.simd_lanes), leakage


def _least_moves(layer: Layer) -> dict[str, int]:
    unique = unique_elements(layer)
    inputs, filters, outputs = unique["input"], unique["filter"], unique["output"]
    return {
        "macs": layer.macs,
        **dict.fromkeys(("dram_in", "l2r_in", "l2r_in_tile", "l1w_in"), inputs),
        **dict.fromkeys(("dram_fil", "l2r_fil", "l2r_fil_tile", "l1w_fil"), filters),
        **dict.fromkeys(("dram_out_w", "l2w_out", "l2w_out_tile", "l1drain_out"), outputs),
        **dict.fromkeys(("l1_peak", "l2_peak"), SMALLEST_TILE),
    }
