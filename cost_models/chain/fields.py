"""Fields of a chip by their path, such as ``levels.PEBuffer.bytes``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import yaml

from cost_models.accelerator import SHORT_OF, Accelerator, AcceleratorError
from cost_models.chain.chip import Chain
from cost_models.chain.forms import chip_from
from marl_common import suggest

SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
INSTEAD = {"units": "axes", "axes": "units"}
"""Fields of a fan-out that say the same."""
_AXES = re.compile(r"[0-9]{1,9}(x[0-9]{1,9})*")


def with_fields(chip: Accelerator | Chain, given: Iterable[str]) -> Accelerator | Chain:
    """A chip with single fields set.

    Args:
        chip: The chip.
        given: ``PATH=VALUE`` texts: the path of a field in the chip's file, where a level of a list
            goes by its name; the value as YAML, in which ``32k`` is 32,768 (k, M, G of 1,024), or
            units of axes as ``4x4``.

    Raises:
        AcceleratorError: A text is no such pair, there is no such level or field, or the chip
            cannot be as it says.
    """
    texts = list(given)
    pairs = []
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not path or not value:
            raise AcceleratorError(
                f"--set {text!r}: expected PATH=VALUE, such as levels.L2.bytes=32k"
            )
        pairs.append((path, value))
    return with_values(chip, pairs, "--set") if texts else chip


def with_values(
    chip: Accelerator | Chain, pairs: Iterable[tuple[str, str]], flag: str
) -> Accelerator | Chain:
    """The same of pairs of a path and a value's text.

    Args:
        chip: The chip.
        pairs: Paths and values.
        flag: The option that gave them, for messages.

    Raises:
        AcceleratorError: As :func:`with_fields`.
    """
    data, told = chip.to_dict(), []
    for path, text in pairs:
        where = f"{flag} {path}"
        told.append(f"{where}={text}")
        _set(data, path, _value(path, text, flag), where)
        if isinstance(chip, Accelerator):
            _drop_short(data, path)
    return chip_from(data, " ".join(told))


def _value(path: str, text: str, flag: str) -> Any:
    number, unit = text[:-1], text[-1:].lower()
    if unit in SIZES and number.isdecimal():
        return int(number) * SIZES[unit]
    if path.endswith(".axes") and _AXES.fullmatch(text):
        return [int(units) for units in text.split("x")]
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise AcceleratorError(f"{flag}: got {text!r}, expected a value as YAML has it") from None


def _set(data: dict[str, Any], path: str, value: Any, where: str) -> None:
    *outside, last = path.split(".")
    place: Any = data
    for part in outside:
        place = _inside(place, part, where)
    if isinstance(place, list):
        names = ", ".join(level["name"] for level in place if "name" in level)
        raise AcceleratorError(
            f"{where}: expected a field of a level: levels.NAME.FIELD with NAME one of {names}"
        )
    if not isinstance(place, dict):
        raise AcceleratorError(f"{where}: {'.'.join(outside)} holds no fields")
    if last in INSTEAD:
        place.pop(INSTEAD[last], None)
    place[last] = deepcopy(value)


def _inside(place: Any, part: str, where: str) -> Any:
    """What a part of a path names; fields with defaults are made where the file leaves them out."""
    if isinstance(place, list):
        named = {level.get("name"): level for level in place}
        if part not in named:
            names = [name for name in named if name]
            raise AcceleratorError(
                f"{where}: no level {part!r}; expected one of {', '.join(names)}."
                f"{suggest(part, names)}"
            )
        return named[part]
    if not isinstance(place, dict):
        raise AcceleratorError(f"{where}: {part!r} is inside a value that holds no fields")
    inside = place.setdefault(part, {})
    if isinstance(inside, int):  # one capacity for all tensors: the path gives one of them another
        inside = place[part] = {"shared": inside}
    return inside


def _drop_short(data: dict[str, Any], path: str) -> None:
    short = SHORT_OF.get(path)
    both = data.pop(short, None) if short else None
    if path.endswith("_bw") and both is not None:
        level = data["levels"][path.split(".")[1]]
        for side in ("read_bw", "write_bw"):
            level.setdefault(side, 8 * both)
