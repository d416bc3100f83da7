"""MAESTRO's language: the directives of one mapping, and whole networks of layers with theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass
from typing import Any

from cost_models.infeasible import MappingError
from layers import NEST_DIMS, Layer, LayerError, LayerKind
from marl_common import brief, suggest

MAPS = ("TemporalMap", "SpatialMap")
CLUSTER = "Cluster"
_KEYWORDS = (*MAPS, CLUSTER)
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*'?|\d+|[-+*(){},;:]")
_TERM = re.compile(r"([-+]?)(?:Sz\(([A-Za-z_][A-Za-z_0-9]*'?)\)|(\d+)|([A-Za-z_][A-Za-z_0-9]*))")


class DataflowError(MappingError):
    """Text that is not MAESTRO's dataflow language."""


@dataclass(frozen=True)
class Directive:
    """One directive: a temporal or spatial map of a dimension, or the start of a cluster level.

    Args:
        kind: ``"TemporalMap"``, ``"SpatialMap"`` or ``"Cluster"``.
        size: Size as written without blanks, such as ``"4"`` or ``"8+Sz(S)-1"``.
        offset: Offset as written; for a cluster the text after the size, ``"P"``.
        dim: The dimension, such as ``"K"`` or ``"Y'"``; empty for a cluster.
    """

    kind: str
    size: str
    offset: str
    dim: str = ""

    def __str__(self) -> str:
        tail = f" {self.dim}" if self.dim else ""
        return f"{self.kind}({self.size},{self.offset}){tail};"


@dataclass(frozen=True)
class Dataflow:
    """The directives of one mapping, outermost first; ``str`` prints them one a line."""

    directives: tuple[Directive, ...]

    def __str__(self) -> str:
        return "\n".join(str(directive) for directive in self.directives)

    @property
    def levels(self) -> tuple[tuple[Directive, ...], ...]:
        """The maps of each cluster level, outermost level first."""
        levels: list[list[Directive]] = [[]]
        for directive in self.directives:
            if directive.kind == CLUSTER:
                levels.append([])
            else:
                levels[-1].append(directive)
        return tuple(tuple(level) for level in levels)

    @property
    def clusters(self) -> tuple[Directive, ...]:
        """The cluster directives, outermost first."""
        return tuple(d for d in self.directives if d.kind == CLUSTER)


LONGEST_SIZE = 200
"""Characters of a size or offset."""


def size_of(text: str, dims: MappingABC[str, int]) -> int:
    """Value of a size or offset: a sum of numbers and ``Sz(dim)``.

    Args:
        text: As in :attr:`Directive.size`.
        dims: Extents of the layer as written in its Dimensions.

    Raises:
        DataflowError: The text is no such sum, or a dimension is not in `dims`.
    """
    if text.isdecimal():
        return int(text)
    total, position = 0, 0
    while position < len(text):
        term = _TERM.match(text, position)
        if term is None or (position > 0 and not term[1]) or term[4]:
            raise DataflowError(
                f"size {text!r}: expected a sum of whole numbers and Sz(dim), such as 8+Sz(S)-1"
            )
        if term[2] is not None and term[2] not in dims:
            raise DataflowError(f"size {text!r}: the layer has no dimension {term[2]!r}")
        value = int(term[3]) if term[2] is None else dims[term[2]]
        total += -value if term[1] == "-" else value
        position = term.end()
    return total


