"""Whole MAESTRO networks: ``.m`` files of layers, each with its dataflow."""

from __future__ import annotations

import re
from typing import Any

from cost_models.dataflow import Dataflow, DataflowError, TokenReader, read_directives
from layers import NEST_DIMS, Layer, LayerError, LayerKind
from marl_common import suggest

_SECTIONS = ("Type", "Stride", "Dimensions", "Dataflow")


def parse_network(text: str, path: str = "network") -> list[tuple[Layer, Dataflow]]:
    """Parse a whole MAESTRO file.

    Names may repeat; constants, comments, missing commas and a missing Stride are accepted; a layer
    without a Dataflow takes the one before. Whether a model accepts a mapping shows when it
    evaluates it.

    Args:
        text: The file's text.
        path: Its name, for messages.

    Returns:
        The layers in order, each with its dataflow.

    Raises:
        DataflowError: The text is not the language, or a layer cannot exist; names the line.
    """
    reader = TokenReader(text, path)
    constants: dict[str, int] = {}
    pairs: list[tuple[Layer, Dataflow]] = []
    while reader.peek():
        word = reader.take()
        if word == "Constant":
            name = reader.take()
            constants[name] = _whole_number(reader, {})
            reader.skip(";")
        elif word == "Network":
            _read_until_brace(reader)
            while reader.peek() == "Layer":
                pairs.append(_read_layer(reader, constants, pairs[-1][1] if pairs else None))
            reader.expect("}")
        elif word == "Accelerator":
            _skip_block(reader)
        else:
            raise reader.error(f"unexpected {word!r}; expected Constant, Network or Accelerator")
    return pairs


def print_network(pairs: list[tuple[Layer, Dataflow]], name: str = "network") -> str:
    """Print layers with their dataflows as a MAESTRO file; :func:`parse_network` reads it back.

    A GEMM whose dataflow maps C, Y' or X' is written as the CONV that it is lowered to.

    Raises:
        DataflowError: A layer is dilated.
    """
    lines = [f"Network {name} {{"]
    for layer, dataflow in pairs:
        if layer.dilation != 1:
            raise DataflowError(
                f"layer {layer.name!r}: dilation={layer.dilation}, which MAESTRO's language has no "
                "word for; expected 1"
            )
        kind = language_kind(layer, dataflow)
        dims = ", ".join(f"{dim}: {size}" for dim, size in dimensions(layer, kind).items())
        lines += [f"  Layer {layer.name.replace(' ', '_')} {{", f"    Type: {kind}"]
        if kind is not LayerKind.GEMM:
            lines.append(f"    Stride {{ X: {layer.stride_x}, Y: {layer.stride_y} }}")
        lines += [f"    Dimensions {{ {dims} }}", "    Dataflow {"]
        lines += [f"      {directive}" for directive in dataflow.directives]
        lines += ["    }", "  }"]
    return "\n".join([*lines, "}", ""])


def language_kind(layer: Layer, dataflow: Dataflow) -> LayerKind:
    """The layer type under which MAESTRO reads `dataflow`.

    A GEMM mapped by the dimensions of a convolution (as a Mapping of it is lowered) is a CONV.
    """
    if layer.kind is not LayerKind.GEMM:
        return layer.kind
    names = {directive.dim for directive in dataflow.directives if directive.dim}
    return LayerKind.GEMM if names <= {"M", "N", "K"} else LayerKind.CONV


def dimensions(layer: Layer, kind: LayerKind) -> dict[str, int]:
    """Extents of a layer as MAESTRO's ``Dimensions`` lists them; Y and X as they were given.

    Args:
        layer: The layer.
        kind: The type it is read under, from :func:`language_kind`.
    """
    if kind is LayerKind.GEMM:
        return {"N": layer.K, "K": layer.C, "M": layer.given_y}
    sizes = {dim: getattr(layer, dim) for dim in "KCRS"} | {"Y": layer.given_y, "X": layer.given_x}
    if kind is LayerKind.NGCONV:
        sizes = {"G": layer.groups, **sizes}
    if layer.N > 1 and layer.kind is not LayerKind.GEMM:
        sizes = {"N": layer.N, **sizes}
    return sizes


