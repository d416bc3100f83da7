"""Energy tables by name, and from a user's file."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from common import suggest
from cost_models.physical import EnergyTable


class EnergyError(ValueError):
    """An energy table that is not known, or a file that is none."""


ENERGY_TABLES = {
    # MAESTRO's constants (DSE_cost-database.hpp), which have no DRAM: Eyeriss's ratio stands in
    "maestro": EnergyTable(),
    # Chen et al., Eyeriss (ISCA 2016), table IV: relative to one MAC, a register file costs 1, a
    # transfer between PEs 2, the global buffer 6, DRAM 200. The unit is MAESTRO's energy of a MAC,
    # so that both tables give nJ of one scale.
    "eyeriss": EnergyTable(mac=1.0, l1=1.0, noc=2.0, l2=6.0, dram=200.0),
}
"""Energy tables by name."""

REQUIRED = ("mac", "l1", "l2", "dram")


def load_energy(text: str) -> EnergyTable:
    """An energy table's name, or the path of a YAML file with its fields.

    The file gives ``mac``, ``l1``, ``l2`` and ``dram``, and may give ``noc`` (elements delivered
    to PEs and drained from them), all in multiples of ``unit_nj`` (1 if left out), and a
    ``source``, free text that says where the figures come from.

    Raises:
        EnergyError: Neither, or a field of the file is wrong; names file and field.
    """
    path = Path(text)
    if path.suffix not in (".yaml", ".yml"):
        if text in ENERGY_TABLES:
            return ENERGY_TABLES[text]
        hint = suggest(text, ENERGY_TABLES)
        raise EnergyError(
            f"energy: {text!r} is not known; expected one of {', '.join(ENERGY_TABLES)} "
            f"or a YAML file.{hint}"
        )
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EnergyError(f"{path}: cannot be read as YAML: {error}") from error
    return _from_fields(path, data)


def _from_fields(path: Path, data: Any) -> EnergyTable:
    known = [item.name for item in fields(EnergyTable)]
    if not isinstance(data, dict):
        raise EnergyError(f"{path}: expected the fields {', '.join(known)}, got {data!r}")
    values = {"unit_nj": 1.0}
    for key, value in data.items():
        if key == "source":
            continue
        if key not in known:
            hint = suggest(str(key), known)
            raise EnergyError(
                f"{path}: unknown field {key!r}; expected {', '.join(known)}, source.{hint}"
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < 0:
            raise EnergyError(f"{path}: {key}: got {value!r}, expected a number of at least 0")
        values[key] = float(value)
    missing = [name for name in REQUIRED if name not in values]
    if missing:
        raise EnergyError(f"{path}: {', '.join(missing)} missing; give {', '.join(REQUIRED)}")
    return EnergyTable(**values)
