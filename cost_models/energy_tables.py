"""Energy tables by name, and from a user's file."""

from __future__ import annotations

from pathlib import Path

from cost_models.physical import EnergyTable
from marl_common import suggest


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