class TokenReader:
    """The tokens of MAESTRO's language with the line each stands on; comments are dropped."""

    def __init__(self, text: str, path: str = "dataflow") -> None:
        self.path = path
        self.tokens: list[tuple[str, int]] = []
        self.position = 0
        for number, line in enumerate(text.splitlines(), start=1):
            code = line.split("//", 1)[0]
            junk = _TOKEN.sub("", code).replace(">", "").strip()
            self.tokens += [(match[0], number) for match in _TOKEN.finditer(code)]
            if junk:
                raise DataflowError(f"{path}:{number}: unexpected text {junk!r}")
        self.tokens.append(("", self.tokens[-1][1] if self.tokens else 1))

    @property
    def line(self) -> int:
        """Line of the next token (of the last one at the end)."""
        return self.tokens[self.position][1]

    def peek(self) -> str:
        """The next token, or an empty string at the end."""
        return self.tokens[self.position][0]

    def take(self) -> str:
        """The next token, consumed."""
        token = self.peek()
        self.position += bool(token)
        return token

    def skip(self, punctuation: str) -> None:
        """Consume tokens that are in `punctuation`."""
        while self.peek() and self.peek() in punctuation:
            self.take()

    def expect(self, token: str) -> None:
        """Consume `token`.

        Raises:
            DataflowError: Something else comes next.
        """
        if self.peek() != token:
            raise self.error(f"expected {token!r}, got {self.peek() or 'the end'!r}")
        self.take()

    def error(self, message: str) -> DataflowError:
        """An error that names the file and line."""
        return DataflowError(f"{self.path}:{self.line}: {message}")


def parse_dataflow(
    text: str, constants: MappingABC[str, int] | None = None, path: str = "dataflow"
) -> Dataflow:
    """Parse directives, as they stand inside ``Dataflow { }`` (the braces may be there too).

    Sizes are kept as written; whether a model accepts them shows when it evaluates them.

    Args:
        text: Directives such as ``SpatialMap(1,1) K;`` with ``//`` comments.
        constants: Values of names that sizes may use.
        path: Where the text is from, for messages.

    Raises:
        DataflowError: The text is not the language; names the line.
    """
    reader = TokenReader(text, path)
    if wrapped := reader.peek() == "Dataflow":
        reader.take()
        reader.expect("{")
    directives = read_directives(reader, constants or {})
    if wrapped:
        reader.expect("}")
    if reader.peek():
        raise reader.error(f"unexpected {reader.peek()!r} after the directives")
    return Dataflow(directives)


def read_directives(reader: TokenReader, constants: MappingABC[str, int]) -> tuple[Directive, ...]:
    """Read directives up to a closing brace or the end."""
    directives = []
    reader.skip(";")
    while reader.peek() not in ("", "}"):
        directives.append(_read_directive(reader, constants))
        reader.skip(";,")
    return tuple(directives)


def _read_directive(reader: TokenReader, constants: MappingABC[str, int]) -> Directive:
    kind = reader.peek()
    if kind not in _KEYWORDS:
        hint = suggest(kind, _KEYWORDS)
        raise reader.error(f"unknown directive {kind!r}; expected {', '.join(_KEYWORDS)}.{hint}")
    reader.take()
    reader.expect("(")
    size = _read_size(reader, constants)
    reader.skip(",")
    offset = _read_size(reader, constants)
    reader.expect(")")
    if kind == CLUSTER:
        if offset not in ("P", "L"):
            raise reader.error(f"Cluster({size},{offset}): expected P or L after the size")
        return Directive(kind, size, offset)
    dim = reader.take()
    if not dim or not dim[0].isalpha():
        raise reader.error(f"{kind}({size},{offset}): expected a dimension, got {dim!r}")
    return Directive(kind, size, offset, dim)


def _read_size(reader: TokenReader, constants: MappingABC[str, int]) -> str:
    """Read one size; a comma, a closing bracket or a missing operator ends it."""
    text = ""
    while reader.peek() and reader.peek() not in "),;{}":
        if text and text[-1] not in "+-" and reader.peek() not in "+-":
            break
        token = reader.take()
        if token == "Sz" and reader.peek() == "(":
            reader.take()
            token = f"Sz({reader.take()})"
            reader.expect(")")
        elif token in constants:
            token = str(constants[token])
        text += token
    if not text:
        raise reader.error(f"expected a size, got {reader.peek() or 'the end'!r}")
    if len(text) > LONGEST_SIZE:
        raise reader.error(f"size {brief(text)}: expected at most {LONGEST_SIZE} characters")
    return text


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
