"""A layer from a line of text: a zoo name, an entry of a file, or its extents in line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from layers import importing, zoo
from layers.dims import KINDS, LayerKind
from layers.fields import from_fields, to_fields
from layers.files import SUFFIXES, read_file, read_graph
from layers.layer import Layer, LayerError
from layers.network_graph import NetworkGraph
from marl_common import one_of, suggest

if TYPE_CHECKING:
    from layers.importing import Imported, LanguageModel


def parse(text: str) -> Layer:
    """Find or build the layer that a text names.

    Args:
        text: A zoo name (``mobilenetv2.2``, ``vgg16.conv3_1``), ``FILE.yaml:NAME`` (or
            ``FILE.csv:INDEX``, 0-based), or a layer in line such as
            ``conv:K=37,C=53,Y=31,X=47,R=5,S=3,stride=1``, ``dsconv:C=144,Y=58,X=58,R=3,S=3`` or
            ``gemm:M=128,N=768,K=768``; Y and X are input extents, padding included, and several
            numbers are joined by x: ``stride=2x1,padding=1x1x0x0``.

    Raises:
        LayerError: The text names no layer, or the layer cannot exist.
    """
    text = text.strip()
    if not text:
        raise LayerError("layer '': empty; expected a name such as mobilenetv2.2")
    head, _, rest = text.partition(":")
    if head.upper() in LayerKind.__members__:
        return _parse_inline(text, head, rest)
    for at, letter in enumerate(text):  # names of layers may hold colons
        if letter == ":" and Path(text[:at]).suffix.lower() in SUFFIXES:
            return _find_entry(Path(text[:at]), text[at + 1 :])
    if Path(text).suffix.lower() in SUFFIXES:
        raise LayerError(f"layer {text!r} is a whole file; name one of its layers: {text}:NAME")
    if "=" in rest and head not in zoo.networks():
        raise LayerError(
            f"layer {text!r}: unknown kind {head!r}; expected {one_of(KINDS, head.lower())}"
        )
    return zoo.get(text)


def layers_of(text: str) -> tuple[Layer, ...]:
    """All layers that a text names: a network of the zoo, or a file.

    Args:
        text: Such as ``mobilenetv2``, ``net.yaml`` or ``net.csv``; a path (``./net``) is always a
            file. A language model or a ``config.json`` may say its forward pass:
            ``llama-3-8b:tokens=1,cache=2048,batch=8``.

    Raises:
        LayerError: There is no such network, or the file cannot be read.
    """
    path, settings = _split(text)
    if not is_file(path):
        return zoo.network(text)
    return tuple(_config(path, settings).layers) if settings else read_file(path)


def graph_of(text: str) -> NetworkGraph:
    """The network that a text names, as a graph; texts as :func:`layers_of` takes them.

    Raises:
        LayerError: There is no such network, or it has no edges.
    """
    path, settings = _split(text)
    if not is_file(path):
        return zoo.network_graph(text)
    return _config(path, settings).graph() if settings else read_graph(path)


def language_of(text: str) -> LanguageModel | None:
    """The language model that a text names, in its forward pass; None where it names none.

    Raises:
        LayerError: There is no such network, or the file cannot be read.
    """
    path, settings = _split(text)
    if is_file(path):
        is_config = Path(path).suffix.lower() == ".json"
        return _config(path, settings).language if is_config else None
    return zoo.language_of(text)


def in_pass(
    text: str, tokens: int | None = None, cache: int | None = None, batch: int | None = None
) -> str:
    """The text that names a network in a forward pass.

    Args:
        text: A language model of the zoo, or a ``config.json``.
        tokens: New tokens of each sequence; None leaves the default.
        cache: Tokens of each sequence that are cached.
        batch: Sequences.

    Raises:
        LayerError: The text says its forward pass already.
    """
    given = {"tokens": tokens, "cache": cache, "batch": batch}
    settings = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
    if settings and _split(text)[1]:
        raise LayerError(f"{text!r} says its forward pass; expected no {settings} besides")
    return f"{text}:{settings}" if settings else text


def is_file(text: str) -> bool:
    """Whether a text names a file of layers rather than a network of the zoo."""
    path = _split(text)[0]
    return Path(path).suffix.lower() in SUFFIXES or ("/" in path and ":" not in path)


def _split(text: str) -> tuple[str, str]:
    """A network's name or file, and the settings of its forward pass."""
    name, _, settings = text.rpartition(":")
    return (name, settings) if "=" in settings.partition(",")[0] and name else (text, "")


def _config(path: str, settings: str) -> Imported:
    """A ``config.json`` in a forward pass."""
    if Path(path).suffix.lower() != ".json":
        raise LayerError(
            f"{path}: {settings}: its layers are fixed; expected tokens, cache or batch with a "
            "config.json or a language model of the zoo"
        )
    run = importing.ForwardPass.parse(settings) if settings else importing.ForwardPass()
    tokens = run.tokens if "tokens=" in settings else None
    return importing.from_huggingface(path, tokens, run.batch, run.cache)


def inline(layer: Layer) -> str:
    """The layer in line: ``parse(inline(layer))`` has the same shape."""
    fields = to_fields(layer)
    kind = fields.pop("kind")
    del fields["name"]
    return f"{kind}:" + ",".join(f"{field}={_written(value)}" for field, value in fields.items())


def _written(value: int | list[int]) -> str:
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _parse_inline(text: str, kind: str, rest: str) -> Layer:
    values: dict[str, int | list[int]] = {}
    for part in rest.split(","):
        field, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not field:
            raise LayerError(f"layer {text!r}: got {part!r}, expected FIELD=NUMBER such as K=64")
        if field in values:
            raise LayerError(f"layer {text!r}: {field} is given twice; give it once")
        try:
            numbers = [int(number) for number in value.split("x")]
        except ValueError:
            raise LayerError(
                f"layer {text!r}: {field}={value!r} is not a whole number; expected such as "
                f"{field}=64, or several such as stride=2x1"
            ) from None
        values[field] = numbers[0] if len(numbers) == 1 else numbers
    try:
        layer = from_fields(text, kind, values)
    except LayerError as error:
        message = str(error).removeprefix(f"layer {text!r}: ")
        raise LayerError(f"layer {text!r}: {message}") from None
    return layer.renamed(inline(layer))


def _find_entry(path: Path, entry: str) -> Layer:
    layers = read_file(path)
    by_name = {layer.name: layer for layer in layers}
    if entry in by_name:
        return by_name[entry]
    if entry.isdecimal() and int(entry) < len(layers):
        return layers[int(entry)]
    shown = ", ".join(list(by_name)[:8]) + (", ..." if len(by_name) > 8 else "")
    raise LayerError(f"{path}: no layer {entry!r}; it has {shown}.{suggest(entry, by_name)}")
