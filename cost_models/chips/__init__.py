"""The library of chips: one YAML file each, with the publication of every figure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from cost_models.accelerator import SHORT_FIELDS, Accelerator, AcceleratorError
from cost_models.chain.chip import Chain
from cost_models.cost import LazyColumns
from marl_common import suggest

CHIPS = (
    *("edge", "cloud", "archgym"),
    *("eyeriss", "nvdla-small", "nvdla-full", "tpu-v1", "gemmini-16"),
)
"""Names of the chips of two levels, in the order in which they are listed."""
CHAIN_CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs", "tpu-v1-ws", "sm-a100")
"""Names of those that are lists of levels."""
_TOLD = ("sources", "notes")


def chip(name: str) -> Accelerator:
    """A chip of two levels of the library.

    Raises:
        AcceleratorError: The name is unknown, or that of a list of levels.
    """
    found = any_chip(name)
    if not isinstance(found, Accelerator):
        raise AcceleratorError(
            f"accelerator {name!r}: a list of levels, and this takes chips of L2 and L1; expected "
            f"one of {', '.join(CHIPS)} or a YAML file"
        )
    return found


def any_chip(name: str) -> Accelerator | Chain:
    """A chip of the library.

    Raises:
        AcceleratorError: The name is unknown.
    """
    known = (*CHIPS, *CHAIN_CHIPS)
    if name in known:
        found: Accelerator | Chain = _chip(name)
        return found
    raise AcceleratorError(
        f"accelerator {name!r} is not known; expected one of {', '.join(known)} "
        f"or a YAML file.{suggest(name, known)}"
    )


def fields_of(name: str) -> dict[str, Any]:
    """The fields of a chip's file, with the sources of its figures."""
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    fields: dict[str, Any] = yaml.safe_load(text)
    return fields


@cache
def _chip(name: str) -> Any:
    fields = {key: value for key, value in fields_of(name).items() if key not in _TOLD}
    if fields.keys() <= set(SHORT_FIELDS):  # without pydantic, which takes a while to import
        return Accelerator(**fields)
    kind = Chain if name in CHAIN_CHIPS else Accelerator
    return kind.from_dict(fields, f"chip {name}")


PRESETS: Mapping[str, Accelerator] = LazyColumns(CHIPS, _chip)
"""Accelerators of two levels by name."""
CHAINS: Mapping[str, Chain] = LazyColumns(CHAIN_CHIPS, _chip)
"""Accelerators that are lists of levels by name."""
