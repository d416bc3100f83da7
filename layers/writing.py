"""Layers as the project's YAML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from common import atomic_write
from layers.fields import to_fields
from layers.layer import Layer


def write_yaml(path: str | Path, layers: Sequence[Layer]) -> None:
    """Write layers for :func:`layers.read_file`; the file is whole or untouched.

    Raises:
        OSError: The file cannot be written.
    """
    import yaml

    def entry(layer: Layer) -> str:
        return yaml.safe_dump(
            to_fields(layer), sort_keys=False, default_flow_style=True, width=9999
        )

    text = "".join(f"  - {entry(layer)}" for layer in layers)
    with atomic_write(path) as draft:
        draft.write_text("layers:\n" + text, encoding="utf-8")
