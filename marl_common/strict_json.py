"""JSON that must hold what it seems to: no member twice, no NaN, no endless nesting."""

from __future__ import annotations

import json
from typing import Any

from marl_common.plain_text import brief

DEEPEST = 32
"""Levels of lists and objects that a record may have."""


def parse_record(text: str | bytes, where: str, error: type[ValueError]) -> Any:
    """The values of a JSON text.

    Args:
        text: The text; bytes are UTF-8.
        where: What messages begin with.
        error: Raised where it is refused.

    Raises:
        error: It is no JSON, names a member twice, holds NaN or Infinity, or is nested too deeply.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise error(f"{where}: member {brief(name)} is given twice; expected it once")
            found[name] = value
        return found

    def constant(name: str) -> Any:
        raise error(f"{where}: holds {name}, which is no JSON; expected a number")

    deep = f"{where}: nested too deeply; expected at most {DEEPEST} levels"
    try:
        found = json.loads(text, object_pairs_hook=members, parse_constant=constant)
    except RecursionError:
        raise error(deep) from None
    except ValueError as problem:
        if isinstance(problem, error):
            raise
        raise error(f"{where}: not valid JSON ({str(problem).splitlines()[0]})") from None
    if too_deep(found):
        raise error(deep)
    return found


def too_deep(value: Any, left: int = DEEPEST) -> bool:
    """Whether lists and objects are nested more than `left` levels."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return left == 0 or any(too_deep(part, left - 1) for part in parts)
