"""Libraries that only some environments need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium


@contextmanager
def needed(library: str, extra: str) -> Iterator[None]:
    """Turn the failed import of a library into an error that says how to install it.

    Args:
        library: The module that is imported inside.
        extra: The extra of this project that brings it.

    Raises:
        gymnasium.error.DependencyNotInstalled: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise gymnasium.error.DependencyNotInstalled(
            f"{library} is not installed; install it with: pip install 'marl-mapper[{extra}]'"
        ) from error
