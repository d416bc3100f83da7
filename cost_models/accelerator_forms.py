"""What a file of an accelerator may hold: its schema, and templates to fill in."""

from __future__ import annotations

from importlib.resources import files
from typing import Any


def accelerator_schema() -> dict[str, Any]:
    """JSON Schema of an accelerator's file: of L2 and L1, or with a list of levels."""
    from pydantic import TypeAdapter

    from cost_models.accelerator_file import AcceleratorFields
    from cost_models.chain.file import ChainFile

    both: TypeAdapter[Any] = TypeAdapter(AcceleratorFields | ChainFile)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | both.json_schema()


def accelerator_template(levels: bool = False) -> str:
    """An accelerator's file with every field, commented, to fill in.

    Args:
        levels: Whether its levels are a list, of any number; else they are L2 and L1.
    """
    name = "chain_template.yaml" if levels else "accelerator_template.yaml"
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
