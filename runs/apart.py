"""What tells runs of one name apart: the settings in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def labels_of(name: str, groups: Sequence[tuple[Mapping[str, Any], int]]) -> list[str]:
    """A label each for groups of runs of one name that are alike but for their seeds.

    Args:
        name: Their name.
        groups: Settings of each, and how many runs it has.

    Returns:
        The name, what tells the group apart where there are several, and its number of seeds where
        there is more than one.
    """
    apart = told_apart([settings for settings, _ in groups])
    return [
        ", ".join(part for part in (name, more, f"{runs} seeds" if runs > 1 else "") if part)
        for more, (_, runs) in zip(apart, groups, strict=True)
    ]


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
