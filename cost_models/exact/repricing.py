"""The energy of counted mappings on another chip: counts stay, prices and capacities change.

What a mapping moves, and how long it takes, depends on a chip's PEs and bandwidths, never on the
capacities of its buffers: these say whether it fits, and what an access costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cost_models.accelerator import Accelerator
from cost_models.buffers import Buffer
from cost_models.cost import CostBatch, FloatArray
from cost_models.exact.figures import Setting, energy_nj


def repriced_energy(
    costs: CostBatch, accelerator: Accelerator, buffers: tuple[Buffer, Buffer], setting: Setting
) -> FloatArray:
    """``(B,)`` energies [nJ] of mappings on a chip; inf where they do not fit.

    Args:
        costs: Costs on a chip that differs in capacities alone, for mappings of all its PEs.
        accelerator: The chip.
        buffers: L2 and L1 of the chip.
        setting: What its figures need.
    """
    counts: dict[str, Any] = {**costs.counts, "num_pes": accelerator.num_pes}
    bits = accelerator.widths.input
    fits = costs.feasible.copy()
    for name, buffer in zip(("l2_peak", "l1_peak"), buffers, strict=True):
        if buffer.capacity_bits is not None:
            fits &= counts[name] * (setting.buffers * bits) <= buffer.capacity_bits
    with np.errstate(divide="ignore", invalid="ignore"):
        energy = np.array(energy_nj(counts, setting), dtype=np.float64)
    energy[~fits] = np.inf
    return energy
