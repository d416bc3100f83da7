"""Did you mean ...: the nearest known name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the nearest known name, or nothing when none is near."""
    near = difflib.get_close_matches(name, [str(item) for item in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def not_known(what: str, given: object, known: Iterable[str]) -> str:
    """What is said of a name that is none of those known: all of them, and the nearest one."""
    return f"{what} {given!r} is not known; expected {one_of(known, given)}"


def one_of(known: Iterable[object], given: object) -> str:
    """``one of a, b. Did you mean 'a'?``: what was expected, and the nearest to what was given."""
    names = [str(name) for name in known]
    return f"one of {', '.join(names)}.{suggest(str(given), names)}"
