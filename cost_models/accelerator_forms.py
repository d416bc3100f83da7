"""What a file of an accelerator may hold: its schema, and a template to fill in."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from cost_models.accelerator_file import schema


def accelerator_schema() -> dict[str, Any]:
    """JSON Schema of an accelerator's file."""
    return schema()


def accelerator_template() -> str:
    """An accelerator's file with every field, commented, to fill in."""
    return files(__package__).joinpath("accelerator_template.yaml").read_text(encoding="utf-8")
