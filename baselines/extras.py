"""Optional dependencies: a clear error where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from baselines.searcher import SearcherError


def require(module: str, searcher: str, extra: str) -> None:
    """Check that a module of an extra is installed, without importing it.

    Raises:
        SearcherError: It is not; the message has the command that installs it.
    """
    if find_spec(module) is None:
        raise SearcherError(
            f"searcher {searcher!r} needs the package {module!r}; "
            f"install it with: pip install 'marl-mapper[{extra}]'"
        )
