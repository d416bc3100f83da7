"""Energy tables of one price a level: MAESTRO's, others by name, and from a user's file.

Source of MAESTRO's constants: MAESTRO (commit 4eb08d1), `DSE_cost-database.hpp`,
`DSE_hardware_modules.hpp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marl_common import suggest

MAC_NJ = 0.00023
"""Energy of one multiply-accumulate [nJ]; all other energies are multiples of it."""
L1_ACCESS = 1.68
"""Energy of one L1 access, in MACs."""
L2_ACCESS = 18.61
"""Energy of one L2 access, in MACs."""


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
    dram: float = 200.0  # Chen et al., Eyeriss, ISCA 2016, fig. 1; not in MAESTRO
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


class EnergyError(ValueError):
    """An energy table that is not known, or a file that is none."""


CACTI = "cacti"
"""The energies of the chip that is built, from :mod:`cost_models.technology.parts`."""

ENERGY_TABLES: dict[str, EnergyTable | None] = {
    CACTI: None,
    # MAESTRO's constants (DSE_cost-database.hpp), which have no DRAM: Eyeriss's ratio stands in
    "maestro": EnergyTable(),
    # Chen et al., Eyeriss (ISCA 2016), table IV: relative to one MAC, a register file costs 1, a
    # transfer between PEs 2, the global buffer 6, DRAM 200, all of one width. The unit is MAESTRO's
    # energy of a MAC, so that both tables give nJ of one scale.
    "eyeriss": EnergyTable(mac=1.0, l1=1.0, noc=2.0, l2=6.0, dram=200.0, bits=None),
}
"""Energies to choose from, by name: tables of one price a level, and the chip's own."""


def load_energy(text: str) -> EnergyTable | None:
    """An energy table's name, or the path of a YAML file with its fields.

    The file gives ``mac``, ``l1``, ``l2`` and ``dram``, and may give ``noc`` (elements delivered
    to PEs and drained from them), all in multiples of ``unit_nj`` (1 if left out), ``bits``, the
    width of an element that they are for (8), and a ``source``, free text that says where the
    figures come from.

    Returns:
        The table; None for ``"cacti"``, whose prices depend on the chip.

    Raises:
        EnergyError: Neither, or a field of the file is wrong; names file and field.
    """
    path = Path(text)
    if path.suffix not in (".yaml", ".yml"):
        if text in ENERGY_TABLES:
            return ENERGY_TABLES[text]
        raise EnergyError(
            f"energy: {text!r} is not known; expected one of {', '.join(ENERGY_TABLES)} "
            f"or a YAML file.{suggest(text, ENERGY_TABLES)}"
        )
    from cost_models.energy_file import read

    return read(path)
