"""The file of an energy table: its fields as a pydantic model, and reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from cost_models.energy_tables import EnergyError, EnergyTable
from marl_common import NotNegative, Positive, read_fields, read_yaml


class EnergyFields(BaseModel):
    """Energy of one event of each kind, in multiples of `unit_nj`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mac: NotNegative = Field(description="energy of one multiply-accumulate")
    l1: NotNegative = Field(description="energy of one access to a PE's L1")
    l2: NotNegative = Field(description="energy of one access to L2")
    dram: NotNegative = Field(description="energy of one access to DRAM")
    noc: NotNegative = Field(0.0, description="energy of one element to a PE, or from it")
    unit_nj: NotNegative = Field(1.0, description="what 1 stands for [nJ]")
    bits: Positive | None = Field(
        8.0, description="width of an element that the accesses are for; null: whatever its width"
    )
    source: Any = Field(None, description="where the figures come from")


def schema() -> dict[str, Any]:
    """JSON Schema of the file."""
    return EnergyFields.model_json_schema() | {
        "$schema": "https://json-schema.org/draft/2020-12/schema"
    }


def read(path: Path) -> EnergyTable:
    """The energy table of a YAML file.

    Raises:
        EnergyError: The file cannot be read, or a field is wrong; names file and field.
    """
    given = read_fields(EnergyFields, read_yaml(path, EnergyError), str(path), EnergyError)
    return EnergyTable(**given.model_dump(exclude={"source"}))
