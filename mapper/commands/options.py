"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cost_models import Accelerator


class OptionError(ValueError):
    """A command's option that cannot be used as given."""


JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]
LayerOption = Annotated[
    str,
    typer.Option(
        "--layer",
        "-l",
        help="Zoo name (mobilenetv2.2), FILE.yaml:NAME, or in line: "
        "conv:K=64,C=64,Y=58,X=58,R=3,S=3,stride=1, gemm:M=128,N=768,K=768 "
        "(Y, X input extents, padding included).",
    ),
]
AcceleratorOption = Annotated[
    str,
    typer.Option(
        "--accelerator", "-a", help="Preset (`mapper accelerators` lists them) or YAML file."
    ),
]
CostModelOption = Annotated[str, typer.Option("--cost-model", help="exact, maestro, ...")]

_PANEL = "Accelerator, field by field (a number, or `none` for unlimited)"
NumPes = Annotated[str | None, typer.Option(rich_help_panel=_PANEL, help="Processing elements.")]
L1Bytes = Annotated[str | None, typer.Option(rich_help_panel=_PANEL, help="L1 of one PE [B].")]
L2Bytes = Annotated[str | None, typer.Option(rich_help_panel=_PANEL, help="Shared L2 [B].")]
NocBw = Annotated[
    str | None, typer.Option(rich_help_panel=_PANEL, help="L2 to the PEs [elements/cycle].")
]
OffchipBw = Annotated[
    str | None, typer.Option(rich_help_panel=_PANEL, help="DRAM to L2 [elements/cycle].")
]
SimdLanes = Annotated[
    str | None, typer.Option(rich_help_panel=_PANEL, help="MACs of one PE in a cycle.")
]


def accelerator_of(text: str, **overrides: str | None) -> Accelerator:
    """The accelerator that a preset's name or file gives, with single fields replaced.

    Args:
        text: As ``--accelerator`` takes it.
        overrides: Fields of :class:`Accelerator` as text; None leaves a field alone.

    Raises:
        AcceleratorError: The text names no accelerator, or a field is wrong.
        OptionError: A field is neither a whole number nor ``none``.
    """
    from dataclasses import replace

    from cost_models import Accelerator

    fields: dict[str, Any] = {
        field: _limit(field, value) for field, value in overrides.items() if value is not None
    }
    return replace(Accelerator.load(text), **fields)


def _limit(field: str, value: str) -> int | None:
    if value.lower() in ("none", "unlimited"):
        return None
    try:
        return int(value)
    except ValueError:
        flag = "--" + field.replace("_", "-")
        raise OptionError(
            f"{flag}: got {value!r}, expected a whole number or none (unlimited)"
        ) from None


def pairs_of(flag: str, texts: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` texts as a dict; a value is read as a number where it is one.

    Raises:
        OptionError: A text has no ``=``, or a name comes twice.
    """
    import yaml

    pairs: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not value.strip():
            raise OptionError(f"{flag}: got {text!r}, expected NAME=VALUE")
        if name in pairs:
            raise OptionError(f"{flag}: {name} is given twice; give it once")
        try:
            pairs[name] = float(value) if "e" in value.lower() else yaml.safe_load(value)
        except (ValueError, yaml.YAMLError):
            pairs[name] = value
    return pairs


def nearest(name: str, known: list[str]) -> str:
    """`` Did you mean 'x'?`` for the nearest known name, or nothing when none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
