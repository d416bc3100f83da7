"""What tells runs of one name apart: the settings in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def told_apart(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A label each: the settings that are not the same in all, as ``"lr 0.016, unit block4"``.

    Args:
        settings: JSON values by name; in a mapping within, the innermost names count.

    Returns:
        Labels in the same order, empty where all are equal.
    """
    flat = [dict(_items("", one)) for one in settings]
    names = list(dict.fromkeys(name for one in flat for name in one))
    differing = [name for name in names if len({one.get(name) for one in flat}) > 1]
    return [
        ", ".join(f"{name.rpartition('.')[2]} {one[name]}" for name in differing if name in one)
        for one in flat
    ]


def _items(within: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _items(f"{within}{name}.", value)
        else:
            yield within + name, value if isinstance(value, str) else json.dumps(value)
