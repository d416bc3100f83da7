"""``mapper schema``: what files may hold, for editors and other programs."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mapper.commands.options import OptionError
from marl_common import suggest
from marl_runs import print_json

SCHEMAS = {
    "accelerator": "cost_models:accelerator_schema",
    "mapping": "cost_models:mapping_schema",
    "energy": "cost_models.energy_file:schema",
    "layer": "layers.schema:schema",
    "assignment": "mapper.clustering.assignment_file:schema",
}
"""Kinds of files, and the function that describes each."""


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(SCHEMAS)}.",
            autocompletion=lambda incomplete: [k for k in SCHEMAS if k.startswith(incomplete)],
        ),
    ],
) -> None:
    """Print the JSON Schema of a file: accelerator, mapping, energy, layer or assignment."""
    if kind not in SCHEMAS:
        raise OptionError(
            f"kind {kind!r}: expected one of {', '.join(SCHEMAS)}.{suggest(kind, SCHEMAS)}"
        )
    module, _, function = SCHEMAS[kind].partition(":")
    print_json(getattr(importlib.import_module(module), function)())
