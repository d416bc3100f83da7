"""``mapper import``: another tool's model as a file of layers."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import layers
from mapper.commands.pass_options import PassOptions
from marl_common import AsJson, takes_records
from marl_runs import print_json

if TYPE_CHECKING:
    from layers import Imported


OPTIONS = ("--tokens", "--cache", "--batch", "--shape")


@takes_records
def import_model(
    *,
    model: Annotated[Path, typer.Argument(help="A .onnx model or a transformer's config.json.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the layers here (.yaml).")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            help="Value of a symbolic axis of an ONNX model, such as batch=1; repeatable."
        ),
    ] = None,
    forward: PassOptions,
    as_json: AsJson = False,
) -> None:
    """Read a model's layers, and say what was skipped and what cannot be mapped."""
    if out is not None and out.suffix.lower() not in (".yaml", ".yml"):
        raise layers.ImportingError(f"--out {out}: expected a name ending in .yaml")
    axes = _axes(shape or [])
    ending = model.suffix.lower()
    foreign = ("--tokens", "--cache", "--batch") if ending == ".onnx" else ("--shape",)
    for option, value in zip(OPTIONS, (*astuple(forward), shape), strict=True):
        if value is not None and option in foreign:
            other = "a config.json" if ending == ".onnx" else "an ONNX model"
            raise layers.ImportingError(f"{option}: {model} has none, expected {other} with it")
    if ending == ".onnx":
        found = layers.from_onnx(model, axes)
    elif ending == ".json":
        found = layers.from_huggingface(
            model, forward.tokens, forward.batch or 1, forward.cache or 0
        )
    else:
        raise layers.ImportingError(
            f"{model}: expected a .onnx model or a transformer's config.json; a module of PyTorch "
            "is read in Python: layers.from_torch(module, example_inputs)"
        )
    if out is not None:
        layers.write_yaml(out, found.layers if found.unmapped else found.graph())
    if as_json:
        print_json(_summary(found))
        return
    _print(model, found)
    if out is not None:
        typer.echo(f"wrote {out}; map it with: mapper search --network {out}", err=True)


def _axes(given: list[str]) -> dict[str, int]:
    from layers import ImportingError

    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value.isdecimal() or len(value) > 19 or int(value) < 1:
            raise ImportingError(f"--shape {text!r}: expected AXIS=NUMBER such as batch=1")
        found[name] = int(value)
    return found


def _summary(found: Imported) -> dict[str, Any]:

    return {
        "layers": [layers.to_fields(layer) for layer in found.layers],
        "distinct_shapes": len(layers.distinct(found.layers)),
        "macs": found.macs,
        "skipped": dict(found.skipped),
        "unmapped": [{"node": node, "reason": reason} for node, reason in found.unmapped],
        **({"language_model": found.language.to_dict()} if found.language else {}),
    }


def _print(model: Path, found: Imported) -> None:
    from mapper.show.language import language_lines

    kinds = Counter(layer.kind.lower() for layer in found.layers)
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    shapes = len(layers.distinct(found.layers))
    typer.echo(f"{model}: {len(found.layers)} layers ({shown}), {shapes} distinct shapes")
    typer.echo(f"MACs: {found.macs:,}")
    for line in language_lines(found.language) if found.language else ():
        typer.echo(line)
    if found.skipped:
        listed = ", ".join(f"{count} {name}" for name, count in found.skipped.most_common())
        typer.echo(f"skipped, without MACs: {listed}")
    for node, reason in found.unmapped:
        typer.echo(f"not mapped: {node}: {reason}", err=True)
