"""What other packages offer: under a name of this project's groups, or in the working folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any


@cache
def plug_ins(group: str) -> Mapping[str, EntryPoint]:
    """Entry points of a group by name, such as those of ``"mapper.searchers"``.

    Reading them looks at every installed package, so it is done once in a process.
    """
    return MappingProxyType({point.name: point for point in entry_points(group=group)})


def named(place: str) -> Any:
    """What ``module:name`` names, of an installed package or of the working folder.

    Raises:
        ImportError: There is no such module.
        AttributeError: The module has no such name.
        ValueError: The text names no module.
    """
    module, _, name = place.partition(":")
    with working_folder_modules():
        return getattr(import_module(module), name)


@contextmanager
def working_folder_modules() -> Iterator[None]:
    """Modules of the working folder can be imported too; those that are installed come first."""
    folder = str(Path.cwd())
    if folder in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
