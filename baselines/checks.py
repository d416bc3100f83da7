"""Checks of a searcher's options, whose messages name the field, its value and what is expected."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

MOST = 10**9
"""The largest whole number that any option takes."""


def check_types(config: type[Any], options: dict[str, Any]) -> None:
    """Check values against the annotations of a dataclass, where these are int, float, bool, str.

    Raises:
        ValueError: A value is of another type, not finite, or a whole number beyond `MOST`.
    """
    for field in fields(config):
        if field.name not in options:
            continue
        value, kind = options[field.name], str(field.type)
        if kind in _EXPECTED and not _fits(value, kind):
            raise ValueError(f"{field.name}: got {value!r}, expected {_EXPECTED[kind]}")


_EXPECTED = {
    "int": f"a whole number of at most {MOST:,}",
    "float": "a finite number",
    "bool": "true or false",
    "str": "text",
}


def _fits(value: Any, kind: str) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "str":
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind == "int":
        return isinstance(value, int) and abs(value) <= MOST
    return math.isfinite(value)


def check_positive(**values: float) -> None:
    """Check config fields in a ``__post_init__``.

    Raises:
        ValueError: A value is no positive number.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{name}: got {value!r}, expected a number above 0")


def check_shares(**values: float) -> None:
    """Check config fields that are shares or probabilities.

    Raises:
        ValueError: A value is not between 0 and 1.
    """
    for name, value in values.items():
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"{name}: got {value!r}, expected a number from 0 to 1")


def check_fields(config: object, positive: Iterable[str], shares: Iterable[str] = ()) -> None:
    """Check fields of a config by their names.

    Raises:
        ValueError: One is no positive number, or no share.
    """
    check_positive(**{name: getattr(config, name) for name in positive})
    check_shares(**{name: getattr(config, name) for name in shares})
