"""Did you mean ...: the nearest known name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the nearest known name, or nothing when none is near."""
    near = difflib.get_close_matches(name, [str(item) for item in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
