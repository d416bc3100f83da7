"""Latency, speed and energy of an answer, as an architect reads them."""

from __future__ import annotations

import math

from cost_models import LEVELS, Accelerator, Chain, clock_of
from marl_common import engineering

OPERATIONS = 2
"""Of a multiply-accumulate, as makers count TOPS."""
KHZ_PER_MHZ, HZ_PER_MHZ = 1e3, 1e6


def speed_lines(
    chip: Accelerator | Chain, latency_cycles: float, energy_nj: float, macs: float
) -> list[str]:
    """Latency in cycles and ms, inferences/s, TOPS, energy and TOPS/W, in three lines.

    Args:
        chip: Where it runs; one that gives no clock is taken to run at 1 GHz.
        latency_cycles: Of one inference [cycles].
        energy_nj: Likewise [nJ]; nan where a model has none.
        macs: Multiply-accumulates of one inference.
    """
    clock = clock_of(chip)
    per_s = clock * HZ_PER_MHZ / latency_cycles
    at = "at" if chip.clock_mhz else "at an assumed"
    lines = [
        f"latency: {engineering(latency_cycles, 'cycles', 4)}, "
        f"{latency_cycles / (clock * KHZ_PER_MHZ):.4g} ms {at} {clock:,.0f} MHz",
        f"speed: {per_s:,.{0 if per_s >= 100 else 3}f} inferences/s, "
        f"{OPERATIONS * macs * per_s / 1e12:.3g} TOPS",
    ]
    if math.isfinite(energy_nj) and energy_nj > 0:
        efficiency = OPERATIONS * macs / (energy_nj * 1e3)
        told = f"energy: {engineering(energy_nj, 'nJ', 4)}, {efficiency:.3g} TOPS/W"
        lines.append(f"{told}{_kinds(chip)}")
    return lines


def _kinds(chip: Accelerator | Chain) -> str:
    """Which parts of a chip, other than the usual ones, its file has energies priced by."""
    kinds = [f"MACs of kind {chip.mac_kind}"] if chip.mac_kind else []
    names = LEVELS if isinstance(chip, Accelerator) else [level.name for level in chip.levels]
    kinds += [
        f"{name} of kind {level.kind}"
        for name, level in zip(names, chip.levels, strict=True)
        if level.kind and name != "DRAM"
    ]
    return f" ({', '.join(kinds)})" if kinds else ""
