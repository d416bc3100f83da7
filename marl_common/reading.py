"""Files that a person gives: read as text, YAML or JSON, with errors that say what is wrong."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marl_common.plain_text import brief
from marl_common.spelling import suggest

if TYPE_CHECKING:
    from yaml import Node

LARGEST = 8 << 20
"""Bytes that a file of fields may have; a device that never ends is not read for ever."""

MOST_VALUES = 1_000_000
"""Values that a YAML file may stand for once its aliases are written out."""


def read_text(path: str | Path, error: type[ValueError], what: str = "a text file") -> str:
    """The text of a file.

    Args:
        path: The file.
        error: Raised where there is none.
        what: What was expected, in messages.

    Raises:
        error: The file is not there, is a folder, is larger than 8 MiB, cannot be read, or is not
            UTF-8; names the file and, where one is near, another of the same folder.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise error(f"{path}: not found; expected {what}.{_nearest(path)}") from None
    except IsADirectoryError:
        raise error(f"{path}: is a folder; expected {what}") from None
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the path
        why = getattr(problem, "strerror", None) or problem
        raise error(f"{path}: cannot be read ({why}); expected {what}") from None
    if len(content) > LARGEST:
        raise error(f"{path}: is larger than {LARGEST >> 20} MiB; expected {what}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not UTF-8 text ({problem}); expected {what}") from None


def read_yaml(path: str | Path, error: type[ValueError], what: str = "a YAML file") -> Any:
    """What a YAML file holds; times and dates stay text.

    Raises:
        error: See :func:`read_text`; or it is not YAML, is nested too deeply, or stands for more
            than a million values.
    """
    return parse_yaml(read_text(path, error, what), str(path), error)


def parse_yaml(text: str, where: str, error: type[ValueError]) -> Any:
    """What a YAML text holds; times and dates stay text.

    Args:
        text: The text.
        where: What messages begin with.
        error: Raised where it is no YAML.
    """
    import yaml

    root = compose_yaml(text, where, error)
    try:
        return None if root is None else yaml_loader().construct_document(root)
    except (yaml.YAMLError, ValueError) as problem:
        raise error(f"{where}: not valid YAML: {_in_short(problem)}") from None


def compose_yaml(text: str, where: str, error: type[ValueError]) -> Node | None:
    """The nodes of a YAML text, whose marks know their lines; None where it is empty.

    Raises:
        error: It is not YAML, is nested too deeply, or its aliases stand for too much.
    """
    import yaml

    try:
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        values = 0 if root is None else _values(root, {})
    except yaml.YAMLError as problem:
        raise error(f"{where}: not valid YAML: {_in_short(problem)}") from None
    except RecursionError:
        raise error(f"{where}: nested too deeply; write it flatter") from None
    if values > MOST_VALUES:
        raise error(f"{where}: its aliases (*name) stand for too many values; write them out")
    return root


def yaml_loader() -> Any:
    """A loader that constructs plain values from nodes; times and dates stay text."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
    return Loader("")


def value_of(text: str) -> Any:
    """What the value of an option stands for: a number, or what YAML reads, or else the text."""
    import yaml

    for number in (int, float):  # YAML takes 1e-3 for text
        with suppress(ValueError):
            return number(text)
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def read_json(path: str | Path, error: type[ValueError], what: str = "a JSON file") -> Any:
    """What a JSON file holds.

    Raises:
        error: See :func:`read_text`; or it is not JSON.
    """
    text = read_text(path, error, what)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise error(f"{path}: not valid JSON ({_in_short(problem)}); expected {what}") from None


def _values(node: Any, known: dict[int, float]) -> float:
    """How many values a node stands for, aliases written out; inf where it holds itself."""
    size = known.get(id(node))
    if size is None:
        known[id(node)] = math.inf  # until it is known: met again inside itself, it never ends
        parts = node.value if isinstance(node.value, list) else []
        size = 1.0
        for part in parts:
            pair = part if isinstance(part, tuple) else (part,)
            size += sum(_values(item, known) for item in pair)
        known[id(node)] = size
    return size


def _nearest(path: Path) -> str:
    """`` Did you mean ...?`` for a file of the same folder, or nothing."""
    try:
        return suggest(path.name, (other.name for other in path.parent.iterdir()))
    except (OSError, ValueError):
        return ""


def _in_short(problem: BaseException) -> str:
    return brief(" ".join(str(problem).split()), quoted=False)
