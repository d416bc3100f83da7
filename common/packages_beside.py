"""A file of the working folder that stands before one of our packages."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("layers", "runs", "cost_models", "baselines")
"""Packages whose names a file of one's own may well bear."""


class NameClashError(ImportError, ValueError):
    """A module that Python finds before a package of the same name."""


def check_packages() -> None:
    """Make sure that our packages are what their names import.

    Python looks in the working folder first, where a script may be called ``layers.py``.

    Raises:
        NameClashError: A module stands before a package; the message names its file.
    """
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is None:
            raise NameClashError(
                f"{spec.origin} stands before the package {name!r} of marl-mapper, as Python looks "
                "in the working folder first. Rename that file, or work in another folder."
            )
