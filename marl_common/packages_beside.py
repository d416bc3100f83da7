"""A file or folder of the user's that Python finds before one of our packages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lazy_loader  # type: ignore[import-untyped]

OURS = Path(__file__).resolve().parents[1]
MAPPER = ("layers", "marl_runs", "cost_models", "maestro_env", "baselines", "mapper")
NEEDED = {
    "mpe_marl": ("runs",),
    "mast": ("runs", "sparse_training", "mpe_marl"),
    "mst": ("runs", "sparse_training"),
    "sparse_training": (),
    "marl_runs": (),
}
"""Packages that each one imports; all others import those of the mapper."""


class NameClashError(ImportError, ValueError):
    """A module that Python finds before a package of the same name."""


def attach(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The names of a package, imported when first used, if nothing stands before what it needs.

    Args:
        name: The package.
        file: Its ``__init__.py``, beside whose ``.pyi`` it stands.

    Returns:
        ``__getattr__``, ``__dir__`` and ``__all__`` of the package.
    """
    get, names, public = lazy_loader.attach_stub(name, file)

    def checked(attribute: str) -> Any:
        check_packages(name)
        return get(attribute)

    return checked, names, public


@cache
def check_packages(package: str) -> None:
    """Make sure that the packages that one of ours needs are what their names import.

    Python looks in a script's folder, or in the working folder, first, where a script may be called
    ``layers.py``, or a folder ``layers``.

    Raises:
        NameClashError: Something stands before a package; the message names it.
    """
    for name in NEEDED.get(package, MAPPER):
        found = _where(name)
        if found is not None and found.resolve() not in (OURS / name, OURS / name / "__init__.py"):
            kind = "file" if found.suffix == ".py" else "folder"
            raise NameClashError(
                f"{found} stands before the package {name!r} of marl-mapper, as Python looks in "
                f"the folder of the script first. Rename that {kind}, or work in another folder."
            )


def _where(name: str) -> Path | None:
    """The file or folder that a name imports; None if there is none."""
    module = sys.modules.get(name)
    spec = find_spec(name) if module is None else module.__spec__
    if spec is None:  # none, or a module that runs as a script
        place = getattr(module, "__file__", None)
    else:
        place = next(iter(spec.submodule_search_locations or ()), spec.origin)
    return Path(place) if place else None
