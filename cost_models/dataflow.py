"""MAESTRO's dataflow language: the directives of one mapping, parsed and printed."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass

from cost_models.infeasible import MappingError
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
