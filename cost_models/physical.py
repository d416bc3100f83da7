"""Energy, area and power by MAESTRO's constants, shared by the cost models.

Source of the constants: MAESTRO (commit 4eb08d1),
`DSE_cost-database.hpp`, `DSE_hardware_modules.hpp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAC_NJ = 0.00023
"""Energy of one multiply-accumulate [nJ]; all other energies are multiples of it."""
L1_ACCESS = 1.68
"""Energy of one L1 access, in MACs."""
L2_ACCESS = 18.61
"""Energy of one L2 access, in MACs."""
DRAM_ACCESS = 200.0
"""Energy of one DRAM access, in MACs (Chen et al., Eyeriss, ISCA 2016, fig. 1; not in MAESTRO)."""


@dataclass(frozen=True)
class EnergyTable:
    """Energy of one event of each kind, in multiples of `unit_nj`, whatever the buffers' sizes.

    Args:
        mac: One multiply-accumulate.
        l1: One access to a PE's L1.
        l2: One access to the shared L2.
        dram: One access to DRAM; 0 where a model has no DRAM.
        noc: One element delivered to a PE, or drained from one.
        unit_nj: What 1 stands for [nJ].
        bits: Width of the element that the accesses are for; an element of another width costs in
            proportion. None: whatever its width.
    """

    mac: float = 1.0
    l1: float = L1_ACCESS
    l2: float = L2_ACCESS
    dram: float = DRAM_ACCESS
    unit_nj: float = MAC_NJ
    noc: float = 0.0
    bits: float | None = 8

    def energy_nj(self, macs: Any, l1: Any, l2: Any, dram: Any, noc: Any = 0) -> Any:
        """Energy of the given numbers of events [nJ]; numbers or arrays of one shape."""
        units = self.mac * macs + self.l1 * l1 + self.l2 * l2 + self.dram * dram + self.noc * noc
        return self.unit_nj * units


MAESTRO_L2_ONLY = EnergyTable(mac=0.0, l1=0.0, dram=0.0)
"""What MAESTRO itself adds up for a mapping of two or more levels."""
MAESTRO_TOTAL = EnergyTable(dram=0.0)
"""MAESTRO's constants with MACs and L1 counted; it has no DRAM accesses."""

_INSTEAD = "; the model exact with area=provisioned gives that of the chip that is built"
MAESTRO_DOUBTS = {
    "area_um2": "by MAESTRO's formulas more than 99 % of it is a bus and an arbiter, which hardly "
    "depend on the mapping, and an SRAM takes a thirtieth of what it does" + _INSTEAD,
    "power_mw": "by MAESTRO's formulas it follows the PEs, the bandwidth and the sizes of the "
    "buffers, not what a mapping moves nor how long it takes" + _INSTEAD,
}
"""Why a search for MAESTRO's area or power finds little of use."""
