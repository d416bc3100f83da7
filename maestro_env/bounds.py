"""Physical lower bounds of a cost's figures: what no mapping of a layer can beat."""

from __future__ import annotations

from cost_models import Accelerator, CostModel
from layers import Layer

# MAESTRO's energy constants (its analysis' `energy` tables): nJ of a MAC, and an access of L2 as a
# multiple of it.
MAC_NJ, L2_COST = 0.00023, 18.61


def figure_bounds(
    model: CostModel, layer: Layer, accelerator: Accelerator, min_pes: int | None = None
) -> dict[str, float]:
    """Lower bounds of the figures that have one under a cost model.

    Args:
        model: Its energy formula decides the energy bounds; a model may offer its own bounds as
            ``lower_bounds(layer, accelerator) -> {figure: bound}``, which replace ours.
        layer: The layer.
        accelerator: Unlimited bandwidths bound nothing.
        min_pes: The fewest PEs a mapping may use (co-search); None for the accelerator's.

    Returns:
        Bounds by figure, in the figure's unit.
    """
    bounds = {"latency_cycles": latency_bound(layer, accelerator)}
    bounds["area_um2"], bounds["power_mw"] = array_bounds(accelerator, min_pes)
    if model.name == "maestro":
        bounds["energy_nj"] = maestro_energy_bound(layer)
        bounds["energy_total_nj"] = bounds["energy_nj"]
    own = getattr(model, "lower_bounds", None)
    if own is not None:
        bounds.update(own(layer, accelerator))
    return bounds


def latency_bound(layer: Layer, accelerator: Accelerator) -> float:
    """Fewest cycles: all PEs busy, and every element moved once in each direction [cycles]."""
    cycles = accelerator.compute_bound(layer.macs)
    for bandwidth in (accelerator.noc_bw, accelerator.offchip_bw):
        if bandwidth is not None:
            reads = layer.input_size + layer.filter_size
            cycles = max(cycles, -(-reads // bandwidth), -(-layer.output_size // bandwidth))
    return float(cycles)


def maestro_energy_bound(layer: Layer) -> float:
    """Least energy in MAESTRO's two-level figure: L2 accesses of unique elements [nJ].

    Inputs and filters are written to L2 once and read at least once; outputs written once
    (maestro, `CA_cost-analysis-results`; output reads and MACs carry no energy there).
    """
    unique = 2 * (layer.input_size + layer.filter_size) + layer.output_size
    return MAC_NJ * L2_COST * unique


def array_bounds(accelerator: Accelerator, min_pes: int | None = None) -> tuple[float, float]:
    """Least area [um^2] and power [mW] by MAESTRO's formulas: buffers of one byte, no idle wires.

    Args:
        accelerator: A NoC bandwidth of None counts as none, as the mapping decides it.
        min_pes: The fewest PEs; None for the accelerator's.
    """
    pes = accelerator.num_pes if min_pes is None else min_pes
    lanes, bandwidth = accelerator.simd_lanes, accelerator.noc_bw or 0
    wires = 14.662 * pes + 28.895
    arbiter = 1.2886 * pes**2 + 5.5814 * pes - 23.711
    area = pes * (283 * lanes + 0.104) + 0.104 + 101.7938 * wires * bandwidth
    area += max(395.473, 395.473 * arbiter)
    power = pes * (1.2223 * lanes + 0.00345) + 0.00345 + 0.8 * wires / 1000 * bandwidth
    power += max(0.34, 0.34 * arbiter / 1000)
    return area, power
