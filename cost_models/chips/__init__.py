"""The library of chips: one YAML file each, with the publication of every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from common import suggest
from cost_models.accelerator import Accelerator
from cost_models.accelerator_checks import SHORT_FIELDS, AcceleratorError

CHIPS = (
    *("edge", "cloud", "archgym"),
    *("eyeriss", "nvdla-small", "nvdla-full", "tpu-v1", "gemmini-16"),
)
"""Names of the chips, in the order in which they are listed."""
_TOLD = ("sources", "notes")


def chip(name: str) -> Accelerator:
    """A chip of the library.

    Raises:
        AcceleratorError: The name is unknown.
    """
    if name not in CHIPS:
        raise AcceleratorError(
            f"accelerator {name!r} is not known; expected one of {', '.join(CHIPS)} "
            f"or a YAML file.{suggest(name, CHIPS)}"
        )
    return _chip(name)


def fields_of(name: str) -> dict[str, Any]:
    """The fields of a chip's file, with the sources of its figures."""
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    fields: dict[str, Any] = yaml.safe_load(text)
    return fields


@cache
def _chip(name: str) -> Accelerator:
    fields = {key: value for key, value in fields_of(name).items() if key not in _TOLD}
    if fields.keys() <= set(SHORT_FIELDS):  # without pydantic, which takes a while to import
        return Accelerator(**fields)
    return Accelerator.from_dict(fields, f"chip {name}")


class Library(Mapping[str, Accelerator]):
    """The chips by name; a chip's file is read when it is looked at."""

    def __getitem__(self, name: str) -> Accelerator:
        if name not in CHIPS:
            raise KeyError(name)
        return _chip(name)

    def __iter__(self) -> Iterator[str]:
        return iter(CHIPS)

    def __len__(self) -> int:
        return len(CHIPS)


PRESETS = Library()
"""Accelerators by name."""
