"""Chips and mappings in whichever form a file has them: of two levels, or of any number."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from pathlib import Path
from typing import Any

from cost_models.accelerator import Accelerator, AcceleratorError
from cost_models.chain.chip import Chain
from cost_models.chain.entries import VERSION, ChainMapping
from cost_models.mapping import Mapping
from layers import DIMS, TENSORS
from marl_common import read_yaml


def load_chip(text: str) -> Accelerator | Chain:
    """A chip of the library by name, or a YAML file: with a list of levels, or of L2 and L1.

    Raises:
        AcceleratorError: Neither, or a field of the file is wrong; names file and field.
    """
    if Path(text).suffix not in (".yaml", ".yml"):
        from cost_models.chips import any_chip

        return any_chip(text)
    return chip_from(read_yaml(Path(text), AcceleratorError), text)


def chip_from(data: Any, where: str = "accelerator") -> Accelerator | Chain:
    """The chip that fields describe, in either form.

    Raises:
        AcceleratorError: A field is unknown, missing or wrong; names its path.
    """
    if isinstance(data, MappingABC) and isinstance(data.get("levels"), list):
        return Chain.from_dict(data, where)
    return Accelerator.from_dict(data, where)


def mapping_from(data: MappingABC[str, Any]) -> Mapping | ChainMapping:
    """The mapping that fields describe: an entry for each level, or the short form of two.

    Raises:
        MappingError: A field is unknown, missing or wrong; names its path.
    """
    if isinstance(data, MappingABC) and ("levels" in data or "version" in data):
        return ChainMapping.from_dict(data)
    return Mapping.from_dict(data)


def mapping_schema() -> dict[str, Any]:
    """JSON Schema of a mapping's file, in both forms."""
    whole = {"type": "integer", "minimum": 1}
    tiles = {
        "type": "object",
        "description": "tile of one instance by dimension; Y and X count outputs",
        "properties": dict.fromkeys(DIMS, whole),
        "additionalProperties": False,
    }
    dim = {"enum": list(DIMS)}
    order = {"type": "string", "description": "loops outermost first; N and G may be left out"}
    some = {"type": "array", "items": {"enum": list(TENSORS)}}
    spread = {
        "type": "object",
        "properties": {"dim": dim, "units": whole, "axis": {"type": "integer", "minimum": 0}},
        "required": ["dim"],
        "additionalProperties": False,
    }
    entry = {
        "type": "object",
        "properties": {
            "level": {"type": "string", "description": "a level of the chip inside DRAM"},
            "tiles": tiles,
            "order": order | {"description": "loops that bring its tiles, outermost first"},
            "parallel": {
                "type": "array",
                "items": spread,
                "description": "how its fan-out spreads the tiles of the next level",
            },
            "keeps": some | {"description": "tensors kept, of those that the chip's level holds"},
        },
        "required": ["level"],
        "additionalProperties": False,
    }

    def two(item: dict[str, Any]) -> dict[str, Any]:
        return {"type": "array", "items": item, "minItems": 2, "maxItems": 2}

    levels = {
        "type": "object",
        "description": "an entry for each level of the chip inside DRAM, outermost first",
        "properties": {
            "version": {"const": VERSION},
            "levels": {"type": "array", "items": entry, "minItems": 1},
        },
        "required": ["levels"],
        "additionalProperties": False,
    }
    none: dict[str, Any] = {"type": "null"}
    short = {
        "type": "object",
        "description": "a chip of L2 and L1: clusters, then the PEs of a cluster",
        "properties": {
            "orders": two(order),
            "parallel": two(dim),
            "tiles": two(tiles),
            "cluster_size": whole,
            "num_pes": whole,
            "parallel2": two({"anyOf": [dim, none]}),
            "units": two({"anyOf": [whole, none]}),
            "bypass": two(some),
        },
        "required": ["orders", "parallel", "tiles", "cluster_size"],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mapping",
        "oneOf": [levels, short],
    }
