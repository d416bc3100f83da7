"""What installed packages offer under a name of this project's groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType


@cache
def plug_ins(group: str) -> Mapping[str, EntryPoint]:
    """Entry points of a group by name, such as those of ``"mapper.searchers"``.

    Reading them looks at every installed package, so it is done once in a process.
    """
    return MappingProxyType({point.name: point for point in entry_points(group=group)})
