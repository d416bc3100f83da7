"""What tells runs of one name apart: the settings in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

Run = TypeVar("Run")


def grouped(runs: Iterable[tuple[str, Mapping[str, Any], Run]]) -> dict[str, list[Run]]:
    """Runs that differ by their seeds alone, by a label.

    Args:
        runs: The name of each, its settings, and what stands for it.

    Returns:
        Groups, name by name. A label is the name, what tells the group apart where the name has
        several, and its number of seeds where there is more than one.
    """
    names: dict[str, dict[str, tuple[Mapping[str, Any], list[Run]]]] = {}
    for name, settings, run in runs:
        alike = names.setdefault(name, {})
        alike.setdefault(json.dumps(settings, sort_keys=True), (settings, []))[1].append(run)
    found = {}
    for name, alike in names.items():
        apart = told_apart([settings for settings, _ in alike.values()])
        for more, (_, group) in zip(apart, alike.values(), strict=True):
            seeds = f"{len(group)} seeds" if len(group) > 1 else ""
            found[", ".join(part for part in (name, more, seeds) if part)] = group
    return found


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
