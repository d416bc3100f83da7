"""Lower bounds of the exact model's figures: what a mapping costs that moves nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress, product

from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.buffers import TENSORS, Flags
from cost_models.exact.figures import MAESTRO_AREA, Counts, Setting, energy_nj
from cost_models.exact.instances import rows_of
from cost_models.exact.nest import P, Q, R, S, windows_of
from cost_models.laws import latency_bound, unique_elements
from layers import Layer

Route = str | None
"""The level that a tensor passes, or None."""


def figure_floors(
    layer: Layer, setting: Setting, bypass: bool, padding_free: bool, resident: Flags
) -> dict[str, float]:
    """Figures that no mapping of a layer goes below, whatever part of the PEs it uses.

    Every MAC reads input, filter and partial sum and writes the partial sum in L1; inputs and
    filters cross every boundary once, finished outputs likewise, and no partial sum is moved. PEs
    leak as long as MACs at all lanes take. A tensor that passes L1 is read from L2 for every MAC,
    by all PEs at once at best; the floor is the least over what may pass which level.

    Args:
        layer: The layer.
        setting: Chip, prices and options.
        bypass: Whether mappings may have tensors pass a level that the chip holds them in.
        padding_free: Whether padding is not counted.
        resident: Whether input, filter and output are whole in L2.

    Returns:
        ``latency_cycles``; ``energy_nj`` and ``energy_total_nj`` [nJ]; ``area_um2`` and
        ``power_mw`` with all PEs of the chip.
    """
    chip = setting.accelerator
    latency = latency_bound(layer, chip, real_inputs(layer) if padding_free else layer.input_size)
    if any(resident):  # what crosses DRAM's boundary does not bound it
        latency = chip.compute_bound(layer.macs)
    ways = [
        {**_least_moves(layer, routes, chip, padding_free), "num_pes": 0, "latency": latency}
        for routes in product(*(_routes(chip, tensor, bypass) for tensor in range(len(TENSORS))))
    ]
    for counts in ways:
        for name in compress(("dram_in", "dram_fil", "dram_out_w"), resident):
            counts[name] = 0
    energy = min(_energy(counts, layer, setting) for counts in ways)
    hardware = [_hardware(counts, setting) for counts in ways]
    area, power = (min(figures) for figures in zip(*hardware, strict=True))
    return {
        "latency_cycles": float(latency),
        "energy_nj": float(energy),
        "energy_total_nj": float(energy),
        "area_um2": float(area),
        "power_mw": float(power),
    }


def _hardware(counts: Counts, setting: Setting) -> tuple[float, float]:
    """Area [um^2] and power [mW] of all PEs, with the smallest buffers where they are open."""
    chip = setting.accelerator
    if setting.area == MAESTRO_AREA:
        hardware = (chip.num_pes, chip.simd_lanes, 1, 1, chip.noc_bw or 0)
        return area_um2(*hardware), power_mw(*hardware)
    prices = setting.prices(counts)
    leakage = prices.leakage_mw(chip.num_pes) if setting.table is None else 0.0
    return prices.area_um2(chip.num_pes, chip.simd_lanes), leakage


def _energy(counts: Counts, layer: Layer, setting: Setting) -> float:
    energy = energy_nj(counts, setting)
    if setting.table is None:
        pe_cycles = layer.macs / setting.accelerator.simd_lanes
        energy += setting.prices(counts).pe_leakage_nj(pe_cycles)
    return float(energy)


def _routes(chip: Accelerator, tensor: int, bypass: bool) -> list[Route]:
    """Which level a tensor may pass on a chip."""
    passed: list[Route] = [one.name for one in chip.buffers() if not one.holds[tensor]]
    return passed or ([None, "L2", "L1"] if bypass else [None])


def _least_moves(
    layer: Layer, routes: Sequence[Route], chip: Accelerator, padding_free: bool
) -> Counter[str]:
    """Counts of a mapping that moves nothing twice, and has tensors pass the levels they may."""
    counts = Counter({"macs": layer.macs})
    if any(routes) or not chip.is_plain(doubled=True):
        counts |= {"l1_bits": 1, "l2_bits": 1}  # open buffers are priced as the smallest there are
    unique = unique_elements(layer)
    if padding_free:
        unique["input"] = real_inputs(layer)
    for (tensor, least), route in zip(unique.items(), routes, strict=True):
        name = {"input": "in", "filter": "fil", "output": "out"}[tensor]
        output = tensor == "output"
        dram, boundary = ("dram_out_w", "l2w_out") if output else (f"dram_{name}", f"l2r_{name}")
        counts["l1_peak"] += route != "L1"
        counts["l2_peak"] += route != "L2"
        counts[dram] = streamed = least
        if route == "L1" and not (tensor == "input" and padding_free):
            streamed = max(least, -(-layer.macs // chip.num_pes))
        if route == "L2":
            counts[f"{dram}_direct"] = least
        else:
            counts[boundary] = counts[f"{boundary}_tile"] = streamed
        if output:
            counts["l1drain_out"] = layer.macs if route == "L1" else least
            counts["l2r_psum"] = streamed - least
        elif route != "L1":
            counts[f"l1w_{name}"] = least
        if route == "L1":
            counts[f"l1_skipped_{name}"] = layer.macs + (streamed - least) * output
    return counts


def real_inputs(layer: Layer) -> int:
    """Input elements that the layer touches and that are no padding."""
    found = layer.input_size
    for window, (p, r) in zip(windows_of(layer, False, True), ((P, R), (Q, S)), strict=True):
        rows = set(rows_of(window, range(layer.extents[p]), range(layer.extents[r])))
        found = found // len(rows) * len(rows.intersection(range(*window.real or ())))
    return found