def _read_layer(
    reader: TokenReader, constants: dict[str, int], previous: Dataflow | None
) -> tuple[Layer, Dataflow]:
    reader.take()
    start = reader.line
    name = _read_until_brace(reader)
    kind, strides, sizes = "CONV", {"Y": 1, "X": 1}, dict[str, int]()
    dataflow = previous
    while reader.peek() != "}":
        section = reader.take()
        reader.skip(":")
        match section:
            case "Type":
                kind = reader.take()
            case "Stride":
                strides |= _read_numbers(reader, constants)
            case "Dimensions":
                sizes = _read_numbers(reader, constants)
            case "Dataflow":
                reader.expect("{")
                dataflow = Dataflow(read_directives(reader, constants))
                reader.expect("}")
            case _:
                raise reader.error(
                    f"layer {name!r}: unknown section {section!r}; "
                    f"expected {', '.join(_SECTIONS)}.{suggest(section, _SECTIONS)}"
                )
        reader.skip(";,")
    reader.expect("}")
    if dataflow is None:
        raise reader.error(f"layer {name!r} has no Dataflow and there is none before it")
    try:
        return _layer(name, kind, strides, sizes, dataflow), dataflow
    except LayerError as error:
        raise DataflowError(f"{reader.path}:{start}: {error}") from error


def _layer(
    name: str, kind: str, strides: dict[str, int], sizes: dict[str, int], dataflow: Dataflow
) -> Layer:
    if kind == LayerKind.GEMM:
        M, N, K = (sizes.get(dim, 1) for dim in "MNK")
        return Layer.gemm(name, M=M, N=N, K=K)
    extents: dict[str, Any] = {dim: sizes.get(dim, 1) for dim in NEST_DIMS}
    if kind == LayerKind.DSCONV and all(d.dim != "K" for d in dataflow.directives):
        extents["K"] = 1  # no tensor of a depthwise layer has K: MAESTRO never looks at it
    if kind not in set(LayerKind):
        hint = suggest(kind, [str(k) for k in LayerKind])
        raise LayerError(
            f"layer {name!r}: unknown Type {kind!r}; expected {', '.join(LayerKind)}.{hint}"
        )
    stride, batch, groups = (strides["Y"], strides["X"]), sizes.get("N", 1), sizes.get("G", 1)
    return Layer(name, LayerKind(kind), **extents, stride=stride, N=batch, groups=groups)


def _read_until_brace(reader: TokenReader) -> str:
    name = ""
    while reader.peek() not in ("{", ""):
        name += reader.take()
    reader.expect("{")
    return name


def _read_numbers(reader: TokenReader, constants: dict[str, int]) -> dict[str, int]:
    """Read ``{ name: number, ... }``; punctuation may be missing, the last of a name counts."""
    numbers = {}
    reader.expect("{")
    while reader.peek() != "}":
        name = reader.take()
        reader.skip(":")
        numbers[name] = _whole_number(reader, constants)
        reader.skip(",;")
    reader.expect("}")
    return numbers


def _whole_number(reader: TokenReader, constants: dict[str, int]) -> int:
    token = reader.peek()
    if token not in constants and not re.fullmatch("[0-9]{1,18}", token):
        raise reader.error(f"expected a whole number or a Constant, got {token or 'the end'!r}")
    reader.take()
    return constants[token] if token in constants else int(token)


def _skip_block(reader: TokenReader) -> None:
    """Skip a braced block (a file's own accelerator is not used; the caller gives one)."""
    _read_until_brace(reader)
    depth = 1
    while depth and reader.peek():
        depth += {"{": 1, "}": -1}.get(reader.take(), 0)
